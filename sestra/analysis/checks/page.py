"""A report of checks as one static page: no script, nothing fetched, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from sestra.analysis.checks.check import Half
from sestra.analysis.checks.run import Outcome, Report, some_of_each
from sestra.analysis.page import figure, table, text, whole_page
from sestra.metrics import Accuracy
from sestra.worlds import World


def write_page(report: Report, world: World[Any], title: str, examples: int, *, show_report: bool = False) -> str:
    """The tables, then some failures of each capability."""
    failed = some_of_each(report.failures(show_report=show_report), examples)
    tables = [
        _table("Can be followed: the expected state is reached", "capability", report.capabilities(followable=True)),
        _table("Cannot be followed: nothing is changed", "capability", report.capabilities(followable=False)),
    ]
    if report.sentences:
        tables += [_table(f"Hand-written, half “{half}”", "sentences", report.half(half)) for half in get_args(Half)]
    counts = f"{len(report.patterns):,} generated and {len(report.sentences)} hand-written sentences"
    parts = [
        f'<p class="quiet">{counts}, each followed from its annotated states; {len(failed)} failures are below.</p>',
        f'<div class="tables">{"".join(tables)}</div>',
    ]
    for name in dict.fromkeys(outcome.check.capability for outcome in failed):
        parts.append(f"<h2>{text(name.capitalize())}</h2>")
        parts += [_failure(world, outcome) for outcome in failed if outcome.check.capability == name]
    return whole_page(title, parts)


def _table(caption: str, heading: str, rows: Mapping[str, Accuracy]) -> str:
    cells = [(text(name), *each.columns[:2], f"{each.successes} of {each.trials}") for name, each in rows.items() if each.trials]
    return table(caption, (heading, "passed, %", "95% interval", "passed"), cells)


def _failure(world: World[Any], outcome: Outcome) -> str:
    check = outcome.check
    start, goal, reached = (world.parse(state) for state in (check.start, check.goal, outcome.reached))
    earlier = "\n".join(f"<li>{text(instruction)}</li>" for instruction in check.instructions[:-1])
    kind = check.kind + (f": {check.why}" if check.why not in ("", check.capability) else "")
    return "\n".join(
        (
            "<article>",
            f'<header><h3>{text(check.sentence)}</h3><span class="quiet">{text(kind)}</span></header>',
            f'<p class="after">after</p>\n<ol>\n{earlier}\n</ol>' if earlier else "",
            '<div class="states">',
            figure(world, "start", start, None),
            figure(world, "expected" if check.followable else "expected: no change", goal, start),
            figure(world, "reached", reached, start),
            "</div>",
            "</article>",
        )
    )
