"""The machine that orch runs on, as the only host: no host is made, processes are started and ended."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import services
from orchestrator.catalogue.read import catalogue
from orchestrator.disk import whole_file
from orchestrator.experiment.model.factors import GIVEN
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts import processes
from orchestrator.hosts.base import Completed, Pair, described
from orchestrator.hosts.lifecycle import IntentLog, Receipt
from orchestrator.hosts.local.process import LocalProcess
from orchestrator.hosts.output import capture
from orchestrator.hosts.pinning import Pinning, on_this_machine, pinning_facts
from orchestrator.hosts.processes import RUN_MARK, Known, marked, started_at
from services.python.contract.description import Description

ADDRESS = "127.0.0.1"
_FACTS_TIMEOUT_S = 60.0
_GRACE_S = 5.0


class LocalHost:
    """The machine that orch runs on; `note` takes every process down, so that a later teardown finds it.

    All that is started carries the run's id as a mark (`hosts.processes`).
    """

    def __init__(
        self, workspace: Path, *, name: str = "local", run: str = "", note: Callable[[dict[str, Any]], None]
    ) -> None:
        self.name = name
        self.address = ADDRESS
        self._folder = workspace.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self.workspace = PurePosixPath(self._folder)
        self.services = PurePosixPath(catalogue().folder)
        self._note = note
        self._environment = {**_environment(), RUN_MARK: run}
        self._started: list[LocalProcess] = []

    def python(self) -> Sequence[str]:
        return (sys.executable,)

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> LocalProcess:
        pinned = ["taskset", "-c", cpus, *argv] if cpus is not None and shutil.which("taskset") else list(argv)
        process = LocalProcess(pinned, env=self._environment, cwd=self._folder)
        self._started = [p for p in self._started if p.is_running()]
        self._started.append(process)
        self._note({"event": "process", "host": self.name, "pid": process.pid, "started": started_at(process.pid)})
        return process

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """Run a short command to its end; TimeoutError when it takes longer than `timeout_s`."""
        return capture(argv, timeout_s=timeout_s, env=self._environment, cwd=self._folder)

    def put(self, local: Path, name: str) -> PurePosixPath:  # noqa: ARG002 - other hosts store it by that name
        """The file where it lies: this machine sees it already."""
        return PurePosixPath(local.resolve())

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        with whole_file(local, sync=False) as partial:
            shutil.move(Path(remote), partial)

    def facts(self) -> Description:
        hint = "`orch doctor` says what is missing"
        return described(self, "this machine", hint, timeout_s=_FACTS_TIMEOUT_S)

    def end_all(self) -> None:
        for process in self._started:
            process.end(_GRACE_S)
        self._started.clear()


class LocalFleet:
    """One machine for every placement; with several requesters, several names of it."""

    def __init__(self, hosts: Sequence[LocalHost], pinnings: Mapping[str, Pinning]) -> None:
        self._hosts, self._pinnings = tuple(hosts), pinnings  # by placement

    def pair(self, placement_id: str) -> Pair:
        pinning = self._pinnings[placement_id]
        return Pair(
            requesters=self._hosts,
            responder=self._hosts[0],
            requester_cpus=pinning.requester,
            responder_cpus=pinning.responder,
            more_cpus=pinning.more,
        )

    def hosts(self) -> Sequence[LocalHost]:
        return self._hosts

    def beside_cpu_s(self) -> float:
        return time.process_time()

    def fault(self) -> None:
        """None: were this machine gone, nobody would ask."""

    def describe(self) -> dict[str, Any]:
        return {"provider": "local", **pinning_facts(self._pinnings)}


class LocalDeployment:
    """Makes no host, and leaves no process behind; all that it makes lies in the run folder."""

    def __init__(self, plan: Plan, intent_log: IntentLog) -> None:
        self._plan = plan
        self._intent_log = intent_log
        self._hosts: list[LocalHost] = []

    def provision(self) -> None:
        """Do nothing: the host is there."""

    def deploy(self) -> LocalFleet:
        """One host under as many names as there are requesters."""
        names = ["local", *(f"local-{n}" for n in range(2, self._plan.requesters + 1))]
        workspace = self._intent_log.path / "staging" / "host"
        self._hosts = [LocalHost(workspace, name=name, run=self._run, note=self._note) for name in names]
        pinnings = {
            placement.id: on_this_machine(placement.pin or self._plan.pin) for placement in self._plan.placements
        }
        return LocalFleet(self._hosts, pinnings)

    def teardown(self) -> Receipt:
        """End what still runs of this run, also when it was started by an orch that was killed since.

        That is every process that was written down, with its group, and every one that carries the run's mark.
        """
        for host in self._hosts:
            host.end_all()
        events = (e for e in self._intent_log.events() if e.get("event") == "process")
        # One that ended before its start time was read has no identity.
        recorded = [Known(pid=e["pid"], started=e["started"]) for e in events if e.get("started") is not None]
        others: set[Known] = set()

        def still_there() -> list[Known]:
            seen = {*marked(RUN_MARK, self._run)}
            others.update(seen - {*recorded})
            return [*seen, *(p for p in recorded if p not in seen and p.is_alive)]

        left = processes.end(still_there)
        every = [*recorded, *others]
        return Receipt(
            provider="local",
            created=tuple(f"process {p.pid}" for p in every),
            destroyed=tuple(f"process {p.pid}" for p in every if not p.is_alive),
            left=tuple(str(p) for p in left),
            note="processes on this machine",
        )

    def describe(self) -> dict[str, Any]:
        return {"provider": "local", "hosts": [host.name for host in self._hosts]}

    @property
    def _run(self) -> str:
        return self._intent_log.path.resolve().name

    def _note(self, event: dict[str, Any]) -> None:
        # Not synced: what a power cut would lose, it would also end.
        self._intent_log.append(event, sync=False)


def _environment() -> dict[str, str]:
    """The user's environment, with `services` importable whatever the working folder is.

    Without the DSN of a database, which may hold a password: a responder that needs it gets it by stdin.
    """
    root = str(Path(services.__path__[0]).parent)
    inherited = os.environ.get("PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name != GIVEN}
    return {**environment, "PYTHONPATH": f"{root}{os.pathsep}{inherited}" if inherited else root}
