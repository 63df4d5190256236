"""The package as people install it: a wheel in a fresh environment, without torch."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
MAX_WHEEL = 25_000_000
CHECK = "\nimport sys; assert 'torch' not in sys.modules\n"


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_the_wheel_is_small_and_its_agents_run_without_torch(tmp_path: Path) -> None:
    constrained = ["--quiet", "--disable-pip-version-check", "--constraint", PROJECT / "constraints.txt"]
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, *constrained, PROJECT, cwd=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < MAX_WHEEL
    run(sys.executable, "-m", "venv", tmp_path / "fresh", cwd=tmp_path)
    python = tmp_path / "fresh" / "bin" / "python"
    run(python, "-m", "pip", "install", *constrained, f"{wheel}[serve]", cwd=tmp_path)
    assert "torch" not in run(python, "-m", "pip", "list", cwd=tmp_path)
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    [program] = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    [expected] = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    assert run(python, "-c", program + CHECK, cwd=tmp_path) == expected
    sestra = tmp_path / "fresh" / "bin" / "sestra"
    assert "--world" in run(sestra, "train", "--help", cwd=tmp_path)
    done = subprocess.run([sestra, "train", "--epochs", "1", "--out", "run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "install it with: pip install 'sestra[train]'" in done.stderr
    assert not (tmp_path / "run").exists()
