"""``sestra play``, fed from a pipe and typed at in a terminal."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from agents import STATES, write_random_agent
from commands import run

from sestra import Agent

ROOT = Path(__file__).parent.parent.parent
STATE = STATES["scene"]
ONE, TWO = "the person in green leaves", "they trade hats"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_agent(tmp_path_factory.mktemp("agents") / "scene", "scene")


@pytest.fixture
def play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path):
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("waited although nobody is watching"))

    def session(*lines: str, state: str | None = STATE, flags: tuple[str, ...] = ()) -> list[str]:
        """What was answered to each line, after what is said at the beginning."""
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        status, out, err = run(capsys, "play", "--agent", folder, *(["--state", state] if state else []), *flags)
        assert (status, err) == (0, "")
        return out.split("\n> ")

    return session


def test_play_remembers_the_interaction(play, folder: Path):
    trace = Agent.from_pretrained(folder).follow(STATE, [ONE, TWO])
    first, one, two, state = play(ONE, TWO, "/state")
    assert "/help" in first
    for answer, turn in ((one, trace.turns[0]), (two, trace.turns[1])):
        assert answer.startswith(f"{turn.instruction}\n")
        assert turn.end in answer
        assert answer.count("━━━") > 0
    assert state.strip().endswith(trace.final_state)


def test_play_takes_back(play, folder: Path):
    one = Agent.from_pretrained(folder).follow(STATE, [ONE]).final_state
    answers = play(ONE, TWO, "/undo", "state", "undo", "/state", "undo", ONE, TWO, "reset", "/state")
    assert answers[4].strip() == f"state\n{one}"
    assert answers[6].strip() == f"/state\n{STATE}"
    assert "there is no turn to undo" in answers[7]
    assert answers[11].strip() == f"/state\n{STATE}"


def test_play_begins_anew(play):
    other = STATE.replace("5:g_", "5:__")
    answers = play(ONE, f"/state {other}", "/state", f'state "{STATE}"', f"state {STATE}", "/state", "random", "/state", "reset", "/state")
    assert answers[3].strip() == f"/state\n{other}"
    assert answers[6].strip() == f"/state\n{STATE}"
    assert answers[8].strip() == answers[10].strip() != answers[6].strip()


def test_play_is_random_only_where_nobody_decides(play):
    first, again = (
        play("/random", "/state", state=None, flags=("--seed", "4")),
        play("/random", "/state", state=None, flags=("--seed", "4")),
    )
    assert first == again
    assert first != play("/random", "/state", state=None, flags=("--seed", "5"))


def test_errors_never_end_the_session(play):
    answers = play("/state 1:x", "/dance", "...", "word " * 2000, "x" * 10_000, "/undo step 2", "\x1b[31m\x07red", ONE)
    assert len(answers) == 9
    assert '/state "1:x": 1 objects' in answers[1]
    assert "/dance is no command; expected one of /undo, /reset, /random, /state, /help, /quit" in " ".join(answers[2].split())
    assert "has no word in it" in answers[3]
    assert "characters are too many" in answers[4]
    assert "\x1b" not in answers[7]


def test_instructions_that_begin_like_commands_are_instructions(play, folder: Path):
    instructions = ["undo step 2", "help the person in red"]
    trace = Agent.from_pretrained(folder).follow(STATE, instructions)
    _, *answers, asked = play(*instructions, "help")
    for answer, turn in zip(answers, trace.turns, strict=True):
        shown = [line.split() for line in answer.splitlines()[1 : len(turn.steps) + 1]]
        for words, step in zip(shown, turn.steps, strict=True):
            assert words[: len(step.action.split())] == step.action.split()
            assert step.state in " ".join(words)
        assert "/quit" not in answer
    assert "Any other line is an instruction" in asked
    assert STATE in asked


def test_quit_leaves_the_rest_unread(play):
    assert len(play(ONE, "quit", TWO)) == len(play(ONE, "/quit", TWO)) == 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["--delay", "-1"], "--delay -1"), (["--state", "1:x"], '--state "1:x"'), (["--world", "alchemy"], "acts in scene, not in alchemy")],
)
def test_play_refuses_nonsense(capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], expected: str):
    status, out, err = run(capsys, "play", "--agent", folder, *arguments)
    assert (status, out) == (2, "")
    assert expected in err


class Terminal:
    """A process that has a pseudo-terminal for its own."""

    def __init__(self, *arguments: str) -> None:
        import pty

        self.keyboard, screen = pty.openpty()
        code = (
            "import fcntl, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
            "signal.signal(signal.SIGINT, signal.default_int_handler); "  # a background job's children ignore it
            "from sestra.cli import main; sys.exit(main())"
        )
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TERM": "xterm-256color", "INPUTRC": os.devnull}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdin=screen, stdout=screen, stderr=screen, env=environment, start_new_session=True
        )
        os.close(screen)

    def type(self, keys: bytes) -> None:
        os.write(self.keyboard, keys)

    def leave(self, keys: bytes) -> None:
        """Type the keys until the process ends: a Ctrl-C between the prompt and the wait for a key is heard only with the next key."""
        for _ in range(20):
            self.type(keys)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=3)
                return

    def until(self, text: str, seconds: float = 60) -> str:
        """What is shown until the text appears; until the end if the text is empty."""
        shown, deadline = b"", time.monotonic() + seconds
        while not text or text.encode() not in shown:
            assert time.monotonic() < deadline, shown.decode()
            if select.select([self.keyboard], [], [], 0.2)[0]:
                try:
                    more = os.read(self.keyboard, 65536)
                except OSError:  # Linux's way to say that the other side is gone
                    more = b""
                if not more:
                    break
                shown += more
        return shown.decode()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.keyboard)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("leave", [b"\x04", b"\x03", b"/quit\r"], ids=["ctrl-d", "ctrl-c", "quit"])
def test_play_in_a_terminal(leave: bytes):
    """With an agent that comes to an end by itself, so that there is no note between the last picture and the prompt."""
    terminal = Terminal("play", "--agent", "scene-sestra", "--state", STATE, "--delay", "0.01")
    try:
        assert "\x1b[1;" in terminal.until("\n> ")  # in colour
        terminal.type(ONE.encode() + b"\r")
        assert "\x1b[2K" in terminal.until("\x1b[?25h> ")  # lines are wiped to be drawn again
        terminal.type(b"/state\r")
        before = terminal.until("\n> ")
        terminal.type(b"/undo\r")
        terminal.until("\n> ")
        terminal.type(b"\x1b[A\x1b[A\x1b[A\r")  # the instruction again, from the history
        assert ONE in terminal.until("\x1b[?25h> ")
        terminal.type(b"/state\r")
        assert terminal.until("\n> ") == before
        terminal.leave(leave)
        assert terminal.process.wait(timeout=20) == 0
    finally:
        terminal.close()
