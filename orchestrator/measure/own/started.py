"""A service of the person's own, started afresh for each trial and ended with it."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.experiment.plan.plan import Start
from orchestrator.hosts.base import Pair, Process
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import TrialFailed
from services.python.contract.lines import Target as Told
from services.python.contract.responder_lines import Ready, Stats
from services.python.contract.templates import render

_LOOK_S = 0.02
_ONE_LOOK_S = 2.0
_LAST_WORDS = 4_000  # characters
_LAST_LINES = 3
_LEAST_ERROR = 400
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SERVING = b"\x08\x01"  # a HealthCheckResponse whose status is SERVING


@dataclass(kw_only=True)
class Started:
    """A person's own service, started on the responder's CPUs for one trial and ended with its process tree.

    Its output goes to a file. `answered` and `peers` of its stats are 0: it does not count for us.
    """

    start_as: Start
    pair: Pair
    interrupts: Interrupts
    beside: Path
    ready: Ready | None = None
    counts: bool = True
    _port: int = 0
    _process: Process | None = None

    @property
    def _output(self) -> Path:
        return Path(self.pair.responder.workspace / f"service-{self._port}.txt")

    def start(self) -> None:
        """Start it on a port that is free now."""
        with socket.socket() as free:
            free.bind((self.pair.responder.address, 0))
            self._port = free.getsockname()[1]
        start = self.start_as
        folder = (self.beside / start.folder).resolve()
        words = [word.replace("{port}", str(self._port)).replace("{python}", sys.executable) for word in start.argv]
        environment = [f"{name}={render(value, {}, os.environ)}" for name, value in start.env.items()]
        shell = 'exec >"$1" 2>&1; cd "$2"; shift 2; exec env "$@"'
        argv = ["sh", "-c", shell, "sh", str(self._output), str(folder), *environment, *words]
        self._process = self.pair.responder.start(argv, cpus=self.pair.responder_cpus)

    def await_ready(self) -> Told:
        """Wait until it can be asked, within its limit."""
        address, start = self.pair.responder.address, self.start_as
        deadline_s = time.monotonic() + start.within_s
        with self.interrupts.waiting():
            while not self._is_ready(address):
                if self._has_ended():
                    raise TrialFailed(
                        "start", "responder-died", f"the service ended before it was ready{self._words()}"
                    )
                if time.monotonic() > deadline_s:
                    message = f"the service was not ready by {start.ready} within {start.within_s:g} s{self._words()}"
                    raise TrialFailed("start", "responder-hung", message)
                time.sleep(_LOOK_S)
        return Told(host=address, port=self._port, anonymous=True)

    def stats(self, stage: str) -> Stats:  # noqa: ARG002 - it is looked at, not asked
        """CPU time and memory of its process tree."""
        cpu_s, memory_bytes = tree_usage(self._pid)
        return Stats(answered=0, peers=0, cpu_s=cpu_s, memory_bytes=memory_bytes, memory_since="process")

    def cause(self, error: TrialFailed) -> TrialFailed:
        """Where the service has died, that."""
        if error.stage == "start" or not self._has_ended():
            return error
        return TrialFailed(error.stage, "responder-died", f"the service ended: {error.message}{self._words()}")

    def end(self) -> None:
        """End it and all that it started."""
        if self._process is not None:
            self._process.end()

    def last_words(self) -> str:
        """The tail of its output."""
        return self._text().strip()[-_LAST_WORDS:]

    @property
    def _pid(self) -> int:
        return int(getattr(self._process, "pid", 0))

    def _has_ended(self) -> bool:
        return not (Path("/proc") / str(self._pid)).exists() or not _alive(self._pid)

    def _text(self) -> str:
        try:
            return self._output.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _words(self) -> str:
        """Its command, and its last lines."""
        lines = self._text().strip().splitlines()[-_LAST_LINES:]
        words = f", whose last words are: {' / '.join(lines)}" if lines else ", without a word"
        return f" (`{' '.join(self.start_as.argv)}`){words}"

    def _is_ready(self, address: str) -> bool:
        start = self.start_as
        try:
            if start.ready == "line":
                return start.ready_at in self._text()
            if start.ready == "http":
                return _answers_http(address, self._port, start.ready_at)
            if start.ready == "grpc":
                return _is_serving(address, self._port)
            with socket.create_connection((address, self._port), timeout=_ONE_LOOK_S):
                return True
        except (OSError, http.client.HTTPException):
            return False


def _answers_http(address: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(address, port, timeout=_ONE_LOOK_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status < _LEAST_ERROR
    finally:
        connection.close()


def _is_serving(address: str, port: int) -> bool:
    import grpc

    with grpc.insecure_channel(f"{address}:{port}", (("grpc.enable_http_proxy", 0),)) as channel:
        try:
            check: Any = channel.unary_unary("/grpc.health.v1.Health/Check")
            return bool(check(b"", timeout=_ONE_LOOK_S) == _SERVING)
        except grpc.RpcError:
            return False


def tree_usage(root: int) -> tuple[float, int]:
    """Return CPU seconds and resident bytes of a process with all its descendants, those included that have ended."""
    parents: dict[int, tuple[int, float, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (usage := _process(entry)):
            parents[int(entry.name)] = usage
    tree, more = {root}, True
    while more:
        children = {pid for pid, (parent, _, _) in parents.items() if parent in tree} - tree
        tree |= children
        more = bool(children)
    every = [parents[pid] for pid in tree if pid in parents]
    return sum(cpu_s for _, cpu_s, _ in every), sum(memory for _, _, memory in every)


def _process(entry: Path) -> tuple[int, float, int] | None:
    """Parent, CPU seconds with those of children that were waited for, and resident bytes; see proc(5)."""
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = sum(map(int, fields[11:15]))
    return int(fields[1]), ticks / _TICKS_PER_S, int(fields[21]) * _PAGE_BYTES


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
