"""Where data is looked for, in which order, and what is said if it is nowhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sestra.data import locate
from sestra.errors import InputError

LINE = "one\t1:4\tremove it\t\n"


def folder_with_data(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "tangrams-dev.tsv").write_text(LINE)
    return folder


def test_the_order_is_flag_then_variable_then_cache(no_scone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert locate.find() is None
    cached = folder_with_data(no_scone / "sestra" / "scone")
    assert locate.find() == cached == locate.default_folder()
    named = folder_with_data(tmp_path / "named")
    monkeypatch.setenv("SCONE_DATA", str(named))
    assert locate.find() == named
    asked = folder_with_data(tmp_path / "asked")
    assert locate.find(asked) == asked
    monkeypatch.setenv("SCONE_DATA", "")
    assert locate.find() == cached


def test_nothing_found_says_how_to_get_it(no_scone: Path):
    with pytest.raises(InputError) as caught:
        locate.read_split("scene", "dev")
    for part in (str(no_scone), "sestra data download", "--data", "SCONE_DATA", "sestra data generate"):
        assert part in str(caught.value)


def test_a_named_folder_is_never_passed_over(no_scone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder_with_data(no_scone / "sestra" / "scone")
    for bad, what in ((tmp_path / "absent", "is not a folder"), (tmp_path, "has no SCONE file"), (Path("x" * 300), "is not a folder")):
        with pytest.raises(InputError, match=rf"\(--data\): {what}; expected files such as alchemy-train.tsv"):
            locate.find(bad)
        monkeypatch.setenv("SCONE_DATA", str(bad))
        with pytest.raises(InputError, match=rf"\(SCONE_DATA\): {what}"):
            locate.find()


def test_splits_are_read(no_scone: Path):
    folder = folder_with_data(no_scone / "sestra" / "scone")
    assert locate.files(folder) == {("tangrams", "dev"): folder / "tangrams-dev.tsv"}
    [interaction] = locate.read_split("tangrams", "dev")
    assert interaction.instructions == ("remove it",)
    with pytest.raises(InputError, match=r"has no tangrams-train\.tsv; expected one of tangrams-dev\.tsv"):
        locate.read_split("tangrams", "train")
    with pytest.raises(InputError, match="unknown split 'tests'; expected one of train, dev, test, train-orig"):
        locate.read_split("tangrams", "tests")
    with pytest.raises(InputError, match="unknown world 'chess'"):
        locate.read_split("chess", "dev")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/sestra"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "home/.cache/sestra"),
        ("darwin", {}, "home/Library/Caches/sestra"),
        ("darwin", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/sestra"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/sestra/cache"),
    ],
)
def test_each_platform_has_its_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variables: dict[str, str], expected: str
):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert locate.cache_folder() == tmp_path / expected


def test_no_home_folder(monkeypatch: pytest.MonkeyPatch):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match="set XDG_CACHE_HOME"):
        locate.cache_folder()
