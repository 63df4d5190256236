"""Errors as one static page: no script, nothing fetched, every text escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any, TypeVar

from sestra.analysis.analyze import AGES, Analysis
from sestra.analysis.errors import Case, ErrorClass
from sestra.analysis.references import Reference
from sestra.data.scone import State
from sestra.drawing import changed, draw_svg
from sestra.drawing.shapes import printable
from sestra.worlds import World

Each = TypeVar("Each")

STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1f; --quiet: #5b6472; --paper: #f4f6f9; --card: #fff; --rule: #c9d0da; --link: #1d4fa3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceff4; --quiet: #a9b3c1; --paper: #14171c; --card: #1e232b; --rule: #3a4350; --link: #8ab4f8; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 74rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
a { color: var(--link); }
.quiet { color: var(--quiet); }
.tables { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1rem 2.5rem; }
table { border-collapse: collapse; margin: .25rem 0; } caption { text-align: left; font-weight: 600; padding-bottom: .35rem; }
th, td { padding: .15rem .75rem .15rem 0; text-align: right; font-variant-numeric: tabular-nums; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; } th { font-weight: 500; color: var(--quiet); }
article { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 1rem 1.25rem; margin: 1rem 0; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline; justify-content: space-between; }
ol { margin: .5rem 0; padding-left: 1.5rem; } li { margin: .15rem 0; overflow-wrap: anywhere; }
p { margin: .5rem 0; } p.after { margin: .35rem 0 0; color: var(--quiet); }
.states { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .75rem; margin-top: .75rem; }
figure { margin: 0; } figcaption { font-size: .9rem; color: var(--quiet); margin-bottom: .25rem; }
svg { display: block; width: 100%; max-width: 26rem; height: auto; }
details svg { max-width: 20rem; } summary { cursor: pointer; color: var(--quiet); }
code { font-size: .85rem; overflow-wrap: anywhere; }
"""


def write_page(analysis: Analysis, title: str, source: str, most: int) -> str:
    """The page: the figures, then some of the errors, evenly from the first to the last, class by class."""
    wrong = analysis.wrong
    shown = spread(wrong, most)
    of_each = Counter(kind for _, kind in shown)
    counts = f"{len(wrong):,} of {len(analysis.cases):,} went wrong; {len(shown)} of these are below."
    parts = [
        f'<p class="quiet">Every instruction of {text(source)} was followed from its annotated start state. {counts}</p>',
        _tables(analysis, of_each),
    ]
    for kind in ErrorClass:
        if of_each[kind]:
            parts.append(f'<h2 id="{kind.name.lower()}">{text(kind.value.capitalize())}: {of_each[kind]} of {len(shown)} shown</h2>')
            parts += [_error(analysis.tables.world, case, kind) for case, found in shown if found is kind]
    return whole_page(title, parts)


def whole_page(title: str, parts: Sequence[str]) -> str:
    """A page of these parts, which are HTML."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="generator" content="sestra">\n<meta name="viewport" content="width=device-width">',
        f"<title>{text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f"<h1>{text(title)}</h1>",
    )
    return "\n".join([*head, *parts, "</body>", "</html>", ""])


def spread(cases: Sequence[Each], most: int) -> list[Each]:
    """That many of the cases, evenly from the first to the last."""
    return [cases[number * len(cases) // most] for number in range(most)] if len(cases) > most else list(cases)


def _tables(analysis: Analysis, shown: Counter[ErrorClass]) -> str:
    errors, total = analysis.classes(), max(len(analysis.wrong), 1)
    kinds = [(_name(kind, linked=bool(shown[kind])), str(errors[kind]), f"{100 * errors[kind] / total:.0f}%") for kind in ErrorClass]
    accuracy = [
        (text(name), *each.columns[:2], f"{each.successes} of {each.trials}") for name, each in analysis.accuracies().items() if each.trials
    ]
    ages = [(text(label), *map(str, counts)) for label, counts in analysis.ages().items() if any(counts)]
    return "\n".join(
        (
            '<div class="tables">',
            table("Errors", ("class", "errors", "share"), kinds),
            table("Accuracy, in percent", ("instructions", "accuracy", "95% interval", "right"), accuracy),
            table("References, by the turns since the referent was last mentioned", ("", *map(str, AGES), "unknown"), ages),
            "</div>",
        )
    )


def _name(kind: ErrorClass, *, linked: bool) -> str:
    return f'<a href="#{kind.name.lower()}">{text(kind.value)}</a>' if linked else text(kind.value)


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The cells are HTML."""
    head = "".join(f"<th>{text(column)}</th>" for column in columns)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{text(caption)}</caption>\n<tr>{head}</tr>\n{body}\n</table>"


def _error(world: World[Any], case: Case, kind: ErrorClass) -> str:
    earlier = "\n".join(f"<li>{text(instruction)}</li>" for instruction in case.instructions[:-1])
    place = f"{case.interaction}, turn {case.turn + 1}: {kind.value}"
    actions = ", ".join(case.actions) or "none"
    stopped = "then stop" if case.stopped else "and was stopped there"
    known = [(number, state) for number, state in enumerate(case.history[:-1], start=1) if state is not None]
    before = "\n".join(figure(world, f"before instruction {number}", state, None) for number, state in known)
    return "\n".join(
        (
            "<article>",
            f'<header><h3>{text(case.instruction)}</h3><span class="quiet">{text(place)}</span></header>',
            f'<p class="after">after</p>\n<ol>\n{earlier}\n</ol>' if case.turn else "",
            f'<p class="quiet">{text(_references(case.references))}</p>' if case.references else "",
            '<div class="states">',
            figure(world, "start", case.start, None),
            figure(world, "expected", case.goal, case.start),
            figure(world, "reached", case.reached, case.start),
            "</div>",
            f"<p>Did: <code>{text(actions)}</code>, {stopped}.</p>",
            f'<details><summary>earlier states</summary><div class="states">{before}</div></details>' if known else "",
            "</article>",
        )
    )


def _references(found: Sequence[Reference]) -> str:
    return "Refers back: " + "; ".join(
        f"{each.kind}, {each.to}{f' (“{each.words}”)' if each.words else ''}, "
        + (f"mentioned {each.age} turn{'s' * (each.age > 1)} ago" if each.age else "mentioned in no earlier turn that is known")
        for each in found
    )


def figure(world: World[Any], caption: str, state: State, before: State | None) -> str:
    picture = draw_svg(world, state, highlight=() if before is None else changed(world, before, state))
    return f"<figure><figcaption>{text(caption)}</figcaption>{picture}</figure>"


def text(given: str) -> str:
    """As HTML."""
    return escape(printable(given))
