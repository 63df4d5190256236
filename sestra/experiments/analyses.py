"""RESULTS.md's part about references and errors: what ``sestra analyze --json`` counted, beside what the paper's authors did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sestra.data.download import SHA256
from sestra.errors import InputError
from sestra.io import read_json
from sestra.metrics import Accuracy, tenths

Found = Mapping[str, Any]
"""What ``sestra analyze --json`` printed."""
NEEDED = ("agent", "world", "data", "references_by_age", "resolved", "causes", "paper")


def read_analyses(folder: Path) -> list[Found]:
    """Those of agents on SCONE whose world is the paper's, by the file's name."""
    found: list[Found] = []
    for path in sorted(folder.glob("*.json")):
        one = read_json(path)
        if not isinstance(one, dict) or (missing := [name for name in NEEDED if name not in one]):
            what = missing[0] if isinstance(one, dict) else "everything"
            raise InputError(f"{path}: lacks {what!r}; write it again with: sestra analyze {path.stem} --json > {path}")
        if one["data"]["sha256"] in SHA256.values() and one["paper"]:
            found.append(one)
    return found


def analysis_lines(found: Sequence[Found]) -> Iterator[str]:
    """Nothing if there is no analysis."""
    if not found:
        return
    yield "\n## References and errors"
    yield (
        "\nFrom `sestra analyze --json` on dev; `docs/analysis.md` says how things are counted. The paper's figures are those of its\n"
        "Tables 2 and 5, of Section 8 and of the supplementary tables, each from thirty interactions or fifty errors that its\n"
        "authors read."
    )
    worlds = {one["world"]: one for one in reversed(found)}
    yield from _references({world: worlds[world] for world in sorted(worlds)})
    yield from _agreement([one for one in worlds.values() if "agreement" in one])
    yield from _resolved(found)
    yield from _causes(found)


def _references(worlds: Mapping[str, Found]) -> Iterator[str]:
    yield "\n### References by type and age\n"
    yield (
        "Turns since the referent was last mentioned explicitly: 1 / 2 / 3 / 4. The program reads all of dev, a person and the\n"
        "paper's authors read thirty interactions.\n"
    )
    yield "| world | reference | program | by hand | paper |\n|---|---|---:|---:|---:|"
    for world, one in worlds.items():
        sources = [one["references_by_age"], one.get("annotated", {}).get("references_by_age", {}), one["paper"]["references_by_age"]]
        for label in [name for name in one["references_by_age"] if name != "ages"]:
            counts = [source.get(label, ()) for source in sources]
            if any(any(each) for each in counts):
                yield f"| {world} | {label} | {' | '.join(_ages(each) for each in counts)} |"
        means = [each.get("references_per_interaction") for each in (one, one.get("annotated", {}), one["paper"])]
        yield f"| {world} | references per interaction | {' | '.join('–' if mean is None else str(tenths(mean)) for mean in means)} |"


def _ages(counts: Sequence[int]) -> str:
    return " / ".join(map(str, counts[:4])) if any(counts) else "–"


def _agreement(found: Sequence[Found]) -> Iterator[str]:
    if not found:
        return
    yield "\n### The program and a person\n"
    yield (
        "On the fifteen annotated interactions of each world that the program's rules were not corrected by (the guideline is\n"
        "`results/annotations/README.md`): precision / recall of the program, and Cohen's kappa where every instruction is a yes\n"
        "or a no. Labels are wrong or ambiguous to the program where all networks of the shipped ensemble contradict them; the\n"
        "agent whose errors are meant is the first of the world in the tables below.\n"
    )
    names = ("refers back", "references", "references with their ages", "wrong or ambiguous labels", "the same, of the agent's errors")
    yield f"| world | {' | '.join(names)} |\n|---|{'---:|' * len(names)}"
    for one in sorted(found, key=lambda each: str(each["world"])):
        held_out = one["agreement"]["held out"]
        yield f"| {one['world']} | {' | '.join(_agreed(held_out.get(name)) for name in names)} |"


def _agreed(each: Mapping[str, Any] | None) -> str:
    if each is None:
        return "–"
    both, *shown = each["both"], *("–" if each[name] is None else f"{each[name]:.2f}" for name in ("precision", "recall"))
    kappa = "" if each["kappa"] is None else f"; κ {each['kappa']:.2f}"
    return f"{' / '.join(shown)} ({both} of {both + each['program']} / {both + each['person']}){kappa}"


def _resolved(found: Sequence[Found]) -> Iterator[str]:
    yield "\n### References resolved\n"
    yield (
        "Percent, with 95% intervals: the agent changed the same things as the annotated goal does; of references to actions and\n"
        "positions, it reached the goal.\n"
    )
    yield "| agent | found by the program | annotated by hand | paper |\n|---|---:|---:|---:|"
    for one in found:
        cells = [_accuracy(one["resolved"].get(name)) for name in ("found by the program", "annotated by hand")]
        yield f"| `{one['agent']}` | {' | '.join(cells)} | {tenths(one['paper']['resolved'])} |"


def _accuracy(each: Mapping[str, Any] | None) -> str:
    return Accuracy(each["right"], each["of"]).estimate.text() if each and each["of"] else "–"


def _causes(found: Sequence[Found]) -> Iterator[str]:
    yield "\n### Causes of errors\n"
    yield "Errors of single instructions, with their share; the paper's are of fifty.\n"
    names = [name for name in found[0]["causes"] if name != "labels_doubted"]
    yield f"| | errors | {' | '.join(names)} |\n|---|---:|{'---:|' * len(names)}"
    for number, one in enumerate(found):
        counts = [one["causes"][name] for name in names]
        yield f"| `{one['agent']}` | {sum(counts)} | {' | '.join(_share(count, sum(counts)) for count in counts)} |"
        if number + 1 == len(found) or found[number + 1]["world"] != one["world"]:
            theirs = [one["paper"]["causes"].get(name, 50 - sum(one["paper"]["causes"].values())) for name in names]
            yield f"| the paper, {one['world']} | 50 | {' | '.join(_share(count, 50) for count in theirs)} |"


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.0f}%)" if total else "0"
