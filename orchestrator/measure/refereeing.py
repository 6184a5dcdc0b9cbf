"""Turns of independent load generators beside the trials of a run, each against a responder started as the trial's."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path, PurePosixPath

from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.cells import connections_of
from orchestrator.experiment.plan.contrasts import HTTP
from orchestrator.experiment.plan.own_json import DOCUMENT, TYPED, plan_way
from orchestrator.experiment.plan.plan import Cell, Plan, PlannedTrial
from orchestrator.experiment.providers import provider_of
from orchestrator.hosts.base import ContractBroken, Pair
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.target import Ask, Launched, TrialFailed
from orchestrator.referee import recorded
from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.generators import TOOLS, Found, Tool
from orchestrator.referee.readings import Figures, Unreadable, require_answered, require_possible
from orchestrator.results.manifest import RefereeRecord, TurnRecord
from orchestrator.results.verification import keep_output
from services.python.contract.limits import SESSION, TLS, TLS_1_3
from services.python.contract.lines import Load, Target, Warmup

WINDOW_S = 3
_REQUESTS = 64  # that are recorded; what comes in turn after so many comes again
_GRACE_S = 20.0  # beyond its window and the time-out of a request, until a program that does not end is hung
_SLOWEST_S = 10.0
_START_S = 0.5  # of a responder, or of a load generator until it asks
_TERMINATED = -15
_MOST_OUTPUT = 1 << 26  # bytes that a load generator may print
_PROTO = PurePosixPath("protos/orch.proto")


class _Failed(Exception):
    """A turn gave no figures; the message says why."""


@dataclass
class Refereeing:
    """Makes the turns of a run; nothing where the run has no referee."""

    context: RunContext
    found: dict[str, Found]
    _asked: dict[tuple[str, ...], Asked | str] = field(default_factory=dict)  # or why nothing was recorded, by exchange

    def take_turn(self, trial: PlannedTrial, cell: Cell, attempt: int, *, before: bool) -> None:
        """Have the cell's load generator measure, if it is its turn now; what goes wrong is kept as the turn's failure."""
        settings = self.context.referee
        if settings is None or cell.id not in settings.cells or comes_first(trial, self.context) != before:
            return
        tool = TOOLS[settings.cells[cell.id]]
        self.context.interrupts.checkpoint()
        self.context.listener.live(f"{tool.name}: {self.context.label(cell)}")
        turn = TurnRecord(
            index=trial.index,
            block=trial.block,
            cell=cell.id,
            attempt=attempt,
            tool=tool.name,
            came_first=before,
            started_wall_ns=self.context.clock.wall_ns(),
            told_s=window_of(cell),
        )
        turn = self._made(turn, tool, trial, cell)
        if turn.failure:
            self.context.folder.log(f"referee-{trial.index:04}-a{attempt}.txt", turn.failure)
            self.context.warn(f"{tool.name} gave no figures for {self.context.label(cell)}", turn.failure)
        self.context.folder.append({"event": "turn", "turn": asdict(turn)})

    def _made(self, turn: TurnRecord, tool: Tool, trial: PlannedTrial, cell: Cell) -> TurnRecord:
        try:
            asked = self._asked_of(cell, trial)
            with ExitStack() as ends:
                return self._measured(turn, tool, asked, cell, trial, ends)
        except TrialFailed as error:
            self.context.refuse_to_go_on_without_hosts()
            return replace(turn, failure=error.message)
        except (_Failed, Unreadable) as error:
            return replace(turn, failure=str(error))

    def _measured(
        self, turn: TurnRecord, tool: Tool, asked: Asked, cell: Cell, trial: PlannedTrial, ends: ExitStack
    ) -> TurnRecord:
        context, pair = self.context, self.context.hosts.pair(cell.placement).asked_from(1)
        ask = context.ask(cell, trial.seed)
        responder = Launched(ask=ask, pair=pair, interrupts=context.interrupts)
        ends.callback(responder.end)
        responder.start()
        told = responder.await_ready()
        how = self._turn(told, cell, ask, pair, turn.told_s)
        for name, content in tool.files(asked).items():
            Path(how.folder / name).write_bytes(content)
        program = self.found[tool.name].path
        warm_s = _warm_s(cell)
        self._run(tool.argv(program, asked, replace(how, window_s=warm_s)), pair, warm_s, how.timeout_s, ends)
        before = responder.stats("warm-up")
        text, elapsed_s = self._run(tool.argv(program, asked, how), pair, how.window_s, how.timeout_s, ends)
        answered = responder.stats("measure").answered - before.answered
        turn = replace(
            turn, elapsed_s=elapsed_s, answered=answered, sha256=keep_output(context.folder.path, turn, text)
        )
        try:
            figures: Figures = tool.read(text, how.in_flight)
            require_possible(figures, in_flight=how.in_flight, window_s=how.window_s, elapsed_s=elapsed_s)
            require_answered(figures, answered, how.in_flight)
        except Unreadable as error:
            return replace(turn, failure=str(error))
        return replace(turn, requests=figures.requests, window_s=figures.window_s, median_ns=figures.median_ns)

    def _turn(self, told: Target, cell: Cell, ask: Ask, pair: Pair, window_s: int) -> Turn:
        host = pair.requesters[0]
        authority = ask.authority_on(host)
        return Turn(
            host=told.host,
            port=told.port,
            in_flight=cell.load.concurrency,
            connections=connections_of(cell.factors, cell.load.concurrency),
            window_s=window_s,
            folder=host.workspace,
            keeps=cell.connection == "reuse",
            authority=None if authority is None else authority.path,
            proto=PurePosixPath(catalogue().folder).parent / _PROTO,
            timeout_s=min(cell.timeout_s, _SLOWEST_S),
        )

    def _run(
        self, argv: list[str], pair: Pair, window_s: float, timeout_s: float, ends: ExitStack
    ) -> tuple[str, float]:
        """What a program printed until its end, and how long it lived; _Failed when it hangs, crashes or prints too much."""
        name, clock = Path(argv[0]).name, self.context.clock
        began_s, parts, size = clock.monotonic_s(), list[str](), 0
        process = pair.requesters[0].start(argv, cpus=pair.requester_cpus)
        ends.callback(process.end)
        deadline_s = began_s + window_s + timeout_s + _GRACE_S
        try:
            with self.context.interrupts.waiting():
                while (line := process.read(max(0.0, deadline_s - clock.monotonic_s()))) is not None:
                    parts.append(line)
                    size += len(line.encode()) + 1
                    if size > _MOST_OUTPUT:
                        raise _Failed(f"{name} printed more than {_MOST_OUTPUT >> 20} MiB")
        except TimeoutError:
            raise _Failed(f"{name} was not done {timeout_s + _GRACE_S:g} s after its window; it was ended") from None
        except ContractBroken as error:
            raise _Failed(f"{name} was ended: {error}") from None
        elapsed_s = clock.monotonic_s() - began_s
        if (status := process.end()) not in (0, _TERMINATED):  # it may need a moment after its last line
            words = process.last_words().strip().rpartition("\n")[2]
            raise _Failed(f"{name} ended with {status}{f': {words}' if words else ''}")
        return "".join(f"{line}\n" for line in parts), elapsed_s

    def _asked_of(self, cell: Cell, trial: PlannedTrial) -> Asked:
        """What our requester sends for this cell, recorded once; _Failed where that could not be."""
        if cell.exchange not in self._asked:
            self._asked[cell.exchange] = self._recorded(cell, trial)
        found = self._asked[cell.exchange]
        if isinstance(found, str):
            raise _Failed(found)
        return found

    def _recorded(self, cell: Cell, trial: PlannedTrial) -> Asked | str:
        context, pair = self.context, self.context.hosts.pair(cell.placement).asked_from(1)
        plain = cell.having(**{TLS: "none", SESSION: "new"})
        ask = replace(
            context.ask(plain, trial.seed),
            load=Load(concurrency=1, requests=_REQUESTS),
            warmup=Warmup(requests=0, at_least_s=0.0),
            connection="reuse",
            certificates=None,
            processes=1,
        )
        target = _Overheard(ask=ask, pair=pair, interrupts=context.interrupts)
        outcome = context.bench().make(ask, pair, f"recorded-{trial.index:04}", target=target)
        if outcome.failure is not None:
            return f"its requests could not be recorded: {outcome.failure.message}"
        try:
            if self.context.referee is not None and self.context.referee.cells[cell.id] == GHZ:
                return recorded.grpc(target.sent, _method(context.operations[cell.operation].name))
            return recorded.http(target.sent)
        except recorded.NotRecorded as error:
            return f"its requests could not be recorded: {error}"


@dataclass(kw_only=True)
class _Overheard(Launched):
    """A responder behind a relay that keeps what the requester writes to it."""

    sent: list[bytes] = field(default_factory=list)
    _relay: Relay | None = None

    def await_ready(self) -> Target:
        told = super().await_ready()
        self._relay = Relay(told.host, told.port)
        return replace(told, port=self._relay.port)

    def end(self) -> None:
        if self._relay is not None:
            self.sent = self._relay.sent
            self._relay.close()
        super().end()


def comes_first(trial: PlannedTrial, context: RunContext) -> bool:
    """Whether the load generator asks before the trial: every other block, and in one block every other cell (ABBA)."""
    return (trial.block + context.places[trial.cell]) % 2 == 1


def expected_s(plan: Plan, settings: RefereeRecord) -> float:
    """How long the turns of a run take, in seconds: each has a warm-up and a window, and two starts."""
    each = {cell.id: _warm_s(cell) + window_of(cell) + 2 * _START_S for cell in plan.cells if cell.id in settings.cells}
    return sum(each.get(trial.cell, 0.0) for trial in plan.trials)


def _warm_s(cell: Cell) -> int:
    return max(1, ceil(cell.warmup.at_least_s))


def window_of(cell: Cell) -> int:
    """For how many seconds a load generator asks: as long as the cell, in whole seconds."""
    return WINDOW_S if cell.load.duration_s is None else max(1, ceil(cell.load.duration_s))


def require_same(settings: RefereeRecord | None, found: dict[str, Found]) -> None:
    """UsageError where a run that is resumed had another program of a load generator."""
    for name, tool in {} if settings is None else settings.tools.items():
        if name not in found or found[name].sha256 != tool.sha256:
            here = f"{name} {found[name].version}, another program" if name in found else f"no {name} that can be used"
            raise UsageError(
                f"the run cannot be resumed: it was begun beside {name} {tool.version}, and here is {here}",
                hint="install that one, or start a new run: orch run FILE --referee any",
            )


def _method(operation: str) -> str:
    """The method of an operation, by the name that protos/orch.proto gives it."""
    return f"orch.v1.Orch/{''.join(word.capitalize() for word in operation.split('_'))}"


WRK, OHA, GHZ = "wrk", "oha", "ghz"
_GRPC, _HTTP = "gRPC", "HTTP/1.1"  # transports, as manifests declare them

# What is the responder's alone, what is in the requests as they were recorded, and what a program can be told. Whatever
# else differs from its default, the independent program would not do.
_FOLLOWED = frozenset({"connection", TLS, "document", "workers", "store", "pool", "driver", "fields", "connections"})

_KINDS = {
    "stream": "it reads a stream, and they send requests",
    "codec": "it encodes and decodes, and asks nobody",
    "task": "it times several calls as one, and they time each",
}


def tools_for(plan: Plan, cell: Cell) -> tuple[tuple[str, ...], str]:
    """The load generators that can ask a cell, the best first; where there is none, why, as a clause."""
    if reason := _why_none(plan, cell):
        return (), reason
    is_plain, keeps = cell.factors.get(TLS) != TLS_1_3, cell.connection == "reuse"
    if _transport(plan, cell) == _GRPC:
        return (GHZ,), ""
    return ((WRK, OHA) if is_plain and keeps else (OHA,)), ""


def _why_none(plan: Plan, cell: Cell) -> str:
    stacks = {stack.id: stack for stack in plan.stacks}
    places = {placement.id: placement for placement in plan.placements}
    transport = _transport(plan, cell)
    if cell.kind in _KINDS:
        return _KINDS[cell.kind]
    if stacks[cell.stack].external is not None:
        return "it is your own service: only responders of orch are asked"
    is_here = places[cell.placement].kind == "local" and not provider_of(plan.provider).makes_hosts
    if not is_here:
        return "it is not on this machine alone, where they run"
    if cell.mixed:
        return "it mixes operations, and they ask one"
    if cell.load.rate_per_s is not None or cell.find is not None:
        return "its load is open: who is late, and from when latency counts, is each program's own rule"
    if cell.load.think_s:
        return "its workers rest between requests, and theirs do not"
    if transport not in (_GRPC, _HTTP):
        return f"none of them speaks {transport or 'what it speaks'}"
    for factor in OF_THE_CALL:
        value = cell.factors.get(factor.name, factor.default)
        if value is not None and value != factor.default and factor.name not in _FOLLOWED:
            return f"they cannot be told `{factor.name}: {value}`"
    return _why_not_grpc(plan, cell) if transport == _GRPC else _why_not_http(cell)


def _why_not_grpc(plan: Plan, cell: Cell) -> str:
    if cell.connection != "reuse":
        return "ghz keeps its connections"
    if plan_way(plan, cell.stack, cell.operation, cell.factors.get(DOCUMENT)) == TYPED:
        return "its document is a message of its own, which is compiled for a run"
    return ""


def _why_not_http(cell: Cell) -> str:
    shared = cell.factors.get("connections")
    return "they have a connection for each request in flight" if isinstance(shared, int) else ""


def _transport(plan: Plan, cell: Cell) -> str:
    """What carries its messages, as far as that is known; a version of HTTP that it chose instead of the declared one."""
    declared = str((plan.resolved.get(cell.stack, {}).get("parts") or {}).get("transport", ""))
    version = cell.factors.get(HTTP)
    declared = _HTTP if declared == f"Connect over {_HTTP}" else declared
    return declared if declared != _HTTP or version in (None, "1.1") else f"HTTP/{version}"


MOST_BYTES = 32 << 20  # kept in all; what comes later is passed on, and forgotten
_CHUNK = 1 << 16
_PATIENCE_S = 10.0


class Relay:
    """Where a requester connects to: `port`; `sent` has what it wrote, by connection, in the order of their opening."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listener = socket.create_server((host, 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._kept: list[bytearray] = []
        self._free = MOST_BYTES
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def sent(self) -> list[bytes]:
        """What was written to each connection so far."""
        with self._lock:
            return [bytes(of) for of in self._kept]

    def close(self) -> None:
        """End every connection, and listen no more. Idempotent."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(_PATIENCE_S)  # from now on no connection is added
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join(_PATIENCE_S)
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target, timeout=_PATIENCE_S)
            except OSError:
                return
            server.settimeout(None)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [client, server]
            kept = bytearray()
            with self._lock:
                self._kept.append(kept)
            for source, target, into in ((client, server, kept), (server, client, None)):
                thread = threading.Thread(target=self._pass_on, args=(source, target, into), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if kept is not None:
                    self._keep(chunk, kept)
                target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _keep(self, chunk: bytes, kept: bytearray) -> None:
        with self._lock:
            taken = chunk[: max(0, self._free)]
            self._free -= len(taken)
            kept += taken
