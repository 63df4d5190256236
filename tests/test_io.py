"""Files are written whole or not at all, nothing but an ordinary file is ever replaced, and what JSON holds is checked field by field."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from sestra.errors import InputError
from sestra.io import build, read_json, replacing, to_json, write_text


def test_a_symbolic_link_is_replaced_and_not_followed(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert not link.is_symlink()
    assert (link.read_text(), target.read_text()) == ("new", "old")


def test_a_planted_link_of_the_temporary_name_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda _: "00")
    target, planted = tmp_path / "target.txt", tmp_path / ".new.txt.00.part"
    target.write_text("old")
    planted.symlink_to(target)
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "new.txt", "new")
    assert target.read_text() == "old"


def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path, monkeypatch):
    synced, sync = [], os.fsync

    def record(descriptor: int) -> None:
        synced.append((Path(os.readlink(f"/proc/self/fd/{descriptor}")), (tmp_path / "a").exists()))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    write_text(tmp_path / "a", "text")
    assert [named for _, named in synced] == [False, True]
    assert synced[1][0] == tmp_path


def test_what_a_killed_process_left_is_removed(tmp_path):
    left, new, other = tmp_path / ".a.11.part", tmp_path / ".a.22.part", tmp_path / ".b.33.part"
    for each in (left, new, other):
        each.write_text("half")
    for each in (left, other):
        os.utime(each, (0, 0))
    write_text(tmp_path / "a", "text")
    assert {each.name for each in tmp_path.iterdir()} == {"a", new.name, other.name}, "the new one may be of a process that still writes"


@pytest.mark.parametrize("content", ["[" * 100_000, "[" * 30 + "]" * 30, "9" * 5_000, '"\\ud800"', ""])
def test_json_that_cannot_be_used(tmp_path, content):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match="the file is damaged") as error:
        read_json(tmp_path / "a.json")
    assert "\n" not in str(error.value)


def test_nothing_is_read_of_pipes_devices_and_huge_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "device.json").symlink_to("/dev/zero")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 40)
    for name in ("pipe", "device"):
        with pytest.raises(InputError, match="is not an ordinary file"):
            read_json(tmp_path / f"{name}.json")
    with pytest.raises(InputError, match="expected at most"):
        read_json(tmp_path / "large.json")


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
