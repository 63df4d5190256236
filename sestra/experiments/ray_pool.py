"""Trials on Ray: one CPU and one torch thread each, on this machine or a cluster; one that dies is resumed from its checkpoint."""

from __future__ import annotations

import os
import signal
import socket
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sestra.data.sources import Source
from sestra.errors import InputError
from sestra.experiments.grid import Trial
from sestra.experiments.trials import NOTE, Conditions, Job, Outcome, work_on

OBJECT_STORE = 80 * 2**20
"""Bytes, about the least that Ray accepts: trials exchange files, not objects."""
QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
START_ATTEMPTS = 4
CONNECT_TIMEOUT = 10.0
"""Seconds that a cluster has to accept a connection."""


def import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise InputError("trials run on Ray, which is not installed; install it with: pip install 'sestra[sweep]'") from error
    return ray


def connect(ray: Any, address: str) -> None:
    """To a cluster that runs already.

    Ray waits for minutes where nobody listens, so that is found out first.
    """
    host, _, port = address.rpartition(":")
    try:
        if port.isdigit() and "://" not in address:
            socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT).close()
        ray.init(address=address, **QUIET)
    except Exception as error:  # Ray raises whatever its layers do
        raise InputError(
            f"--ray-address {address}: no cluster answers there, or it wants a token ({error}); start one with 'ray start --head', set "
            "RAY_AUTH_MODE=token here if it was set or is the default there, or leave the flag away to run on this machine"
        ) from error


def start_here(ray: Any, cpus: int | None = None) -> None:
    """A Ray of our own, which dies with this process; whatever cluster happens to run on this machine is not ours.

    Ray gives its parts seconds to start, which is too little on a machine that is very busy: so it is tried more than once.
    """
    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            ray.init(address="local", num_cpus=cpus, include_dashboard=False, object_store_memory=OBJECT_STORE, **QUIET)
        except Exception as error:
            ray.shutdown()
            if attempt == START_ATTEMPTS:
                raise InputError(
                    f"Ray did not start on this machine ({error}); its own logs, in ray/session_latest of the folder for temporary files, "
                    "say more"
                ) from error
        else:
            return


class Pool:
    """Runs trials; a context manager. It starts Ray itself, unless Ray runs already or an address is given."""

    def __init__(self, conditions: Conditions, *, address: str | None = None, cpus: int | None = None, max_failures: int = 3) -> None:
        self.ray = import_ray()
        self.conditions, self.max_failures = conditions, max_failures
        self.address, self.wanted_cpus = address, cpus
        self.attempts: dict[Any, Job] = {}
        """What was handed to Ray, by its reference to the result."""
        self.failures: Counter[str] = Counter()
        self.complaints: list[str] = []
        """Why attempts failed, since the progress table last showed it."""
        self._sources: dict[str, Source] = {}
        self._ours = False

    def __enter__(self) -> Pool:
        return self

    def _begin(self) -> None:
        """Start Ray, with the first trial."""
        if self.ray.is_initialized():
            return
        self._ours = True
        if self.address:
            connect(self.ray, self.address)
        else:
            start_here(self.ray, self.wanted_cpus)
        if threading.current_thread() is threading.main_thread():  # a scheduler's way to stop us is like a person's; Ray's own is to abort
            signal.signal(signal.SIGTERM, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        if self._ours:
            self.ray.shutdown()
        else:
            for reference in self.attempts:
                self.ray.cancel(reference, force=True)

    @property
    def cpus(self) -> int:
        self._begin()
        return max(1, int(self.ray.cluster_resources().get("CPU", 1)))

    def submit(self, trial: Trial) -> None:
        world = trial.config.world
        if world not in self._sources:
            _, self._sources[world] = self.conditions.load(world)
        self._begin()
        self._hand_over(Job.of(trial, self.conditions, self._sources[world]))

    def _hand_over(self, job: Job) -> None:
        (self.conditions.runs / job.name / NOTE).unlink(missing_ok=True)  # of a worker that died
        with sent_by_value(self.ray, *(item for items in job.registered.values() for item in items.values())):
            self.attempts[self.ray.remote(num_cpus=1, max_retries=0, name=job.name)(work_on).remote(job)] = job

    def poll(self, seconds: float) -> list[Outcome]:
        """Trials that have ended; waits for one at most so long."""
        ready, _ = self.ray.wait(list(self.attempts), num_returns=1, timeout=seconds)
        outcomes = []
        for reference in ready:
            job = self.attempts.pop(reference)
            try:
                outcomes.append(self.ray.get(reference))
            except self.ray.exceptions.RayError as error:
                outcomes += self._failed(job, error)
        return outcomes

    def _failed(self, job: Job, error: Exception) -> list[Outcome]:
        self.failures[job.name] += 1
        reason = _last_line(error)
        if self.failures[job.name] > self.max_failures:
            message = f"{job.name}: failed {self.failures[job.name]} times, the last time with: {reason}"
            return [Outcome(job.name, "failed", message=message)]
        self.complaints.append(f"{job.name}: {reason}; it is tried again from its last checkpoint")
        self._hand_over(job)
        return []


def _last_line(error: Exception) -> str:
    """Of a remote traceback its last line, of a crash the first sentence."""
    text = str(error).strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    return lines[-1] if "Traceback" in text or "ray::" in lines[0] else lines[0].split(". ")[0]


@contextmanager
def sent_by_value(ray: Any, *kinds: type[Any]) -> Iterator[None]:
    """In this context Ray sends these classes by value: workers need not have the modules that define them."""
    names = {base.__module__ for kind in kinds for base in kind.__mro__}
    modules = [sys.modules[name] for name in sorted(names) if _is_users(name)]
    for module in modules:
        ray.cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            ray.cloudpickle.unregister_pickle_by_value(module)


def _is_users(name: str) -> bool:
    """Whether a module is the user's own file, and not of an installed package, which workers have too."""
    top = name.partition(".")[0]
    if top in {"__main__", "sestra"} or top in sys.stdlib_module_names:  # what is defined in __main__ is pickled by value anyway
        return False
    installed = [Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")]
    file = getattr(sys.modules[name], "__file__", None)
    return file is not None and not any(folder in Path(file).parents for folder in installed)
