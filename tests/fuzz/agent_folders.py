"""Agents' folders damaged at random: each is used as before or refused in one line, and nothing else ever happens.

python tests/fuzz/agent_folders.py --minutes 10 --seed 1
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(TESTS), str(Path(__file__).parent)]

from agents import STATES, write_random_agent  # noqa: E402
from fuzzing import Deadline, command_line  # noqa: E402

from sestra import pretrained  # noqa: E402

ABOUT = "agent.json"
INSTRUCTIONS = ["throw out the first one", "move it to the last one", "do it again"]
SECONDS = 30.0
"""What a folder may take to be used or refused; on a machine that is not busy it is a fraction of a second."""
MEGABYTES = 400
"""By how much the memory that a process has ever used may grow."""
MAX_MESSAGE = 1_000
SHIPPED = "tangrams-sestra"


@dataclass(frozen=True)
class Mutation:
    kind: str
    place: str
    """What was done, for the report."""
    may_differ: bool
    """Whether the folder is that of another agent now, which may behave differently."""


@dataclass(frozen=True)
class Result:
    outcome: str
    """same, other, refused; or what must not be: raised, crashed, hung, large."""
    said: str = ""


class Worker:
    """A process that uses agents' folders, so that a crash or an endless loop is seen from outside."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__)), "--worker"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )

    def use(self, folder: Path) -> dict[str, Any]:
        """What the process answers; ``outcome`` is crashed or hung if it does not."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{folder}\n")
            self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            try:
                answer: dict[str, Any] = json.loads(line)
            except ValueError:
                self.process.kill()
                return {"outcome": "raised", "said": f"it wrote {line!r}"}
            return answer
        self.process.kill()
        return {"outcome": "crashed" if ready else "hung", "said": f"status {self.process.wait()}"}

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


def work() -> None:
    """What the process does: a folder's name in a line, what came of it in a line."""
    from sestra.agent import Agent
    from sestra.errors import InputError

    peak = _peak()
    for line in sys.stdin:
        try:
            agent = Agent.from_pretrained(Path(line.rstrip("\n")))
            trace = agent.follow(STATES[agent.world.name], INSTRUCTIONS)
            beam = agent.follow(STATES[agent.world.name], INSTRUCTIONS[:1], how="beam", beam=2)
            text = json.dumps([trace.to_json(), beam.to_json()])
            answer = {"outcome": "used", "said": hashlib.sha256(text.encode()).hexdigest()}
        except InputError as error:
            answer = {"outcome": "refused", "said": str(error)}
        except BaseException as error:  # noqa: BLE001
            answer = {"outcome": "raised", "said": f"{type(error).__name__}: {error}"}
        grown, peak = _peak() - peak, _peak()
        sys.stdout.write(json.dumps({**answer, "grown": grown}) + "\n")
        sys.stdout.flush()


def _peak() -> float:
    """In megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# Mutations of bytes.


def flip(content: bytes, rng: random.Random) -> bytes:
    found = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64))):
        if found:
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def truncate(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.choice((0, 1, len(content) // 2, max(len(content) - 1, 0), rng.randrange(len(content) + 1)))]


def insert(content: bytes, rng: random.Random) -> bytes:
    place = rng.choice((0, len(content), rng.randrange(len(content) + 1)))
    more = rng.choice((b"\0", b"\xff" * 9, b"\n", rng.randbytes(rng.randrange(1, 200)), content[: rng.randrange(1, 400)]))
    return content[:place] + more + content[place:]


def delete(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + content[place + rng.randrange(1, 100) :]


def repeat(content: bytes, rng: random.Random) -> bytes:
    """A part of it over another part."""
    size, here, there = rng.randrange(1, 200), rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)
    return content[:here] + content[there : there + size] + content[here + size :]


BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (flip, truncate, insert, delete, repeat)

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 1e308, float("nan"), float("inf"), 10**400, -(2**63), 0.5, "", "alchemy", "tangrams", "x" * 5_000, "\0", "\n",
    "../vocab.json", "/dev/zero", "os:path", "a.py:B", "\ud800", [], {}, [[]], ["a"] * 3, {"a": {"b": [1]}}, [1] * 1_000,
)  # fmt: skip
"""Values for JSON that stand where others were expected."""


def change_json(content: bytes, rng: random.Random) -> bytes:
    """Another value, another name, one more or one less, somewhere."""
    value = json.loads(content)
    places: list[tuple[Any, Any]] = []

    def walk(part: Any) -> None:
        for key, each in list(part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()):
            places.append((part, key))
            walk(each)

    walk(value)
    part, key = rng.choice([place for place in places if place[0] is value] if rng.random() < 0.5 else places)
    what = rng.randrange(4)
    if what == 0:
        del part[key]
    elif what == 1 and isinstance(part, dict):
        part[str(rng.choice(ODD))[:6000]] = part.pop(key)
    elif what == 2 and isinstance(part, list):
        part.insert(key, rng.choice(ODD))
    else:
        part[key] = rng.choice(ODD)
    return json.dumps(value).encode()


# Mutations of folders.


def sign(folder: Path) -> None:
    """Give agent.json the checksums of the files as they are."""
    about = json.loads((folder / ABOUT).read_text())
    about["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in about["files"]}
    (folder / ABOUT).write_text(json.dumps(about))


def mutate(folder: Path, rng: random.Random) -> Mutation:
    """Damage a folder; what was done."""
    before = json.loads((folder / ABOUT).read_text())["horizon"]
    names = sorted(path.name for path in folder.iterdir())
    graphs = [name for name in names if name.endswith(".onnx")]
    kind = rng.choice(("bytes", "bytes", "graph", "graph", "graph", "json", "json", "words", "swap", "swap and sign", "special"))
    name = rng.choice(names)
    if kind == "bytes":
        how = rng.choice(BYTES)
        place = f"{how.__name__} {name}"
        (folder / name).write_bytes(how((folder / name).read_bytes(), rng))
    elif kind == "graph":
        how, name = rng.choice(BYTES), rng.choice(graphs)
        place = f"{how.__name__} {name}"
        (folder / name).write_bytes(how((folder / name).read_bytes(), rng))
        sign(folder)
    elif kind == "json":
        place = ABOUT
        (folder / ABOUT).write_bytes(change_json((folder / ABOUT).read_bytes(), rng))
    elif kind == "words":
        place = "vocab.json"
        (folder / place).write_bytes(change_json((folder / place).read_bytes(), rng))
        sign(folder)
    elif kind == "special":
        what = rng.choice(("missing", "directory", "FIFO", "device"))
        place = f"{what} {name}"
        (folder / name).unlink()
        if what == "directory":
            (folder / name).mkdir()
        elif what == "FIFO":
            os.mkfifo(folder / name)
        elif what == "device":
            (folder / name).symlink_to("/dev/zero")
    else:
        one, other = rng.sample(graphs if kind == "swap and sign" else names, 2)
        place = f"{one} {other}"
        first, second = (folder / one).read_bytes(), (folder / other).read_bytes()
        (folder / one).write_bytes(second)
        (folder / other).write_bytes(first)
        if kind == "swap and sign":
            sign(folder)
    return Mutation(kind, place, kind in ("graph", "words", "swap and sign") or _horizon(folder) != before)


def _horizon(folder: Path) -> Any:
    """In agent.json, however it is damaged: another one makes another agent."""
    with suppress(Exception):
        return json.loads((folder / ABOUT).read_bytes())["horizon"] if (folder / ABOUT).is_file() else None
    return None


def judge(answer: dict[str, Any], mutation: Mutation, expected: str) -> Result:
    """Whether that is what should happen."""
    outcome, said = answer["outcome"], answer["said"]
    if answer.get("grown", 0) > MEGABYTES:
        return Result("large", f"{answer['grown']:.0f} megabytes; {outcome}: {said}")
    if outcome == "used":
        return Result("same" if said == expected else "other", "" if said == expected or mutation.may_differ else "it behaves differently")
    if outcome == "refused" and ("\n" in said or len(said) > MAX_MESSAGE):
        return Result("raised", f"not one short line: {said!r}")
    return Result(outcome, said)


def run(minutes: float, seed: int, report: Callable[[str], object] = print, most: int = sys.maxsize) -> tuple[Counter[str], list[str]]:
    """How often each kind of damage had each outcome, and what must not be."""
    rng, counts, wrong, deadline = random.Random(seed), Counter[str](), list[str](), Deadline(minutes, most)
    with tempfile.TemporaryDirectory() as place:
        bases = [write_random_agent(Path(place) / "small", "alchemy", networks=2), Path(place) / "shipped"]
        shutil.copytree(pretrained.HERE / SHIPPED, bases[1])
        worker = Worker()
        expected = {base: worker.use(base)["said"] for base in bases}
        while deadline.left():
            number = deadline.count - 1
            base, folder = bases[number % 4 == 3], Path(place) / "mutated"
            shutil.copytree(base, folder)
            mutation = mutate(folder, rng)
            result = judge(worker.use(folder), mutation, expected[base])
            if worker.process.poll() is not None:
                worker.stop()
                worker = Worker()
                worker.use(base)
            counts[f"{mutation.kind}: {result.outcome}"] += 1
            if result.outcome not in ("same", "refused") and (result.outcome != "other" or result.said):
                wrong.append(
                    f"seed {seed}, mutation {number} of {base.name}: {mutation.kind}, {mutation.place}: {result.outcome}: {result.said}"
                )
                report(wrong[-1])
            shutil.rmtree(folder)
        worker.stop()
    return counts, wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
        sys.exit(0)
    sys.exit(command_line(__doc__, run, "mutations"))
