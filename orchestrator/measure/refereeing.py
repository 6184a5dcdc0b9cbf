"""Turns of independent load generators beside the trials of a run, each against a responder started as the trial's."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path, PurePosixPath

from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.model.factors import OF_THE_CALL
from orchestrator.experiment.plan.cells import connections_of
from orchestrator.experiment.plan.own.json_documents import DOCUMENT, TYPED, plan_way
from orchestrator.experiment.plan.parts import HTTP
from orchestrator.experiment.plan.plan import Cell, Plan, PlannedTrial
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.hosts.base import ContractBroken, Pair
from orchestrator.measure.run_context import RunContext
from orchestrator.measure.target import Ask, Launched, TrialFailed
from orchestrator.referee import recorded
from orchestrator.referee.exchange import Exchange, Turn, Unreadable, require_answered, require_possible
from orchestrator.referee.generators import TOOLS, Found, Tool
from orchestrator.referee.relay import Relay
from orchestrator.results.documents import digest, inside, whole_file
from orchestrator.results.manifest import RefereeRecord, TurnRecord
from services.python.contract.limits import SESSION, TLS, TLS_1_3
from services.python.contract.lines import Load, Target, Warmup

WINDOW_S = 3
_REQUESTS = 64  # that are recorded; what comes in turn after so many comes again
_GRACE_S = 20.0  # beyond its window and the time-out of a request, until a program that does not end is hung
_SLOWEST_S = 10.0
_TERMINATED = -15
_PROTO = PurePosixPath("protos/orch.proto")


class _Failed(Exception):
    """A turn gave no figures; the message says why."""


@dataclass
class Refereeing:
    """Makes the turns of a run; nothing where the run has no referee."""

    context: RunContext
    generators: dict[str, Found]
    _exchanges: dict[tuple[str, ...], Exchange] = field(default_factory=dict)

    def take_turn(self, trial: PlannedTrial, cell: Cell, attempt: int, *, before: bool) -> None:
        """Have the cell's load generator measure, if it is its turn now; what goes wrong is kept as the turn's failure."""
        context = self.context
        settings = context.referee
        if settings is None or cell.id not in settings.cells or comes_first(trial, context) != before:
            return
        tool = TOOLS[settings.cells[cell.id]]
        context.interrupts.checkpoint()
        context.listener.live(f"{tool.name}: {context.label(cell)}")
        turn = TurnRecord(
            index=trial.index,
            block=trial.block,
            cell=cell.id,
            attempt=attempt,
            tool=tool.name,
            came_first=before,
            started_wall_ns=context.clock.wall_ns(),
            told_s=window_of(cell),
        )
        try:
            if cell.exchange not in self._exchanges:
                self._exchanges[cell.exchange] = self._recorded(cell, trial)
            with ExitStack() as ends:
                turn = self._measured(turn, tool, self._exchanges[cell.exchange], cell, trial, ends)
        except TrialFailed as error:
            context.refuse_to_go_on_without_hosts()
            turn = replace(turn, failure=error.message)
        except (_Failed, Unreadable) as error:
            turn = replace(turn, failure=str(error))
        if turn.failure:
            context.folder.log(f"referee-{trial.index:04}-a{attempt}.txt", turn.failure)
            context.warn(f"{tool.name} gave no figures for {context.label(cell)}", turn.failure)
        context.folder.append({"event": "turn", "turn": asdict(turn)})

    def _measured(
        self, turn: TurnRecord, tool: Tool, exchange: Exchange, cell: Cell, trial: PlannedTrial, ends: ExitStack
    ) -> TurnRecord:
        context, pair = self.context, self.context.hosts.pair(cell.placement).asked_from(1)
        ask = context.ask(cell, trial.seed)
        responder = Launched(ask=ask, pair=pair, interrupts=context.interrupts)
        ends.callback(responder.end)
        responder.start()
        how = _turn(responder.await_ready(), cell, ask, pair, turn.told_s)
        for name, content in tool.files(exchange).items():
            Path(how.folder / name).write_bytes(content)
        program = self.generators[tool.name].path
        warming = replace(how, window_s=max(1, ceil(cell.warmup.at_least_s)))
        self._run(tool.argv(program, exchange, warming), pair, warming, ends)
        before = responder.stats("warm-up")
        text, elapsed_s = self._run(tool.argv(program, exchange, how), pair, how, ends)
        answered = responder.stats("measure").answered - before.answered
        path = inside(context.folder.path, turn.raw)
        with whole_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
        turn = replace(turn, elapsed_s=elapsed_s, answered=answered, sha256=digest(path))
        try:
            figures = tool.read(text, how.in_flight)
            require_possible(figures, in_flight=how.in_flight, window_s=how.window_s, elapsed_s=elapsed_s)
            require_answered(figures, answered, how.in_flight)
        except Unreadable as error:
            return replace(turn, failure=str(error))
        return replace(turn, requests=figures.requests, window_s=figures.window_s, median_ns=figures.median_ns)

    def _run(self, argv: list[str], pair: Pair, turn: Turn, ends: ExitStack) -> tuple[str, float]:
        """Return what a program printed until its end, and how long it lived; _Failed when it hangs or crashes."""
        name, clock = Path(argv[0]).name, self.context.clock
        began_s, lines, patience_s = clock.monotonic_s(), list[str](), turn.timeout_s + _GRACE_S
        process = pair.requesters[0].start(argv, cpus=pair.requester_cpus)
        ends.callback(process.end)
        deadline_s = began_s + turn.window_s + patience_s
        try:
            with self.context.interrupts.waiting():
                while (line := process.read(max(0.0, deadline_s - clock.monotonic_s()))) is not None:
                    lines.append(f"{line}\n")
        except TimeoutError:
            raise _Failed(f"{name} was not done {patience_s:g} s after its window; it was ended") from None
        except ContractBroken as error:
            raise _Failed(f"{name} was ended: {error}") from None
        elapsed_s = clock.monotonic_s() - began_s
        if (status := process.end()) not in (0, _TERMINATED):  # it may need a moment after its last line
            words = process.last_words().strip().rpartition("\n")[2]
            raise _Failed(f"{name} ended with {status}{f': {words}' if words else ''}")
        return "".join(lines), elapsed_s

    def _recorded(self, cell: Cell, trial: PlannedTrial) -> Exchange:
        """Return what our requester sends for this cell; _Failed where that cannot be recorded."""
        context, pair = self.context, self.context.hosts.pair(cell.placement).asked_from(1)
        ask = replace(
            context.ask(cell.having(**{TLS: "none", SESSION: "new"}), trial.seed),
            load=Load(concurrency=1, requests=_REQUESTS),
            warmup=Warmup(requests=0, at_least_s=0.0),
            connection="reuse",
            certificates=None,
            processes=1,
        )
        target = _Overheard(ask=ask, pair=pair, interrupts=context.interrupts)
        outcome = context.bench().make(ask, pair, f"recorded-{trial.index:04}", target=target)
        if outcome.failure is not None:
            raise _Failed(f"its requests could not be recorded: {outcome.failure.message}")
        try:
            if context.referee is not None and context.referee.cells[cell.id] == GHZ:
                return recorded.grpc(target.sent, _method(context.operations[cell.operation].name))
            return recorded.http(target.sent)
        except recorded.NotRecorded as error:
            raise _Failed(f"its requests could not be recorded: {error}") from None


def _turn(target: Target, cell: Cell, ask: Ask, pair: Pair, window_s: int) -> Turn:
    host = pair.requesters[0]
    authority = ask.authority_on(host)
    return Turn(
        host=target.host,
        port=target.port,
        in_flight=cell.load.concurrency,
        connections=connections_of(cell.factors, cell.load.concurrency),
        window_s=window_s,
        folder=host.workspace,
        keeps=cell.connection == "reuse",
        authority=None if authority is None else authority.path,
        proto=PurePosixPath(catalogue().folder).parent / _PROTO,
        timeout_s=min(cell.timeout_s, _SLOWEST_S),
    )


@dataclass(kw_only=True)
class _Overheard(Launched):
    """A responder behind a relay that keeps what the requester writes to it."""

    sent: list[bytes] = field(default_factory=list)
    _relay: Relay | None = None

    def await_ready(self) -> Target:
        target = super().await_ready()
        self._relay = Relay(target.host, target.port)
        return replace(target, port=self._relay.port)

    def end(self) -> None:
        if self._relay is not None:
            self._relay.close()
            self.sent = [bytes(written) for written in self._relay.sent]
        super().end()


def comes_first(trial: PlannedTrial, context: RunContext) -> bool:
    """Return whether the load generator is first: in every other block, and in one block for every other cell (ABBA)."""
    return (trial.block + [*context.cells].index(trial.cell)) % 2 == 1


def window_of(cell: Cell) -> int:
    """Return how many seconds a load generator measures: as long as the cell, in whole seconds."""
    return WINDOW_S if cell.load.duration_s is None else max(1, ceil(cell.load.duration_s))


def require_same(settings: RefereeRecord, generators: dict[str, Found]) -> None:
    """UsageError where a run that is resumed had another program of a load generator."""
    for name, tool in settings.tools.items():
        if name not in generators or generators[name].sha256 != tool.sha256:
            raise UsageError(
                f"the run cannot be resumed: it was begun beside {name} {tool.version}, and that program is not here",
                hint="install that one, or start a new run: orch run FILE --referee any",
            )


def _method(operation: str) -> str:
    """The method of an operation, by the name that protos/orch.proto gives it."""
    return f"orch.v1.Orch/{''.join(word.capitalize() for word in operation.split('_'))}"


WRK, OHA, GHZ = "wrk", "oha", "ghz"
_GRPC, _HTTP = "gRPC", "HTTP/1.1"  # transports, as manifests declare them

# What is the responder's alone, what is in the requests as they were recorded, and what a program can be given. Whatever
# else differs from its default, the independent program would not do.
_FOLLOWED = frozenset({"connection", TLS, "document", "workers", "store", "pool", "driver", "fields", "connections"})
NO_TOOL = (
    "load generators measure closed loops of single calls by HTTP/1.1 or gRPC, to responders that orch starts here"
)


def tools_for(plan: Plan, cell: Cell) -> tuple[str, ...]:
    """Return the load generators that can measure a cell, the best first; none for what `NO_TOOL` leaves out."""
    transport, keeps = _transport(plan, cell), cell.connection == "reuse"
    if not _is_simple(plan, cell):
        return ()
    if transport == _GRPC:
        is_typed = plan_way(plan, cell.stack, cell.operation, cell.factors.get(DOCUMENT)) == TYPED
        return (GHZ,) if keeps and not is_typed else ()
    if transport != _HTTP or isinstance(cell.factors.get("connections"), int):
        return ()
    return (WRK, OHA) if keeps and cell.factors.get(TLS) != TLS_1_3 else (OHA,)


def _is_simple(plan: Plan, cell: Cell) -> bool:
    """Whether a cell is a closed loop of single calls on this machine, of nothing that load generators do not do."""
    stack = next(stack for stack in plan.stacks if stack.id == cell.stack)
    placement = next(placement for placement in plan.placements if placement.id == cell.placement)
    return (
        cell.kind == "call"
        and stack.external is None
        and placement.kind == "local"
        and not PROVIDERS[plan.provider].makes_hosts
        and not cell.mixed
        and cell.load.rate_per_s is None
        and cell.find is None
        and not cell.load.think_s
        and all(
            cell.factors.get(factor.name) in (None, factor.default) or factor.name in _FOLLOWED
            for factor in OF_THE_CALL
        )
    )


def _transport(plan: Plan, cell: Cell) -> str:
    """What carries its messages, as far as that is known; a version of HTTP that it chose instead of the declared one."""
    declared = str((plan.resolved.get(cell.stack, {}).get("parts") or {}).get("transport", ""))
    version = cell.factors.get(HTTP)
    declared = _HTTP if declared == f"Connect over {_HTTP}" else declared
    return declared if declared != _HTTP or version in (None, "1.1") else f"HTTP/{version}"
