"""Training that is killed, told to end, or out of disk space at any input/output call: resumed, it ends in the same bits.

First every call of a run, in random order: killed before it, no space for it, no space from it on. Then also SIGKILL and SIGTERM at
random moments, several to a run.

python tests/fuzz/training_crashes.py --minutes 10 --seed 1
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(TESTS.parent), str(TESTS), str(Path(__file__).parent)]

import torch  # noqa: E402
import torch._dynamo  # noqa: E402  # which every optimiser loads
from fuzzing import Deadline, command_line  # noqa: E402
from lamps import Lamps, interactions  # noqa: E402
from small_runs import TINY, state_of  # noqa: E402

from sestra.data.sources import Source  # noqa: E402
from sestra.errors import InputError  # noqa: E402
from sestra.learning import checkpoint  # noqa: E402
from sestra.learning.run_folder import RunFolder  # noqa: E402
from sestra.learning.trainer import Trainer  # noqa: E402
from sestra.worlds import WORLDS  # noqa: E402

CONFIG = TINY.changed(epochs=2, ema_decay=0.9)
DATA = interactions(12, seed=1)
NO_SPACE = 3
"""The exit status of a run that ended because it could not write."""
KINDS = ("killed before a call", "no space for a call", "no space from a call on")
SIGNALS = ("SIGKILL at random", "SIGTERM at random")


class Faults:
    """Counts a process's calls for files in a folder, and lets some of them fail or end the process."""

    def __init__(self, folder: Path, kind: str = "", number: int = 0) -> None:
        self.folder, self.kind, self.number, self.count = str(folder), kind, number, 0

    def install(self) -> None:
        """For the rest of the process: hooks of Python's own calls, and replacements for the two that it does not tell hooks of."""
        sys.addaudithook(self._on_event)
        sync, save = os.fsync, checkpoint.save_file

        def failing_sync(descriptor: int) -> None:
            self._call(writes=True)
            sync(descriptor)

        def failing_save(*given: Any) -> None:
            self._call(writes=True)
            save(*given)
            self._call(writes=True)

        os.fsync, checkpoint.save_file = failing_sync, failing_save

    def _on_event(self, event: str, given: tuple[Any, ...]) -> None:
        if not (event == "open" or event.startswith("os.")) or not given or not isinstance(given[0], str | os.PathLike):
            return
        if os.fspath(given[0]).startswith(self.folder):
            writes = event in ("os.rename", "os.mkdir") or (event == "open" and bool((given[2] or 0) & (os.O_WRONLY | os.O_RDWR)))
            self._call(writes=writes)

    def _call(self, *, writes: bool) -> None:
        self.count += 1
        if self.kind == KINDS[0] and self.count == self.number:
            os.kill(os.getpid(), signal.SIGKILL)
        if writes and ((self.kind == KINDS[1] and self.count == self.number) or (self.kind == KINDS[2] and self.count >= self.number)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def train(folder: RunFolder) -> None:
    """Begin the run, or resume it, and go on to its end or until SIGTERM."""
    with folder.locked():
        if folder.exists():
            trainer = Trainer(folder.config(), DATA, folder)
            trainer.resume()
        else:
            trainer = Trainer(CONFIG, DATA, folder)
            folder.create(CONFIG, trainer.vocabulary, Source("lamps", "0"))
        trainer.checkpoint_seconds = 0.0

        def stop(*_: object) -> None:
            trainer.stop_requested = True

        signal.signal(signal.SIGTERM, stop)
        trainer.run()


def begin(path: Path, kind: str = "", number: int = 0, count: Path | None = None) -> int:
    """The id of a new process that trains; torch is loaded already, so it costs a fraction of a second."""
    process = os.fork()
    if process:
        return process
    status = 99
    try:
        faults = Faults(path, kind, number)
        faults.install()
        train(RunFolder(path))
        status = 0
        if count:
            count.write_text(str(faults.count))
    except InputError as error:
        status = NO_SPACE if os.strerror(errno.ENOSPC) in str(error) else 99
    finally:
        os._exit(status)


def wait(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def cases(calls: int, rng: random.Random) -> Iterator[tuple[str, int]]:
    """Every call with every kind of failure, and signals in between; then the same again."""
    while True:
        every = [(kind, number) for kind in KINDS for number in range(1, calls + 1)]
        every += [(kind, 0) for kind in SIGNALS for _ in range(calls // 2)]
        rng.shuffle(every)
        yield from every


def interrupt(path: Path, kind: str, number: int, seconds: float, rng: random.Random) -> str:
    """Let a run begin and meet its fate; what is wrong with how it ended."""
    if kind in KINDS:
        status = wait(begin(path, kind, number))
        return "" if status in (0, NO_SPACE, -signal.SIGKILL) else f"it ended with status {status}"
    for _ in range(rng.randrange(1, 4)):
        process = begin(path)
        until = time.monotonic() + rng.uniform(0, seconds)
        while time.monotonic() < until and os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL if kind == SIGNALS[0] else signal.SIGTERM)
        status = wait(process)
        if status not in (0, -signal.SIGKILL, -signal.SIGTERM):  # SIGTERM ends a run that has not begun at once
            return f"it ended with status {status}"
    return ""


def run(minutes: float, seed: int, report: Callable[[str], object] = print, most: int = sys.maxsize) -> tuple[Counter[str], list[str]]:
    """How often each kind of interruption was survived, and what must not be."""
    rng, counts, wrong, deadline = random.Random(seed), Counter[str](), list[str](), Deadline(minutes, most)
    WORLDS.register("lamps", Lamps)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        whole, path = Path(place) / "whole", Path(place) / "run"
        begun = time.monotonic()
        assert wait(begin(whole, count=Path(place) / "count")) == 0
        seconds, expected, calls = time.monotonic() - begun, state_of(RunFolder(whole)), int((Path(place) / "count").read_text())
        report(f"a run has {calls} input/output calls")
        for kind, number in cases(calls, rng):
            if not deadline.left():
                break
            said = interrupt(path, kind, number, seconds, rng)
            status = wait(begin(path))
            if not said and status:
                said = f"resuming it ended with status {status}"
            if not said and state_of(RunFolder(path)) != expected:
                said = "it ended in other bits"
            left = [each.name for each in path.rglob(".*.part")]
            said = said or (f"{left[0]} was left behind" if left else "")
            counts[kind] += 1
            if said:
                wrong.append(f"seed {seed}, case {deadline.count}: {kind} {number}: {said}")
                report(wrong[-1])
            shutil.rmtree(path)
    return counts, wrong


if __name__ == "__main__":
    sys.exit(command_line(__doc__, run, "interrupted runs"))
