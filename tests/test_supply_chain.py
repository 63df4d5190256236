"""What a release is made of: pinned versions within bounds, the bill of materials, and the look-up of known vulnerabilities."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent


def test_pinned_versions_are_within_the_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text().lower().replace("_", "-").split())
    for each in map(Requirement, lines):
        if each.name != "sestra":
            assert each.specifier.contains(pinned[each.name.lower().replace("_", "-")], prereleases=True), each
    runtime = [Requirement(line) for line in project["dependencies"] + project["optional-dependencies"]["serve"]]
    assert [each.name for each in runtime if "<" not in str(each.specifier)] == ["rich"]


def test_the_bill_of_materials():
    done = subprocess.run([sys.executable, ROOT / ".ci" / "sbom.py"], capture_output=True, text=True, check=True)
    bill = json.loads(done.stdout)
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "sestra")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    components = {each["bom-ref"]: each for each in (bill["metadata"]["component"], *bill["components"])}
    assert len(components) == len(bill["components"]) + 1
    names = {each["name"] for each in components.values()}
    assert {"numpy", "onnxruntime", "fastapi", "starlette", "torch"} <= names
    assert not {"ruff", "mypy"} & names
    depends = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert depends.keys() == components.keys()
    assert {other for some in depends.values() for other in some} <= components.keys()


AUDITS = {
    "vulnerable": ({"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1"}]}]}, 1, "a 1: PYSEC-1"),
    "sound": ({"dependencies": [{"name": "a", "version": "1", "vulns": []}]}, 0, "0 known vulnerabilities"),
    "no network": (None, 0, "were not looked for"),
}


@pytest.mark.parametrize("case", AUDITS)
def test_only_known_vulnerabilities_fail_the_audit(tmp_path, case):
    report, status, message = AUDITS[case]
    (tmp_path / "pip_audit.py").write_text(f"""
import sys
if "--version" not in sys.argv:
    with open(sys.argv[sys.argv.index("--output") + 1], "w") as file:
        file.write({json.dumps(report)!r} if {report is not None} else "")
    sys.exit({int(case != "sound")})
""")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([ROOT / ".ci" / "audit", sys.executable], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == status
    assert message in done.stdout + done.stderr


def test_without_pip_audit_nothing_fails(tmp_path):
    (tmp_path / "pip_audit.py").write_text("raise ImportError")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([ROOT / ".ci" / "audit", sys.executable], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert "pip-audit is not installed" in done.stderr
