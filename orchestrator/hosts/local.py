"""The machine that orch runs on, as the only host: no host is made, processes are started and ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

import services
from orchestrator.errors import MissingError, ProvisionError
from orchestrator.experiment.plan import Plan
from orchestrator.hosts.base import Completed, Pair, facts_of
from orchestrator.hosts.local_process import LocalProcess, started_at
from orchestrator.hosts.pinning import Pinning, on_this_machine
from orchestrator.hosts.provider import Ledger, Receipt

ADDRESS = "127.0.0.1"
LOCK = Path(".orch") / "local.lock"
_FACTS_TIMEOUT_S = 60.0
_GRACE_S = 5.0


class LocalHost:
    """The machine that orch runs on; `note` is told of every process, so that a later teardown finds it."""

    def __init__(self, workspace: Path, *, name: str = "local", note: Callable[[dict[str, Any]], None]) -> None:
        self.name = name
        self.address = ADDRESS
        self.zone: str | None = None
        self._folder = workspace.resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self.workspace = PurePosixPath(self._folder)
        self._note = note
        self._started: list[LocalProcess] = []

    def python(self) -> Sequence[str]:
        """The interpreter that runs orch, which has `services` too."""
        return (sys.executable,)

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> LocalProcess:
        """Start a process of the contract, on those CPUs only where taskset is to be had."""
        pinned = ["taskset", "-c", cpus, *argv] if cpus is not None and shutil.which("taskset") else list(argv)
        process = LocalProcess(pinned, env=_environment(), cwd=self._folder)
        self._started = [p for p in self._started if p.is_running()]
        self._started.append(process)
        self._note({"event": "process", "host": self.name, "pid": process.pid, "started": started_at(process.pid)})
        return process

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        """Run a short command to its end; TimeoutError when it takes longer than `timeout_s`."""
        try:
            done = subprocess.run(
                list(argv),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                env=_environment(),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{argv[0]} did not end within {timeout_s:g} s") from error
        return Completed(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def put(self, local: Path, name: str) -> PurePosixPath:  # noqa: ARG002 - other hosts store it by that name
        """The file where it lies: this machine sees it already."""
        return PurePosixPath(local.resolve())

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        """Move a file out of the workspace; it appears at `local` whole or not at all."""
        partial = local.with_name(f"{local.name}.partial")
        shutil.move(Path(remote), partial)
        partial.replace(local)

    def facts(self) -> dict[str, Any]:
        """What `services.harness.describe` says of this machine; ProvisionError when it cannot be run."""
        done = self.run([*self.python(), "-m", "services.harness.describe"], timeout_s=_FACTS_TIMEOUT_S)
        if done.returncode != 0:
            raise ProvisionError(
                f"this machine cannot be described: services.harness.describe ended with {done.returncode}: "
                f"{done.stderr.strip()[-300:]}",
                hint="`orch doctor` says what is missing",
            )
        return facts_of(done.stdout, "this machine")

    def end_all(self) -> None:
        """End every process that still runs."""
        for process in self._started:
            process.end(_GRACE_S)
        self._started.clear()


class LocalFleet:
    """One machine for every placement; with several requesters, several names of it."""

    def __init__(self, hosts: Sequence[LocalHost], pinning: Pinning) -> None:
        self._hosts = tuple(hosts)
        self._pinning = pinning

    def pair(self, placement_id: str) -> Pair:  # noqa: ARG002 - all placements are this machine
        """Both ends on this machine, each pinned as the plan wants."""
        return Pair(
            requesters=self._hosts,
            responder=self._hosts[0],
            requester_cpus=self._pinning.requester,
            responder_cpus=self._pinning.responder,
        )

    def hosts(self) -> Sequence[LocalHost]:
        """Every name of this machine."""
        return self._hosts

    def fault(self) -> None:
        """None: were this machine gone, nobody would ask."""

    def describe(self) -> dict[str, Any]:
        """The provider, the pinning, and what of it is not as wanted."""
        warnings = [self._pinning.warning] if self._pinning.warning else []
        return {
            "provider": "local",
            "requester_cpus": self._pinning.requester,
            "responder_cpus": self._pinning.responder,
            "warnings": warnings,
        }


class LocalDeployment:
    """Makes no host. Holds the machine's lock while it measures, and leaves no process behind."""

    def __init__(self, plan: Plan, ledger: Ledger) -> None:
        self._plan = plan
        self._ledger = ledger
        self._lock: TextIO | None = None
        self._hosts: list[LocalHost] = []

    def provision(self) -> None:
        """Take the lock; MissingError when another run is measuring here: the two would disturb each other."""
        if self._lock is None:
            self._lock = _lock(LOCK)

    def deploy(self) -> LocalFleet:
        """One host under as many names as there are requesters."""
        names = ["local", *(f"local-{n}" for n in range(2, self._plan.requesters + 1))]
        workspace = self._ledger.path / "staging" / "host"
        self._hosts = [LocalHost(workspace, name=name, note=self._note) for name in names]
        return LocalFleet(self._hosts, on_this_machine(self._plan.pin))

    def teardown(self) -> Receipt:
        """End what still runs of this run, also when it was started by an orch that was killed since."""
        for host in self._hosts:
            host.end_all()
        recorded = [e for e in self._ledger.events() if e.get("event") == "process"]
        left = [e for e in recorded if not _end_recorded(e["pid"], e["started"])]
        names = tuple(f"process {e['pid']}" for e in recorded)
        gone = tuple(f"process {e['pid']}" for e in recorded if e not in left)
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        return Receipt(
            provider="local",
            created=names,
            destroyed=gone,
            left=tuple(f"process {e['pid']}" for e in left),
            note="processes on this machine; no host was made",
        )

    def describe(self) -> dict[str, Any]:
        """Nothing stays up on this machine."""
        return {"provider": "local", "hosts": [host.name for host in self._hosts]}

    def _note(self, event: dict[str, Any]) -> None:
        # Not synced: what a power cut would lose, it would also end.
        self._ledger.append(event, sync=False)


def _environment() -> dict[str, str]:
    """The user's environment, with `services` importable whatever the working folder is."""
    root = str(Path(services.__path__[0]).parent)
    inherited = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{inherited}" if inherited else root}


def _lock(path: Path) -> TextIO:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("a+")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.seek(0)
        owner = handle.read().strip() or "unknown"
        handle.close()
        raise MissingError(
            f"another orch (process {owner}) is measuring on this machine; two at once would disturb each other",
            hint="wait until it has ended, or end it with Ctrl-C",
        ) from None
    handle.truncate(0)
    handle.write(f"{os.getpid()}\n")
    handle.flush()
    return handle


def _end_recorded(pid: int, started: str | None) -> bool:
    """End a process known by id and start time, and its group; whether it is gone. A reused id is left alone."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if started is None or started_at(pid) != started:
            return True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        deadline = time.monotonic() + _GRACE_S
        while started_at(pid) == started and time.monotonic() < deadline:
            time.sleep(0.02)  # not our child: there is nothing to wait on
    return started_at(pid) != started
