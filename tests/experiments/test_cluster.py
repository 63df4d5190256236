"""The grid on a cluster that runs already: two machines, here two nodes on one, which the driver joins by its address."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import start

from sestra.experiments import records
from sestra.experiments.ray_pool import OBJECT_STORE, import_ray
from sestra.experiments.trials import NOTE

pytestmark = pytest.mark.slow
NAME = "lamps-supervised-1"


@pytest.fixture
def cluster() -> Iterator[Any]:
    """The first node has no CPU to give, as a machine that only leads."""
    import_ray()
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": OBJECT_STORE, "include_dashboard": False})
    try:
        made.add_node(num_cpus=1, object_store_memory=OBJECT_STORE)
        yield made
    finally:
        made.shutdown()


@contextmanager
def drive(address: str, data: Path, base: Path) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, which has no Ray yet."""
    flags = ["--worlds", "lamps", "--systems", "supervised", "--seeds", "1", "--epochs", "12", "--ray-address", address, "--json"]
    where = ["--data", str(data), "--runs", str(base / "runs"), "--results", str(base / "results")]
    driver = start(["paper", "run", *flags, *where], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield driver
    finally:
        driver.kill()
        driver.communicate()


def parent_of_worker(driver: subprocess.Popen[str], note: Path) -> int:
    while driver.poll() is None:
        try:
            worker = json.loads(note.read_text())["pid"]
            return int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            time.sleep(0.01)
    pytest.fail(f"no worker was seen: {driver.communicate()}")


def test_trials_run_where_the_address_says(cluster, data, tmp_path):
    [node] = cluster.worker_nodes
    with drive(cluster.address, data, tmp_path) as driver:
        parent = parent_of_worker(driver, tmp_path / "runs" / NAME / NOTE)
        output, errors = driver.communicate(timeout=200)
    assert driver.returncode == 0, errors
    assert parent == node.all_processes["raylet"][0].process.pid, "the second node's own, none that the driver started"
    assert json.loads(output)["ended"] == [NAME]
    assert [record["name"] for record in records.read_all(tmp_path / "results")] == [NAME]


def test_address_where_no_cluster_is(data, tmp_path):
    """It is said at once; Ray itself would wait for minutes."""
    with drive("127.0.0.1:1", data, tmp_path) as driver:
        _, errors = driver.communicate(timeout=60)
    assert driver.returncode == 2
    assert "--ray-address 127.0.0.1:1: no cluster answers there" in errors
    assert "Connection refused" in errors
    assert not (tmp_path / "runs").exists()
