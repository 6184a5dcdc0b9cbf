"""Hosts, processes and a clock without a machine behind them: everything is scripted, and everything is written down."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from orchestrator.clock import Clock
from orchestrator.errors import Interrupted
from orchestrator.hosts.base import Completed, Pair
from orchestrator.hosts.lifecycle import Receipt
from orchestrator.hosts.output import capture
from services.python.contract.description import Description
from services.python.contract.lines import VERSION
from services.python.load.record import HEADER

ROW = struct.Struct("<14q")


def rows(count: int, *, warmup: int = 0, rtt_ns: int = 1_000_000, start_ns: int = 0, kind: int = 0) -> bytes:
    """A raw timing record of so many sequential requests, each as long as the other."""
    stamps = (start_ns + n * 2 * rtt_ns for n in range(count))
    return HEADER + b"".join(
        ROW.pack(n + 1, 0 if n < warmup else 1, 0, sent, sent, sent + rtt_ns, -1, 64, 64, 0, kind, 0, 0, 0)
        for n, sent in enumerate(stamps)
    )


def done_line(requests: int = 10, *, errors: dict[str, int] | None = None, window_s: float = 1.0) -> dict[str, Any]:
    """What a requester prints at its end."""
    return {
        "type": "done",
        "contract": VERSION,
        "rows": requests,
        "requests": requests,
        "warmup_requests": 0,
        "measured_s": window_s,
        "errors": errors or {},
        "error_examples": {kind: f"an example of {kind}" for kind in errors or {}},
        "anchor": {"wall_ns": 0, "monotonic_ns": 0},
        "anchor_end": {"wall_ns": 0, "monotonic_ns": int(window_s * 1e9)},
    }


@dataclass
class FakeTime:
    """A clock that stands still until somebody lets time pass."""

    now_s: float = 1_000.0

    def clock(self) -> Clock:
        """The clock that the code under test reads."""
        return Clock(
            wall_ns=lambda: int(self.now_s * 1e9), monotonic_s=lambda: self.now_s, sleep=lambda s: self.passes(s)
        )

    def passes(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds


Line = str | dict[str, Any] | None | BaseException
Talk = Callable[["FakeProcess"], Iterator[Line]]


class FakeProcess:
    """Speaks the lines of its script: a dict becomes JSON, None ends the output, an exception is raised by `read`."""

    def __init__(self, host: FakeHost, role: str, argv: Sequence[str], talk: Talk, words: str) -> None:
        self.host = host
        self.role = role
        self.argv = list(argv)
        self.received: list[str] = []
        self.has_ended = False
        self._words = words
        self._talk = talk(self)

    @property
    def serve(self) -> dict[str, Any]:
        """What this responder was told to answer."""
        return json.loads(self.received[0])

    @property
    def trial(self) -> dict[str, Any]:
        """The trial that this requester was sent."""
        return json.loads(self.received[0])

    def send(self, line: str) -> None:
        if self.has_ended:
            raise BrokenPipeError
        self.received.append(line)
        if self.role == "responder" and len(self.received) == 1:
            self.role = f"responder {self.serve['protocol']}"
            self.host.diary.append(f"start {self.role}")

    def read(self, timeout_s: float) -> str | None:
        line = next(self._talk, None)
        if isinstance(line, BaseException):
            raise line
        return json.dumps(line) if isinstance(line, dict) else line

    def close_stdin(self) -> None:
        """Nothing to close."""

    def end(self, grace_s: float = 5.0) -> int:
        if not self.has_ended:
            self.has_ended = True
            self.host.diary.append(f"end {self.role}")
        return 0

    def last_words(self) -> str:
        return self._words


def ready_line(process: FakeProcess, **changes: Any) -> dict[str, Any]:
    """What a responder prints at first."""
    identity = process.serve["identity"]
    return {
        "type": "ready",
        "contract": VERSION,
        "port": 4711,
        "implementation": "fake",
        "identity": identity,
        **changes,
    }


def stats_line(**changes: Any) -> dict[str, Any]:
    """What a responder prints when it is asked."""
    return {"type": "stats", "answered": 10, "peers": 2, "cpu_s": 0.1, "host": {}, **changes}


def checked_line() -> dict[str, Any]:
    """What a requester prints at first."""
    return {"type": "checked", "contract": VERSION, "body_bytes_sent": 64, "body_bytes_received": 64}


def good_responder(process: FakeProcess) -> Iterator[Line]:
    """Ready at once, and answers `stats` as often as it is asked."""
    yield ready_line(process)
    while True:
        yield stats_line()


def good_requester(process: FakeProcess) -> Iterator[Line]:
    """Checks one reply, and measures where there is something to measure."""
    yield checked_line()
    if process.trial["load"]["requests"] == 0:
        yield done_line(0)
        return
    yield {"type": "start", "anchor": {"wall_ns": 0, "monotonic_ns": 0}}
    if process.trial["hold"]:
        yield {"type": "warm", "requests": 0}
        (word,) = process.received[1:]
        assert word.partition(" ")[0] == "measure"
    process.host.time.passes(2.0)
    Path(process.trial["record"]).write_bytes(rows(10))
    yield {"type": "progress", "phase": "measured", "requests": 5, "elapsed_s": 1.0}
    yield done_line(10)


def good_ping(process: FakeProcess) -> Iterator[Line]:
    """Five echoes of a tenth of a millisecond."""
    process.host.time.passes(0.5)
    Path(json.loads(process.received[0])["record"]).write_bytes(rows(5, rtt_ns=100_000))
    yield {
        "type": "done",
        "contract": VERSION,
        "method": "icmp-raw",
        "sent": 5,
        "received": 5,
        "min_ms": 0.1,
        "avg_ms": 0.1,
    }


@dataclass
class FakeHost:
    """A host whose processes follow scripts. `diary` is what happened, in order."""

    folder: Path
    time: FakeTime
    diary: list[str]
    name: str = "fake"
    address: str = "198.18.0.1"
    responder: Callable[[Sequence[str]], Talk] = lambda argv: good_responder
    requester: Callable[[int], Talk] = lambda number: good_requester
    ping: Talk = good_ping
    facts_now: Description = field(default_factory=lambda: Description(kernel="6.1"))
    last_words: str = "so long"
    processes: list[FakeProcess] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.workspace = PurePosixPath(self.folder)
        self.services = PurePosixPath("/services")

    def python(self) -> Sequence[str]:
        return ("python",)

    def start(self, argv: Sequence[str], *, cpus: str | None = None) -> FakeProcess:
        if "services.python.programs.ping" in argv:
            role, talk = "ping", self.ping
        elif "services.python.programs.respond" in argv:
            role, talk = "responder", self.responder(argv)
        else:
            role, talk = "requester", self.requester(sum(p.role == "requester" for p in self.processes))
        process = FakeProcess(self, role, argv, talk, self.last_words)
        self.processes.append(process)
        if role != "responder":  # what it answers is in its first line
            self.diary.append(f"start {role}")
        return process

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        raise AssertionError("the run loop runs no short commands")

    def put(self, local: Path, name: str) -> PurePosixPath:
        return PurePosixPath(local)

    def fetch(self, remote: PurePosixPath, local: Path) -> None:
        shutil.move(Path(remote), local)

    def facts(self) -> Description:
        return self.facts_now

    @property
    def left_behind(self) -> list[str]:
        """Processes that nobody ended."""
        return [p.role for p in self.processes if not p.has_ended]


class DistantHost(FakeHost):
    """One that has a file only where it was put, and runs what it is told to."""

    def put(self, local: Path, name: str) -> PurePosixPath:
        return PurePosixPath(shutil.copy(local, self.folder / name))

    def run(self, argv: Sequence[str], *, timeout_s: float) -> Completed:
        return capture(argv, timeout_s=timeout_s)


@dataclass
class FakeFleet:
    """The same two ends for every placement."""

    requesters: tuple[FakeHost, ...]
    responder: FakeHost
    gone: str | None = None

    def pair(self, placement_id: str) -> Pair:
        return Pair(self.requesters, self.responder)

    def hosts(self) -> Sequence[FakeHost]:
        return (*self.requesters, self.responder)

    def beside_cpu_s(self) -> float | None:
        return None

    def fault(self) -> str | None:
        return self.gone

    def describe(self) -> dict[str, Any]:
        return {"provider": "fake"}


@dataclass
class FakeDeployment:
    """Hands over a fleet, and writes down what it was asked for; `fails` raises at a step."""

    fleet: FakeFleet
    diary: list[str]
    fails: dict[str, BaseException] = field(default_factory=dict)
    left: tuple[str, ...] = ()

    def provision(self) -> None:
        self._step("provision")

    def deploy(self) -> FakeFleet:
        self._step("deploy")
        return self.fleet

    def teardown(self) -> Receipt:
        self._step("teardown")
        return Receipt(provider="fake", created=("h",), destroyed=() if self.left else ("h",), left=self.left)

    def describe(self) -> dict[str, Any]:
        return {"provider": "fake", "hosts": ["h"]}

    def _step(self, name: str) -> None:
        self.diary.append(name)
        if name in self.fails:
            raise self.fails[name]


@dataclass
class Told:
    """A listener that remembers."""

    lines: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    live_lines: list[str] = field(default_factory=list)

    def progress(self, text: str) -> None:
        self.lines.append(text)

    def live(self, text: str) -> None:
        self.live_lines.append(text)

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def script(*lines: Line) -> Talk:
    """A process that speaks these lines and no more."""

    def talk(process: FakeProcess) -> Iterator[Line]:
        yield from lines

    return talk


def interrupted() -> Interrupted:
    """What a Ctrl-C becomes where the run loop waits."""
    return Interrupted("interrupted by Ctrl-C")


def words(diary: Iterable[str], *wanted: str) -> list[str]:
    """The diary's entries that begin with one of `wanted`."""
    return [entry for entry in diary if entry.startswith(wanted)]
