"""The tables that ``sestra analyze`` prints: ours, those of a person's annotations, and the paper's beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from sestra.analysis.analyze import AGES, count_ages, row_label
from sestra.analysis.annotations import Agreement, Half
from sestra.analysis.changes import analysis_of
from sestra.analysis.paper import Cause
from sestra.cli.tables import table
from sestra.metrics import tenths

if TYPE_CHECKING:
    from sestra.analysis.analyze import Analysis


def reference_table(analysis: Analysis, title: str) -> Table:
    """The paper's Table 2 and the world's supplementary table: references by type and age."""
    sources = {f"program, {analysis.interactions} interactions": (analysis.ages(), _mean(analysis.ages(), analysis.interactions))}
    if analysis.annotations is not None:
        read = {interaction for interaction, _ in analysis.annotations}
        by_hand = count_ages([each for one in analysis.annotations.values() for each in one.references])
        sources[f"by hand, {len(read)} interactions"] = (by_hand, _mean(by_hand, len(read)))
    paper = analysis_of(analysis.tables.world).paper
    if paper is not None:
        theirs = {row_label(*row): [*counts] for row, counts in paper.references.items()}
        sources["paper, 30 interactions"] = (theirs, paper.per_interaction)
    made = table(f"{title}: references, by the turns since the referent was last mentioned ({', '.join(map(str, AGES))})", "", *sources)
    for label in analysis.ages():
        cells = [_cell(counts.get(label, ())) for counts, _ in sources.values()]
        if any(cell != "–" for cell in cells):
            made.add_row(label, *cells)
    made.add_section()
    made.add_row("references per interaction", *(f"{mean:.1f}" for _, mean in sources.values()))
    return made


def _mean(counts: Mapping[str, Sequence[int]], interactions: int) -> float:
    return sum(map(sum, counts.values())) / max(interactions, 1)


def _cell(counts: Sequence[int]) -> str:
    """Counts by age; those of unknown age, if there are any, after a question mark."""
    if not any(counts):
        return "–"
    unknown = f"  ?{counts[len(AGES)]}" if len(counts) > len(AGES) and counts[len(AGES)] else ""
    return "  ".join(f"{count:>3}" for count in counts[: len(AGES)]) + unknown


def resolved_table(analysis: Analysis) -> Table:
    """How many references the agent resolves."""
    made = table("References resolved", "references", "percent", "95% interval", "resolved", "of")
    for label, accuracy in analysis.resolved().items():
        if accuracy.trials:
            made.add_row(label, *accuracy.columns)
    if (paper := analysis_of(analysis.tables.world).paper) is not None:
        made.add_row("of the paper's model, by its authors", str(tenths(paper.resolved)), "", "", "")
    return made


def cause_table(analysis: Analysis) -> Table:
    """The errors in the paper's classes, beside its fifty."""
    paper, causes = analysis_of(analysis.tables.world).paper, analysis.causes()
    total = sum(causes.values())
    columns = ["errors", "share", *(["paper, of 50", "share"] if paper else [])]
    made = table("Errors in the paper's classes" + ("" if analysis.disputed is not None else " (no label is doubted)"), "class", *columns)
    for kind in Cause:
        theirs = paper.causes.get(kind, 50 - sum(paper.causes.values())) if paper else 0
        cells = [str(causes[kind]), _share(causes[kind], total), *([str(theirs), _share(theirs, 50)] if paper else [])]
        made.add_row(kind.value, *cells)
    return made


def agreement_table(half: Half, found: Mapping[str, Agreement]) -> Table:
    """How well the program agrees with a person, on one half of the annotated interactions."""
    title = f"The program and the annotations, half '{half}'"
    made = table(title, "", "both", "program only", "person only", "precision", "recall", "kappa")
    for label, each in found.items():
        counts = (each.both, each.program, each.person)
        made.add_row(label, *map(str, counts), *(_decimals(figure) for figure in (each.precision, each.recall, each.kappa)))
    return made


def class_table(classes: Mapping[str, int]) -> Table:
    """Our own classes of errors."""
    made, total = table("Errors", "class", "errors", "share"), sum(classes.values())
    for name, number in classes.items():
        made.add_row(name, str(number), _share(number, total))
    return made


def _share(number: int, total: int) -> str:
    return f"{100 * number / total:.1f}%" if total else ""


def _decimals(figure: float | None) -> Any:
    return "–" if figure is None else f"{figure:.2f}"
