"""Files are written whole or not at all, and nothing but an ordinary file is ever replaced."""

from __future__ import annotations

import os

import pytest

from sestra.errors import InputError
from sestra.io import replacing, to_json, write_text


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
