"""Files are written whole or not at all, nothing but an ordinary file is ever replaced, and what JSON holds is checked field by field."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pytest

from sestra.errors import InputError
from sestra.io import build, replacing, to_json, write_text


def test_a_symbolic_link_is_followed(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_not_an_ordinary_file_is_left_alone(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path):
        before = os.stat(place).st_ino
        with pytest.raises(InputError, match="give the name of"):
            write_text(place, "text")
        assert os.stat(place).st_ino == before
    assert sorted(tmp_path.iterdir()) == [pipe]


def test_a_failure_leaves_the_old_file(tmp_path):
    place = tmp_path / "file.txt"
    place.write_text("old")

    def fail() -> None:
        with replacing(place) as temporary:
            temporary.write_text("half")
            raise RuntimeError("in between")

    with pytest.raises(RuntimeError, match="in between"):
        fail()
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_numbers_that_are_none_become_null():
    assert to_json({"a": [float("nan"), 1.5], "b": float("inf")}) == '{"a": [null, 1.5], "b": null}'


@dataclass(frozen=True)
class Inner:
    size: int = 1


@dataclass(frozen=True)
class Outer:
    name: str
    rate: float = 0.5
    kind: Literal["one", "two"] = "one"
    both: tuple[int, ...] = ()
    known: dict[str, int] = field(default_factory=dict)
    free: Any = None
    inner: Inner = field(default_factory=Inner)
    shared: ClassVar[int] = 3


def test_what_json_holds_becomes_a_dataclass():
    values = {"name": "a", "rate": 2, "kind": "two", "both": [1, 2], "known": {"b": 3}, "free": [None], "inner": {"size": 4}}
    assert build(Outer, values, "x.json") == Outer("a", 2, "two", (1, 2), {"b": 3}, (None,), Inner(4))
    assert build(Outer, {"name": "a"}, "x.json") == Outer("a")


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([], r"x\.json: \[\] stands where an object with the fields of Outer was expected"),
        ({"name": "a", "shared": 4}, "unknown field 'shared'; expected some of name, rate, kind"),
        ({"name": 3}, "name is 3; expected str"),
        ({"name": "a", "rate": True}, "rate is True; expected float"),
        ({"name": "a", "kind": "three"}, "kind is 'three'"),
        ({"name": "a", "both": [1, "2"]}, "both is"),
        ({"name": "a", "known": {"b": "c"}}, "known is"),
        ({"name": "a", "inner": {"size": 1.5}}, r"x\.json: inner: size is 1\.5; expected int"),
        ({"name": "a", "inner": 3}, r"x\.json: inner: 3 stands where an object with the fields of Inner was expected"),
        ({}, r"missing 1 required .*'name'; the file is damaged"),
    ],
)
def test_fields_that_are_not_as_annotated(values, complaint):
    with pytest.raises(InputError, match=complaint):
        build(Outer, values, "x.json")
