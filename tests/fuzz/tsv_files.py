"""Data files damaged at random: each is read, and written back as it was, or refused with the place of everything that is wrong.

python tests/fuzz/tsv_files.py --minutes 10 --seed 1
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from fuzzing import Deadline, command_line

from sestra.data import scone
from sestra.data.synthetic import generate
from sestra.worlds import WORLDS, get_world

PIECES = (
    b"\t", b"\n", b"\r\n", b"\r", b"\0", b"?", b"\t?\t", b"\t\t", b" ", b"\xff", b"\xef\xbb\xbf", "\u202e".encode(), "\u200b".encode(),
    "é".encode(), b"1:", b"1:g 2:_", b"0:g", b"99999999999999999999:g", b"1:__ 2:__", b"1:0 2:0", b":", b"generated-0", b"x" * 5_000,
    b"1:" + b"g" * 3_000,
)  # fmt: skip
MAX_PROBLEM = 1_000


def damage(content: bytes, rng: random.Random) -> bytes:
    """The file with one thing, or a few, changed."""
    found = bytearray(content)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 8))):
        place, size = rng.randrange(len(found) + 1), rng.randrange(1, 40)
        what = rng.randrange(6)
        if what == 0 and found:
            found[place % len(found)] = rng.randrange(256)
        elif what == 1:
            del found[place : place + size]
        elif what == 2:
            found[place:place] = rng.choice(PIECES)
        elif what == 3:
            start = rng.randrange(len(found) + 1)
            found[place:place] = found[start : start + size]
        elif what == 4:
            del found[place:]
        else:
            fields = bytes(found).split(b"\t")
            one, other = rng.randrange(len(fields)), rng.randrange(len(fields))
            fields[one], fields[other] = fields[other], fields[one]
            found = bytearray(b"\t".join(fields))
    return bytes(found)


def judge(path: Path, name: str, content: bytes) -> tuple[str, str]:
    """What came of reading the file, and what is wrong with that."""
    world = get_world(name)
    try:
        interactions = scone.read(path, world)
    except scone.DataError as error:
        for problem in error.problems:
            if not re.match(re.escape(str(path)) + r"(:\d+)?: .", problem) or "\n" in problem or len(problem) > MAX_PROBLEM:
                return "refused", f"not a place and one short line: {problem!r}"
        return "refused", "" if error.problems else "no reason is given"
    except BaseException as error:  # noqa: BLE001
        return "raised", f"{type(error).__name__}: {error}"
    lines = [scone.format_line(one, world).encode() for one in interactions]
    if lines != [line.removesuffix(b"\r") for line in content.removesuffix(b"\n").split(b"\n")]:
        return "read", "what is written back is something else"
    return "read", ""


def run(minutes: float, seed: int, report: Callable[[str], object] = print, most: int = sys.maxsize) -> tuple[Counter[str], list[str]]:
    """How often there was each outcome, and what must not be."""
    rng, counts, wrong = random.Random(seed), Counter[str](), list[str]()
    deadline = Deadline(minutes, most)
    with tempfile.TemporaryDirectory() as place:
        files = {}
        for name in WORLDS.names():
            world = get_world(name)
            files[name] = "".join(f"{scone.format_line(one, world)}\n" for one in generate(world, 3, seed=seed)).encode()
        while deadline.left():
            name = rng.choice(list(files))
            content = damage(files[name], rng)
            path = Path(place) / f"{name}-train.tsv"
            path.write_bytes(content)
            outcome, said = judge(path, name, content)
            counts[outcome] += 1
            if said:
                wrong.append(f"seed {seed}, file {deadline.count} of {name}: {outcome}: {said}")
                report(wrong[-1])
    return counts, wrong


if __name__ == "__main__":
    sys.exit(command_line(__doc__, run, "files"))
