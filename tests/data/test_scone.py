"""The reader: good files come back as they were, and of bad ones everything that is wrong is said at once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sestra.data import scone as reader
from sestra.data.scone import MAX_LINE_LENGTH, DataError, Interaction
from sestra.errors import InputError
from sestra.worlds import WORLDS, get_world

GOOD = {
    "alchemy": "one\t1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:rr\tthrow out the last one\t1:g 2:_ 3:_ 4:_ 5:_ 6:_ 7:_",
    "scene": "one\t1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:b_\the leaves\t1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:__",
    "tangrams": "one\t1:4\ttake it away\t",
}
EMPTY = "1:_ 2:_ 3:_ 4:_ 5:_ 6:_ 7:_"
STAGE = "1:__ 2:__ 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__"


def problems(path: Path, world: str) -> list[str]:
    with pytest.raises(DataError) as caught:
        reader.read(path, get_world(world))
    return caught.value.problems


def problems_of(tmp_path: Path, world: str, *lines: str | bytes) -> list[str]:
    path = tmp_path / f"{world}-bad.tsv"
    path.write_bytes(b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines))
    return [problem.removeprefix(f"{path}:") for problem in problems(path, world)]


@pytest.mark.parametrize("world", GOOD)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_good_lines_are_read(tmp_path: Path, world: str, end: str, last: bool):
    path = tmp_path / "file.tsv"
    path.write_bytes((GOOD[world] + end + GOOD[world] + end * last).encode())
    first, second = reader.read(path, get_world(world))
    assert first == second
    assert reader.format_line(first, get_world(world)) == GOOD[world]


def test_turns_skip_unknown_states(tmp_path: Path):
    path = tmp_path / "orig.tsv"
    path.write_text("one\t1:4\tremove it\t?\tput it back\t1:4\nsame\t1:4\tremove it\t\n")
    unknown, known = reader.read(path, get_world("tangrams"))
    assert unknown == Interaction("one", (("4",), None, ("4",)), ("remove it", "put it back"))
    assert list(unknown.turns()) == []
    assert list(known.turns()) == [("remove it", ("4",), ("",))]


@pytest.mark.parametrize(
    ("world", "state", "expected"),
    [
        ("alchemy", EMPTY.replace("3:_", "3:x"), "unknown colour 'x' in beaker 'x'; expected b (brown), g (green)"),
        ("scene", STAGE, "9 objects in"),
        ("tangrams", "1:7", "unknown figure '7'"),
        ("tangrams", "?", "the state is unknown ('?'); the first and the last must be known"),
    ],
)
def test_bad_states_are_named(tmp_path: Path, world: str, state: str, expected: str):
    identifier, start, instruction, goal = GOOD[world].split("\t")
    lines = ["\t".join((identifier, state, instruction, goal)), GOOD[world], "\t".join((identifier, start, instruction, state))]
    first, last = problems_of(tmp_path, world, *lines)
    assert first.startswith(f"1: column 2: {expected}")
    assert last.startswith(f"3: column 4: {expected}")


def test_all_problems_of_a_file_are_listed_at_once(tmp_path: Path):
    good = GOOD["tangrams"]
    found = problems_of(
        tmp_path,
        "tangrams",
        good,
        "one\t1:4\tremove it",  # 3 columns
        "one\t1:4\tremove it\t\tmore",
        "",
        b"one\t1:4\tremov\xe9 it\t",
        "\t1:9\t \t2:0",
        good + "\x00",
        "\ufeff" + good,
        good.replace("away", "a\rway"),
        "x" * (MAX_LINE_LENGTH + 1),
        good,
    )
    expected = [
        "2: 3 columns; expected 4, 6, 8",
        "3: 5 columns",
        "4: the line is blank; delete it",
        "5: byte 14 of the line (0xe9) is not UTF-8; save the file as UTF-8",
        "6: column 1: the identifier is empty",
        "6: column 2: unknown figure '9'",
        "6: column 4: position '2' stands where 1",
        "6: column 3: the instruction is empty",
        r"7: control character '\x00' at character 22",
        "8: the line begins with a byte-order mark; save the file as UTF-8 without one",
        r"9: control character '\r'",
        "10: a line of 100,001 bytes; expected at most 100,000",
    ]
    assert len(found) == len(expected)
    for problem, beginning in zip(found, expected, strict=True):
        assert problem.startswith(beginning)


def test_long_values_are_shortened_in_messages(tmp_path: Path):
    [problem] = problems_of(tmp_path, "alchemy", GOOD["alchemy"].replace("1:g 2", "1:" + "g" * 50_000 + " 2", 1))
    assert len(problem) < 500
    assert problem.endswith("a beaker holds at most 4")


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "empty.tsv").write_bytes(b"")
    (tmp_path / "blank.tsv").write_bytes(b" \n\r\n\t\n")
    for name, expected in {
        "empty.tsv": "is empty; expected one interaction per line",
        "blank.tsv": "is empty",
        "absent.tsv": "no such file; give one tab-separated file, or get the data with 'sestra data download'",
        "empty.tsv/more.tsv": "no such file",
        ".": "is not a regular file; give one tab-separated file",
        "x" * 300: "no such file",
        "nul\x00": "no such file",
    }.items():
        [problem] = problems(tmp_path / name, "alchemy")
        assert problem.startswith(f"{tmp_path / name}: {expected}")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.tsv")  # opening it would wait for ever
        [problem] = problems(tmp_path / "pipe.tsv", "alchemy")
        assert "is not a regular file" in problem

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # the file mode would not stop root
    [problem] = problems(tmp_path / "empty.tsv", "alchemy")
    assert problem.endswith("cannot be read (Permission denied); check the path and its permissions")


def test_world_of_a_file():
    assert reader.world_of("somewhere/scene-train-orig.tsv") == "scene"
    assert reader.world_of("alchemy.tsv") == "alchemy"
    with pytest.raises(InputError, match=r"mine\.tsv: the name does not begin with a world \(alchemy, scene, tangrams\); give the world"):
        reader.world_of("mine.tsv")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path):
    world = get_world("tangrams")
    path = tmp_path / "tangrams.tsv"
    path.write_text("before\n")

    def failing():
        yield Interaction("one", (("4",), ("",)), ("remove it",))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        reader.write(path, world, failing())
    assert path.read_text() == "before\n"
    for bad in (tmp_path, tmp_path / "absent" / "file.tsv", tmp_path / ("x" * 300), path / "file.tsv", Path("/")):
        with pytest.raises(InputError, match=r"cannot be written|is a directory"):
            reader.write(bad, world, [])
    assert list(tmp_path.iterdir()) == [path]


# Fuzzing: whatever is read, only a value or the documented error comes out, and a value prints back as it was.


@st.composite
def states(draw: st.DrawFn, world: str) -> str:
    contents = st.sampled_from(get_world(world).contents)
    return get_world(world).format(tuple(draw(contents) for _ in range(get_world(world).slots)))


words = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs"]), min_size=1, max_size=20).filter(str.strip)


@st.composite
def lines(draw: st.DrawFn, world: str) -> str:
    fields = [draw(words), draw(states(world))]
    for _ in range(draw(st.integers(1, 3))):
        fields += [draw(words), draw(states(world))]
    return "\t".join(fields)


@st.composite
def mutated(draw: st.DrawFn, strategy: st.SearchStrategy[bytes]) -> bytes:
    """Something valid with a few bytes deleted, replaced or put in."""
    content = bytearray(draw(strategy))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(content)))
        content[place : place + draw(st.integers(0, 3))] = draw(
            st.sampled_from([b"", b"\t", b"\n", b"\r", b" ", b":", b"_", b"?", b"1", b"\xff", b"\0"])
        )
    return bytes(content)


def check_file(world: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.tsv"
        path.write_bytes(content)
        try:
            interactions, found = reader.read(path, get_world(world)), None
        except DataError as error:
            interactions, found = [], error.problems
        if found is not None:
            assert found
            assert all(problem.startswith(f"{path}:") for problem in found)
            return
        reader.write(path, get_world(world), interactions)
        assert path.read_bytes() == content.replace(b"\r\n", b"\n").removesuffix(b"\n").removesuffix(b"\r") + b"\n"


@pytest.mark.parametrize("world", WORLDS.names())
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_a_file_or_a_data_error(world: str, data: st.DataObject):
    valid = st.lists(lines(world), min_size=1, max_size=3).map(lambda rows: "\n".join(rows).encode())
    check_file(world, data.draw(st.binary() | st.text().map(str.encode) | valid | mutated(valid)))


@given(content=st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe" + GOOD["tangrams"].encode("utf-16-le"))
@example(GOOD["tangrams"].encode() + b"\r")
@example(b"a\t1:0\t\xe2\x80\xa8\t")  # a line separator is blank
@settings(deadline=None)
def test_any_bytes_are_a_file_or_a_data_error_examples(content: bytes):
    check_file("tangrams", content)


@pytest.mark.parametrize("world", WORLDS.names())
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_every_valid_file_is_read(world: str, data: st.DataObject):
    rows = data.draw(st.lists(lines(world), min_size=1, max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "valid.tsv"
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")
        assert [reader.format_line(interaction, get_world(world)) for interaction in reader.read(path, get_world(world))] == rows


COUNTS = {
    ("alchemy", "train"): (3657, 18285),
    ("alchemy", "dev"): (245, 1225),
    ("alchemy", "train-orig"): (18305, 25627),
    ("scene", "train"): (3352, 16760),
    ("scene", "dev"): (198, 990),
    ("scene", "train-orig"): (6722, 10083),
    ("tangrams", "train"): (4189, 20945),
    ("tangrams", "dev"): (199, 995),
    ("tangrams", "train-orig"): (8378, 12567),
}


@pytest.mark.scone
@pytest.mark.parametrize(("world", "split"), COUNTS)
def test_scone_prints_back_byte_for_byte(scone: Path, tmp_path: Path, world: str, split: str):
    path = scone / f"{world}-{split}.tsv"
    interactions = reader.read(path, get_world(world))
    assert (len(interactions), sum(len(interaction.instructions) for interaction in interactions)) == COUNTS[world, split]
    reader.write(tmp_path / "again.tsv", get_world(world), interactions)
    assert (tmp_path / "again.tsv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("character", ["\u200b", "\u200d", "\u202e", "\u2066", "\u00ad", "\ufeff"])
def test_characters_that_cannot_be_seen_are_reported(tmp_path, character):
    path = tmp_path / "tangrams-dev.tsv"
    path.write_text(f"a\t1:0 2:1 3:2 4:3 5:4\tremove{character} it\t1:1 2:2 3:3 4:4\n")
    with pytest.raises(DataError, match=f"invisible character U\\+{ord(character):04X} at character"):
        reader.read(path, get_world("tangrams"))
