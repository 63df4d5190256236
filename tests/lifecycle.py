"""What an example goes through: trained, stopped, resumed, evaluated, exported and used, all by the command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import run
from small_runs import state_of

from sestra.agent import Agent
from sestra.cli.train import ProgressBars
from sestra.learning.run_folder import RunFolder

EXAMPLES = Path(__file__).parents[1] / "examples"
START = "1:__ 2:ry 3:__ 4:__ 5:__ 6:__ 7:__ 8:__ 9:__ 10:b_"
FEW = ["--epochs", "2", "--execution-horizon", "5"]


@dataclass
class Lifecycle:
    """The commands, one after the other, in one folder."""

    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch
    data: Path
    folder: Path

    def sestra(self, *arguments: str | Path, status: int = 0) -> str:
        found, output, errors = run(self.capsys, *arguments)
        assert found == status, errors
        return output + errors

    def train(self, to: str, *flags: str) -> RunFolder:
        self.sestra("train", "--world", "scene", "--data", self.data, "--out", to, *FEW, *flags)
        return RunFolder(self.folder / to)

    def train_in_two_parts(self, to: str, *flags: str) -> RunFolder:
        """Stopped as by Ctrl-C after the first epoch, then resumed."""
        with self.monkeypatch.context() as patch:
            patch.setattr(ProgressBars, "on_epoch_end", _interrupt)
            printed = self.sestra("train", "--world", "scene", "--data", self.data, "--out", to, *FEW, *flags, status=130)
        assert f"continue with: sestra train --resume --out {to}" in printed
        assert "Resuming after epoch 1" in self.sestra("train", "--resume", "--out", to, "--data", self.data)
        return RunFolder(self.folder / to)

    def check(self, *flags: str) -> Agent:
        """All of it; gives the agent in the exported folder."""
        assert state_of(self.train_in_two_parts("run", *flags)) == state_of(self.train("whole", *flags))
        self.sestra("evaluate", "run", "--data", self.data)
        self.sestra("export", "run", "--to", "agent")
        (self.folder / "elsewhere").mkdir()
        self.monkeypatch.chdir(self.folder / "elsewhere")
        trained, exported = (Agent.from_pretrained(self.folder / name) for name in ("run", "agent"))
        assert exported.training == trained.training
        traces = [agent.follow(START, ["the person in red leaves", "he comes back"]) for agent in (trained, exported)]
        assert traces[0] == traces[1]
        assert len(traces[0].turns) == 2
        return exported

    def used_by_another_process(self) -> None:
        """From another folder than the one in which the reference was given."""
        command = [sys.executable, "-m", "sestra", "run", "--agent", str(self.folder / "agent"), "--state", START, "he leaves"]
        subprocess.run(command, check=True, cwd=self.folder / "elsewhere", capture_output=True, text=True)


def _interrupt(_bars: ProgressBars, _record: object) -> None:
    raise KeyboardInterrupt


BROKEN = {
    "gone.py:Thing": "gone.py: no such file",
    "{example}:Nothing": "has no 'Nothing' in it; check the name after the colon",
    "mine.py:Plain": "is <class 'mine_",
    "mine.py:FUNCTION": "is <function",
    "wrong.py:Thing": "cannot be imported (SyntaxError: ",
    "needy.py:Thing": "cannot be imported (ModuleNotFoundError: No module named 'nowhere'); mend the file",
    "nowhere.module:Thing": "nowhere.module cannot be imported",
    "thing": "expected one of",
}
"""References that name nothing of use, and a part of the message."""
