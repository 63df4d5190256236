"""Command lines damaged at random: each is carried out, or refused without a traceback, and no foreign file is changed.

python tests/fuzz/command_lines.py --minutes 10 --seed 1
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(TESTS), str(Path(__file__).parent)]

from agents import STATES, write_random_agent  # noqa: E402
from fuzzing import Deadline, command_line  # noqa: E402

SECONDS = 120.0
"""For a command; on a machine that is not busy each takes a few at most."""
MEMORY = 6 << 30
"""Bytes of address space."""
USAGE = "╭─"
"""How tyro's box begins, in which it lists what it does not recognise, and flags with similar names; it has as many lines as it needs."""
MAX_MESSAGE = 2_000
"""Characters of a message of our own, which is one line; some repeat an argument."""
STATE = STATES["tangrams"]
COMMANDS = (
    ["--version"],
    ["data", "check", "tangrams-dev.tsv"],
    ["data", "show", "tangrams-dev.tsv", "--index", "1", "--svg", "show.svg"],
    ["data", "show", "--world", "scene", "--split", "dev", "--png", "show.png"],
    ["data", "stats", "--json"],
    ["data", "generate", "--world", "alchemy", "--count", "2", "--seed", "1", "--out", "made.tsv"],
    ["run", "--agent", "agent", "--state", STATE, "swap the first and the last", "undo it", "--how", "beam", "--beam", "2", "--json"],
    ["run", "--agent", "agent", "--state", STATE, "swap them", "--how", "sample", "--seed", "1", "--horizon", "3", "--svg", "run.svg"],
    ["attention", "--agent", "agent", "--state", STATE, "swap them", "--turn", "1", "--out", "attention.svg"],
    ["evaluate", "agent", "--data", "tangrams-dev.tsv", "--split", "dev", "--errors", "1", "--by", "turn", "--out", "figures.json"],
    ["analyze", "agent", "--data", "tangrams-dev.tsv", "--errors", "2", "--page", "errors.html"],
    ["check", "agent", "--capability", "moves", "--examples", "1", "--page", "checks.html"],
    ["join", "agent", "other", "--to", "joined"],
    ["export", "agent", "--to", "exported", "--results", "figures.json"],
    ["demo", "--world", "tangrams"],
    ["paper", "list"],
    ["paper", "report", "--results", "absent", "--out", "report.md"],
    ["train", "--world", "tangrams", "--data", "absent.tsv", "--epochs", "1", "--hidden", "4", "--out", "run"],
    ["train", "--resume", "--out", "absent"],
)
ODD = (
    "", " ", "-", "--", "-1", "0", "1", "2", "1e9", "nan", "inf", "0x10", "٣", "9" * 400, "x" * 5_000, "é\u202e", "\ud800", "a\nb", "../..",
    ".", "/dev/null", "/dev/full", "/dev/zero", "/proc/version", "foreign.svg", "foreign.tsv", "foreign.html", "foreign.json", "folder",
    "agent", "alchemy", "tangrams", "os:path", "absent.py:World", "--help", "--force", "--json", "--world", "--out", "--agent",
    "--no-such-flag", "--seed=", "--out=foreign.svg", "[bold]", "%s{0}$(x)",
)  # fmt: skip
FOREIGN = ("foreign.svg", "foreign.tsv", "foreign.html", "foreign.json", "folder/keep.txt")


def damage(command: list[str], rng: random.Random) -> list[str]:
    """The command with an argument changed, left out, added, moved or repeated."""
    found = list(command)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        place = rng.randrange(len(found)) if found else 0
        what = rng.randrange(5)
        if what == 0 and found:
            found[place] = rng.choice(ODD)
        elif what == 1 and found:
            del found[place]
        elif what == 2:
            found.insert(place, rng.choice(ODD))
        elif what == 3 and found:
            found.insert(rng.randrange(len(found)), found.pop(place))
        elif found:
            found.insert(place, found[rng.randrange(len(found))])
    return found


def work() -> None:
    """What the process does: the arguments in a line, what came of them in a line."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    from sestra.cli import main

    for line in sys.stdin:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
        sys.stdin, before = open(os.devnull, encoding="utf-8"), sys.stdin  # noqa: SIM115
        raised = ""
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status: Any = main(json.loads(line))
        except SystemExit as ended:
            status = ended.code
        except BaseException as error:  # noqa: BLE001
            status, raised = -1, f"{type(error).__name__}: {error}"
        sys.stdin = before
        out.flush(), err.flush()
        said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
        answers.write(json.dumps({"status": status, "raised": raised, "said": said}) + "\n")
        answers.flush()


def start(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{TESTS}", "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    environment.pop("SCONE_DATA", None)
    environment["XDG_CACHE_HOME"] = str(folder)
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, str(Path(__file__)), "--worker"], cwd=folder, env=environment, text=True, **pipes)


def use(process: subprocess.Popen[str], arguments: list[str]) -> dict[str, Any] | None:
    """What came of it; None if the process did not answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(arguments) + "\n")
        process.stdin.flush()
    ready, _, _ = select.select([process.stdout], [], [], SECONDS)
    line = process.stdout.readline() if ready else ""
    found: dict[str, Any] | None = json.loads(line) if line else None
    return found


def judge(answer: dict[str, Any] | None) -> tuple[str, str]:
    if answer is None:
        return "hung or crashed", "no answer"
    status, said = answer["status"], answer["said"]
    if answer["raised"]:
        return "raised", answer["raised"]
    if "Traceback" in said:
        return f"status {status}", f"a traceback: {said}"
    if status == 2 and said.startswith(USAGE):
        return "status 2: usage", ""
    if status == 2 and (not said.startswith("sestra: ") or said.count("\n") != 1 or len(said) > MAX_MESSAGE):
        return "status 2: message", f"not one short line: {said[:2_000]!r}"
    return f"status {status}" + ": message" * (status == 2), "" if status in (0, 1, 2, None) else said


def prepare(folder: Path) -> None:
    from sestra.cli import main

    for name, seed in (("agent", 7), ("other", 8)):
        write_random_agent(folder / name, "tangrams", seed=seed)
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["data", "generate", "--world", "tangrams", "--count", "4", "--out", str(folder / "tangrams-dev.tsv")]) == 0
    (folder / "folder").mkdir()
    for name in FOREIGN:
        (folder / name).write_text("foreign\n")


def run(minutes: float, seed: int, report: Callable[[str], object] = print, most: int = sys.maxsize) -> tuple[Counter[str], list[str]]:
    """How often there was each outcome, and what must not be."""
    rng, counts, wrong, deadline = random.Random(seed), Counter[str](), list[str](), Deadline(minutes, most)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        process = start(folder)
        while deadline.left():
            arguments = damage(rng.choice(COMMANDS), rng)
            answer = use(process, arguments)
            outcome, said = judge(answer)
            if "--force" not in " ".join(arguments):
                changed = [name for name in FOREIGN if not (folder / name).is_file() or (folder / name).read_text() != "foreign\n"]
                said = said or (f"{changed[0]} was overwritten" if changed else "")
            for name in FOREIGN:
                (folder / name).write_text("foreign\n")
            counts[outcome] += 1
            if said:
                wrong.append(f"seed {seed}, command {deadline.count}: {arguments!r}: {outcome}: {said}")
                report(wrong[-1])
            if answer is None:
                process.kill()
                process.communicate()
                process = start(folder)
        process.kill()
        process.communicate()
    return counts, wrong


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        work()
        sys.exit(0)
    sys.exit(command_line(__doc__, run, "command lines"))
