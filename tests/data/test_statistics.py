"""Table 1 and the steps, on data small enough to count by hand; tests of 'sestra data stats' have SCONE's."""

from __future__ import annotations

import pytest

from sestra.data.scone import Interaction
from sestra.data.statistics import Steps, Table1, count_steps, table1
from sestra.worlds import get_world


def tangrams(*rows: str | None, words: tuple[str, ...] = ("remove it now", "remove it")) -> Interaction:
    states = tuple(None if row is None else (row,) for row in rows)
    return Interaction("one", states, words[: len(rows) - 1])


def test_table1_counts_words_between_spaces():
    train, dev = [tangrams("01", "0", "")], [tangrams("01", "0", words=("Remove, it",))]
    assert table1({"train": train, "dev": dev}) == Table1({"train": 1, "dev": 1}, pytest.approx(7 / 3), pytest.approx(0.4714, abs=1e-4), 4)
    assert table1({"train": train, "dev": dev, "test": train * 5}).mean_length == pytest.approx(7 / 3)  # test words do not count
    assert table1({"generated": train * 2}) == Table1({"generated": 2}, 2.5, 0.5, 3)
    assert table1({}) == Table1({}, 0, 0, 0)


def test_steps_are_demonstrated():
    world = get_world("tangrams")
    interactions = [tangrams("01", "10", "10"), tangrams("01", None, "0"), tangrams("01234", "")]
    assert count_steps(world, interactions) == Steps(total=3, unchanged=1, reached=3, actions=7, longest=5)
    assert count_steps(world, [tangrams("01", None, "0")]) == Steps(0, 0, 0, 0, 0)


def test_a_demonstration_that_misses_or_dawdles_is_not_counted(monkeypatch: pytest.MonkeyPatch):
    from sestra.worlds.tables import Tables

    world = get_world("tangrams")
    demonstrate = Tables.demonstrate

    def backwards(tables, states, goals):
        return demonstrate(tables, goals, states)

    monkeypatch.setattr(Tables, "demonstrate", backwards)
    assert count_steps(world, [tangrams("0", "1"), tangrams("0", "0")]).reached == 1
