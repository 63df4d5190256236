"""Tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from sestra.metrics import Accuracy


def table(title: str, *columns: str, left: int = 1) -> Table:
    """An empty table; its first columns are aligned to the left, the others to the right."""
    made = Table(title=Text(title))
    for number, column in enumerate(columns):
        made.add_column(column, justify="left" if number < left else "right")
    return made


def accuracy_table(title: str, heading: str, rows: Mapping[str, Accuracy]) -> Table:
    made = table(title, heading, "accuracy", "95% interval", "right", "of")
    for label, accuracy in rows.items():
        if accuracy.trials:
            made.add_row(label, *accuracy.columns)
    return made
