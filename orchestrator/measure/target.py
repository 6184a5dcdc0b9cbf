"""What one trial measures, who answers (a responder started for it, one that runs already, nobody), and how long to wait."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from orchestrator.catalogue.read import protocols
from orchestrator.contract_lines import Heard, heard
from orchestrator.experiment.model.factors import DATABASE, POSTGRESQL, SQLITE, STORE
from orchestrator.experiment.plan.cells import workers_told
from orchestrator.experiment.plan.plan import External
from orchestrator.files import sha256_of
from orchestrator.hosts.base import ContractBroken, Host, Pair, Process
from orchestrator.hosts.certificates import Certificates
from orchestrator.measure.interrupts import Interrupts
from services.python.contract.limits import Kind, Policy
from services.python.contract.lines import Authority, Load, Mixed, Payload, Schema, Warmup
from services.python.contract.lines import Target as Address
from services.python.contract.requester_lines import Progress, Start
from services.python.contract.responder_lines import Ready, Serve, Stats, Tls
from services.python.contract.streams import reads_for_s
from services.python.contract.strict import Line

_FILE = "store.sqlite3"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is asked, of whom, how; everything of a trial but its hosts."""

    protocol: str
    responder: str
    client: str
    operation: str
    payload: Payload = field(default_factory=Payload)
    connection: Policy = "reuse"
    load: Load = field(default_factory=Load)
    warmup: Warmup = field(default_factory=Warmup)
    timeout_s: float = 30.0
    seed: int = 0
    calls: int = 1
    knobs: dict[str, str] = field(default_factory=dict)
    schemas: Mapping[str, Schema] | None = None  # of its typed document, by the host that it lies on
    kind: Kind = "call"
    external: External | None = None  # the person's own service that answers; None: a responder of the catalogue
    beside: Path = Path()  # the experiment's folder, which the certificate of that service's authority stands in
    folder: str = ""  # where that service is started, on the responder's host
    certificates: Certificates | None = None  # of a trial over TLS
    mix: tuple[Mixed, ...] = ()  # the operations of a mix; `operation` and `payload` are those of its first
    processes: int = 1  # requester processes on each requester's host, which share the load
    requesters: int = 1  # hosts that share it; of more hosts than these each has the whole
    store: dict[str, str] = field(default_factory=dict)  # what its responder is told of the store; empty: in memory
    postgresql: str = ""  # the DSN of the server of this session, where cells need one
    turn_warm_up: int | None = None  # of a trial in turns, each as long as its load; None: it has one measured phase

    def resources_on(self, host: Host, database: str = "") -> dict[str, str] | None:
        """What that host's responder is told of what it holds; a file of SQLite lies in the workspace of the run there.

        `database`: the DSN of the server that stands with it, instead of the session's.
        """
        places = {SQLITE: str(host.workspace / _FILE), POSTGRESQL: database or self.postgresql}
        place = places.get(self.store.get(STORE, ""))
        documents = {"documents": self.payload.path} if self.payload.kind == "documents" and self.payload.path else {}
        return {**self.store, **({DATABASE: place} if place else {}), **documents} or None

    def schema_on(self, host: Host) -> Schema | None:
        """What that host's end is told of the document's message; None where no document travels typed."""
        return None if self.schemas is None else self.schemas[host.name]

    def tls_on(self, host: Host) -> Tls | None:
        """What that host's responder proves itself with; None where connections are plain."""
        return None if self.certificates is None else self.certificates.serving[host.name]

    def authority_on(self, host: Host) -> Authority | None:
        """By whom that host's requester verifies the responder; None where connections are plain."""
        if self.external is not None and self.external.authority:
            path = (self.beside / self.external.authority).resolve()
            return Authority(path=str(path), sha256=sha256_of(path))
        return None if self.certificates is None else self.certificates.trusted[host.name]


READY_S = 90.0  # a fifth of a core needs 10 s for the first import of the ten packages
STATS_S = 15.0
_CANNOT_START = 1  # the exit status of one that has said why, in its last line (protos/process.md)


class TrialFailed(Exception):
    """The trial gave no samples that count; `stage` is where it ended, `kind` a short word for why."""

    def __init__(self, stage: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.kind = kind
        self.message = message


class Target:
    """What answers one trial, from before its first request to its end; here nothing that orch starts, queries or ends."""

    ready: Ready | None = None  # its `ready` line; None where nothing prints one
    counts: bool = False  # whether it reports its stats

    def start(self) -> None:
        """Begin to get ready, without waiting; TrialFailed when that cannot be."""

    def await_ready(self) -> Address | None:
        """Wait until it is ready, and return where requesters reach it; None without a responder. TrialFailed."""
        return None

    def stats(self, stage: str) -> Stats | None:  # noqa: ARG002 - of those that report them
        """Return what it has done so far, in that stage of the trial; None where it does not report it. TrialFailed."""
        return None

    def cause(self, error: TrialFailed) -> TrialFailed:
        """The failure, or what of the target has led to it: what a requester saw may only follow from that."""
        return error

    def end(self) -> None:
        """End what was started for this trial and nothing else. Idempotent."""

    def last_words(self) -> str:
        """The tail of what it wrote on stderr, complete once it was ended; empty where orch cannot read it."""
        return ""


@dataclass(kw_only=True)
class Program(Target):
    """A process that is started on the pair's host for one trial and ended with it; `called` is who prints its lines."""

    pair: Pair
    interrupts: Interrupts
    ready: Ready | None = None
    counts: bool = True
    _process: Process | None = None
    called: ClassVar[str] = "the responder"

    def end(self) -> None:
        if self._process is not None:
            self._process.end()

    def last_words(self) -> str:
        return "" if self._process is None else self._process.last_words()

    @property
    def running(self) -> Process:
        """The process, which is there from `start` on."""
        assert self._process is not None  # noqa: S101 - narrows the type
        return self._process

    def send(self, line: str, stage: str, died: str = "died") -> None:
        """Write a line to it. TrialFailed."""
        try:
            self.running.send(line)
        except BrokenPipeError:
            raise self.failed(stage, "responder-died", died) from None

    def line(self, stage: str, timeout_s: float, hung: str, died: str = "died") -> str:
        """The next line of it. TrialFailed with what it did, `hung` or `died`, where there is none."""
        try:
            with self.interrupts.waiting():
                line = self.running.read(timeout_s)
        except TimeoutError:
            raise self.failed(stage, "responder-hung", hung) from None
        except ContractBroken as error:
            raise TrialFailed(stage, "protocol", f"{self.called} was ended: {error}") from None
        if line is None:
            raise self.failed(stage, "responder-died", died)
        return line

    def failed(self, stage: str, kind: str, what: str) -> TrialFailed:
        """The failure of one that did this."""
        return TrialFailed(stage, kind, f"{self.called} {what}")


@dataclass(kw_only=True)
class Launched(Program):
    """A responder's process."""

    ask: Ask
    identity: str = field(default_factory=lambda: secrets.token_hex(8))

    def start(self) -> None:
        host = self.pair.responder
        serve = Serve(
            protocol=self.ask.protocol,
            implementation=self.ask.responder,
            host=host.address,
            identity=self.identity,
            knobs=self.ask.knobs,
            schema=self.ask.schema_on(host),
            tls=self.ask.tls_on(host),
            operations=list(dict.fromkeys((self.ask.operation, *(mixed.operation for mixed in self.ask.mix)))),
            resources=self.ask.resources_on(host, self.pair.database),
        )
        language = protocols()[self.ask.protocol].responder(self.ask.responder).language
        self._process = host.start(language.argv("respond", host), cpus=self.pair.responder_cpus)
        self.send(serve.to_json(), "start")

    def await_ready(self) -> Address:
        ready = of_contract(Ready, self.line("start", READY_S, f"was not ready within {READY_S:g} s"), "start")
        if ready.identity != self.identity:
            raise TrialFailed("start", "identity", "the responder answers with another identity than it was given")
        workers, serving = workers_told(self.ask.knobs), ready.workers or 1
        if serving != workers:
            raise TrialFailed(
                "start", "protocol", f"the responder answers from {serving} processes, not from {workers}"
            )
        self.ready = ready
        return Address(host=self.pair.responder.address, port=ready.port, identity=self.identity)

    def stats(self, stage: str) -> Stats:
        self.send("stats", stage)
        stats = of_contract(Stats, self.line(stage, STATS_S, f"did not answer `stats` within {STATS_S:g} s"), stage)
        workers, serving = workers_told(self.ask.knobs), stats.workers
        if serving is not None and len(serving) != workers:
            raise TrialFailed(
                stage, "protocol", f"the responder's `stats` are of {len(serving)} workers, not of {workers}"
            )
        return stats

    def cause(self, error: TrialFailed) -> TrialFailed:
        """Where the responder has died, that, and how."""
        is_told = error.kind == "protocol" or (error.stage == "start" and error.kind != "responder-died")
        try:
            if is_told or self._process is None or _has_line_or_lives(self._process):
                return error
        except ContractBroken as broken:
            return TrialFailed(error.stage, "protocol", f"the responder was ended: {broken}")
        status = self._process.end()
        why = self._process.last_words().strip().rpartition("\n")[2]
        if error.stage == "start" and status == _CANNOT_START and why:
            return TrialFailed(error.stage, "responder-died", f"the responder did not start: {why}")
        how = f"exit status {status}" if status >= 0 else f"killed by signal {-status}"
        seen = "" if error.kind == "responder-died" else f"; {error.message}"
        return TrialFailed(error.stage, "responder-died", f"the responder died ({how}){seen}")


@dataclass(kw_only=True)
class Given(Target):
    """A service that runs already, at an address: orch sends requests, and never starts or ends it."""

    host: str
    port: int

    def await_ready(self) -> Address:
        """Where it is, by its name, which certificates and virtual hosts are of."""
        return Address(host=self.host, port=self.port, anonymous=True)


def of_contract(kind: type[Heard], text: str, stage: str) -> Heard:
    """A responder's line as its type; TrialFailed when it is none of the contract."""
    try:
        return heard(kind, text, "responder")
    except ValueError as error:
        raise TrialFailed(stage, "protocol", str(error)) from error


def _has_line_or_lives(process: Process) -> bool:
    try:
        return process.read(0) is not None
    except TimeoutError:
        return True


_SPARE_S = 30.0
_SPARE_LINES = 100
_LONGEST_REST = 32  # times the mean: none that is drawn is longer (protos/payloads.md)
_LINES_PER_S = 10.0  # ten times what the contract allows


@dataclass(kw_only=True)
class Deadline:
    """What has been heard of a requester, and whether it is worth waiting on.

    A requester prints at most one line a second, and none while a request hangs or all its workers rest: so every line may
    take as long as a request and a rest may. One whose requests all fail gives up by itself; a load that ends in time must
    have ended by then.
    """

    ask: Ask
    ready_s: float
    since_s: float = 0.0
    stage: str = "check"
    started_s: float = 0.0
    _lines: int = 0

    @property
    def _longest_s(self) -> float:
        """How long a sample may take: the time-out is one call's."""
        return self.ask.timeout_s * self.ask.calls

    @property
    def next_line_s(self) -> float:
        """How long the next line may take, seconds."""
        if self.stage == "check":
            return self._longest_s + self.ready_s
        return self._longest_s + self._rest_s + _SPARE_S

    @property
    def _rest_s(self) -> float:
        """How long all workers may rest at once; no rest goes on beyond the window."""
        load = self.ask.load
        longest_s = load.think_s * (_LONGEST_REST if load.thinking == "exponential" else 1)
        return longest_s if load.duration_s is None else min(longest_s, load.duration_s)

    @property
    def at_most_s(self) -> float | None:
        """The longest that the check may take; after it, warm-up and load, where the load is bounded in time."""
        if self.stage == "check":
            return 3 * self.next_line_s
        if self.ask.load.duration_s is None:
            return None
        ask, lasts_s = self.ask, self.ask.load.duration_s
        if ask.kind == "stream" and ask.payload.per_second:
            lasts_s = reads_for_s(lasts_s, ask.payload.per_second, ask.knobs)
        return ask.warmup.at_most_s + lasts_s + 2 * self._longest_s + _SPARE_S

    def heard(self, line: Line, now_s: float) -> bool:
        """Take a line in, heard at `now_s`; whether to wait for another."""
        self._lines += 1
        match line:
            case Start() if self.stage == "check":  # only the first one sets the clock
                self.stage, self.started_s = "warm-up", now_s
            case Progress(phase=phase):
                self.started_s = now_s if self.stage == "check" else self.started_s
                self.stage = "measure" if phase == "measured" else "warm-up"
        began_s, at_most_s = self.since_s if self.stage == "check" else self.started_s, self.at_most_s
        return at_most_s is None or now_s - began_s <= at_most_s

    def hears_too_much(self, now_s: float) -> bool:
        """Whether the requester prints far more lines than one a second: to read them would disturb the measuring."""
        return self._lines > _SPARE_LINES + _LINES_PER_S * (now_s - self.since_s)
