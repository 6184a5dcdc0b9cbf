"""What cannot be measured: tables of refusals of a cell and of a whole plan, each with the reason and the way out.

They are looked at while a plan is made (`matrix`, `planning`). A stored plan has passed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from orchestrator.catalogue.offers import Client, Language
from orchestrator.catalogue.offers import Operation as Offered
from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import (
    BATCHING,
    BY_NAME,
    DRIVER,
    FETCH,
    FIELDS,
    OF_THE_CALL,
    POSTGRESQL,
    REQUESTERS,
    SQLITE,
    STORE,
    WHOLE,
    is_in_pieces,
    requesters_of,
    resources,
)
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.cells import CONNECTIONS, PROCESSES, processes_of, share_of, workers_of
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.payloads import operation_names
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.plan.stacks import OR_EXCLUDE, Entry, Unable, refusal_of_ends, way_out
from orchestrator.experiment.providers import MAKERS, PROVIDERS, THIS_MACHINE, any_of
from orchestrator.experiment.read.tree import Key
from orchestrator.experiment.read.units import format_duration, format_rate
from services.python.contract.knobs import FLOW_WINDOW, OF_SOCKETS, REPLIES, WORKERS
from services.python.contract.limits import Kind
from services.python.contract.lines import Load, Warmup
from services.python.contract.streams import MOST_EVENTS, schedule

_PINGS = "keepalive"
_LARGEST_REPLY = 32_768  # bytes of content that no codec here makes larger than the smallest window


@dataclass(frozen=True, kw_only=True)
class Case:
    """A cell as a plan would have it. The load of a search is that at its lowest rate."""

    entry: Entry
    client: Client
    operation: Operation
    call: Values
    placement: Placement
    load: Load
    warmup: Warmup
    kind: Kind
    provider: str
    is_search: bool = False

    @cached_property
    def offered(self) -> tuple[Offered, ...]:
        """What the catalogue says of its operations; of a mix several."""
        known = catalogue().operations
        return tuple(known[name] for name in operation_names(self.operation) if name in known)

    @property
    def is_kept(self) -> bool:
        """Whether connections are kept, as far as there are any."""
        return self.call.get("connection") != "per-request"

    @property
    def shared(self) -> int | None:
        """How many connections its requests in flight share; None where each has its own."""
        number = self.call.get(CONNECTIONS)
        return number if isinstance(number, int) else None

    @property
    def rate(self) -> str:
        """The rate of an open loop, as the file writes it."""
        return format_rate(self.load.rate_per_s or 0.0)

    @property
    def responder(self) -> str:
        """The name of the implementation that answers; empty where nobody does."""
        return "" if self.entry.responder is None else self.entry.responder.name

    @property
    def parts(self) -> int:
        """How many requesters share the load."""
        return requesters_of(self.call) * processes_of(self.call)

    def given(self, name: str) -> str:
        """A value as the file writes it: `store: sqlite`, in backquotes."""
        return f"`{name}: {BY_NAME[name].written(self.call[name])}`"

    def differs(self, name: str) -> bool:
        """Whether a factor has another value than its default."""
        default = BY_NAME[name].default
        return self.call.get(name, default) not in (None, default)

    @property
    def requesters(self) -> str:
        """Its requesters as the file writes them: `requesters: 2` with `processes: 4`."""
        given = [f"`{PROCESSES}: {processes_of(self.call)}`"] if processes_of(self.call) > 1 else []
        given = [f"`{REQUESTERS}: {requesters_of(self.call)}`", *given] if self.has_hosts else given
        return " with ".join(given)

    @property
    def too_few(self) -> str:
        """What its requesters share and is fewer than they are; empty where there is enough for all."""
        load = self.load
        if self.parts > load.concurrency:
            return f"the {load.concurrency:,} {'clients' if self.kind == 'stream' else 'in flight'}"
        if self.shared is not None and self.parts > self.shared:
            return self.given(CONNECTIONS)
        if (
            load.rate_per_s is not None
            and load.duration_s is not None
            and load.rate_per_s * load.duration_s < self.parts
        ):
            return f"the requests that {self.rate} makes in {format_duration(load.duration_s)}"
        return ""

    @property
    def has_hosts(self) -> bool:
        """Whether several hosts ask."""
        return requesters_of(self.call) > 1

    @property
    def events(self) -> int:
        """How many events the clients of one requester of a stream read in a trial, warm-up included."""
        load = share_of(self.call, self.load, 0, 0)
        seconds = (min(self.warmup.at_least_s, self.warmup.at_most_s), load.duration_s or 0.0)
        per_second = float(self.operation.payload["per_second"])
        return load.concurrency * sum(schedule(per_second, each_s)[1] for each_s in seconds)

    @property
    def most_streams(self) -> int:
        """How many streams its responder serves at once; as many as there are clients where that is not bounded."""
        most = None if self.entry.responder is None else self.entry.responder.most_streams
        return self.load.concurrency if most is None else most

    @property
    def resource(self) -> str:
        """The first thing that its responder is to be told of a store, as the file writes it."""
        return next(f"`{name}: {value}`" for name, value in resources(self.call).items())

    @cached_property
    def unable(self) -> tuple[str, Unable] | None:
        """The first of its operations that its ends cannot do, and why; None where they can do all."""
        for name in operation_names(self.operation):
            if unable := refusal_of_ends(self.entry, self.client, name, self.call, self.kind):
                return name, unable
        return None


@dataclass(frozen=True)
class Refusal:
    """When a cell cannot be measured, why (a clause that begins a sentence), and what to do instead (likewise)."""

    applies: Callable[[Case], bool]
    reason: Callable[[Case], str]
    way_out: Callable[[Case], str]


Group: TypeAlias = tuple[Callable[[Case], bool], tuple[Refusal, ...]]
"""Refusals that are looked at for some cells only."""


def _give(way: str) -> Callable[[Case], str]:
    return lambda _: f"{way}, {OR_EXCLUDE}."


def _coded(applies: Callable[[Case], bool], what: Callable[[Case], str]) -> Refusal:
    return Refusal(
        applies,
        lambda case: (
            f"a codec alone encodes and decodes one message after the other, so {what(case)} does not apply to it"
        ),
        lambda _: "Leave this part out with `exclude`, or ask it of other stacks.",
    )


def _of_kept(name: str) -> Refusal:
    return Refusal(
        lambda case: not case.is_kept and case.kind != "stream" and case.differs(name),
        lambda case: f"{case.given(name)} is of connections that are kept, and `connection: per-request` keeps none",
        _give("Give `connection: reuse`"),
    )


_OF_CODECS = (
    _coded(lambda case: case.is_search, lambda _: "a rate that `find` searches for"),
    _coded(lambda case: case.load.rate_per_s is not None, lambda case: f"a rate of {case.rate}"),
    _coded(lambda case: case.load.concurrency > 1, lambda case: f"a concurrency of {case.load.concurrency:,}"),
    _coded(lambda case: case.load.think_s > 0, lambda case: f"a think time of {format_duration(case.load.think_s)}"),
    _coded(lambda case: case.operation.calls > 1, lambda case: f"`calls: {case.operation.calls}`"),
    _coded(lambda case: bool(case.operation.mix), lambda _: "a mix"),
)

_OF_CONNECTIONS = (
    *map(_of_kept, (*OF_SOCKETS, _PINGS, CONNECTIONS)),
    Refusal(
        lambda case: (case.shared or 0) > case.load.concurrency and case.kind != "stream",
        lambda case: (
            f"{case.given(CONNECTIONS)} is more than the {case.load.concurrency:,} in flight: some would carry nothing"
        ),
        _give("Give fewer, or raise the concurrency"),
    ),
)

_OF_REQUESTERS = (
    Refusal(
        lambda case: case.has_hosts and case.placement.kind in ("local", "external"),
        lambda case: f"{case.given(REQUESTERS)} needs as many hosts that ask, and this placement has one",
        _give(f"Give a placement between hosts, with {any_of(MAKERS)}"),
    ),
    Refusal(
        lambda case: bool(case.too_few),
        lambda case: f"{case.requesters} is more than {case.too_few}, which they share: some would send nothing",
        _give("Give fewer, or more to share"),
    ),
    Refusal(
        lambda case: case.load.rate_per_s is not None and case.load.arrivals == "uniform",
        lambda case: (
            f"{case.requesters} cannot space requests evenly (`arrivals: uniform`): each would, and all of them together"
            " would not"
        ),
        _give("Give `arrivals: poisson`, which adds up to itself"),
    ),
)

_OF_STREAMS = (
    Refusal(
        lambda case: case.load.concurrency > case.most_streams,
        lambda case: (
            f"{case.entry.protocol.name}'s responder {case.responder} serves at most {case.most_streams:,} streams at"
            f" once, and would leave {case.load.concurrency - case.most_streams:,} of {case.load.concurrency:,} clients"
            " waiting for the others to end"
        ),
        _give("Ask with fewer"),
    ),
    Refusal(
        lambda case: case.events > MOST_EVENTS,
        lambda case: (
            f"{case.events:,} events to the clients of one requester in a trial, warm-up included: at most {MOST_EVENTS:,}"
            " are recorded"
        ),
        _give("Lower the rate, the duration or the number of clients"),
    ),
)

_OF_STORES = (
    Refusal(
        lambda case: len(case.offered) != 1 or STORE not in case.offered[0].resources,
        lambda case: f"{case.resource}: {case.operation.name} asks no store",
        _give(f"Leave `{STORE}` out"),
    ),
    Refusal(
        lambda case: case.call.get(STORE) == POSTGRESQL and DRIVER not in case.offered[0].resources,
        lambda case: f"{case.resource}: {case.operation.name} is kept in memory or in SQLite",
        _give(f"Give `{STORE}: {SQLITE}`"),
    ),
    Refusal(
        lambda case: not case.differs(STORE),
        lambda case: f"{case.resource}: rows in memory need no connection",
        _give(f"Give a `{STORE}`"),
    ),
    Refusal(
        lambda case: case.call.get(STORE) != POSTGRESQL and DRIVER in resources(case.call),
        lambda case: f"{case.given(DRIVER)} is of PostgreSQL",
        _give(f"Give `{STORE}: {POSTGRESQL}`"),
    ),
)

_OF_PAGES = (
    Refusal(
        lambda case: is_in_pieces(case.call) and not case.operation.made_of,
        lambda case: f"{case.given(FETCH)}: {case.operation.name} is made of no other operations",
        _give(f"Give `{FETCH}: {WHOLE}`"),
    ),
    Refusal(
        lambda case: is_in_pieces(case.call) and case.operation.calls > 1,
        lambda case: f"{case.given(FETCH)}: {case.operation.label} is a task already",
        _give("Leave `calls` out"),
    ),
    Refusal(
        lambda case: is_in_pieces(case.call) and case.shared is not None,
        lambda case: f"{case.given(FETCH)}: the calls of a task have connections of their own",
        lambda case: f"Leave {case.given(CONNECTIONS)} out, {OR_EXCLUDE}.",
    ),
    Refusal(
        lambda case: case.differs(FIELDS) and not (len(case.offered) == 1 and case.offered[0].has_shown),
        lambda case: f"{case.given(FIELDS)}: every field of {case.operation.name} is needed",
        _give(f"Leave `{FIELDS}` out"),
    ),
    Refusal(
        lambda case: case.differs(BATCHING) and (not case.operation.made_of or is_in_pieces(case.call)),
        lambda case: f"{case.given(BATCHING)}: this has no nested fields",
        _give(f"Leave `{BATCHING}` out"),
    ),
)

_OF_ENDS = (
    Refusal(
        lambda case: workers_of(case.call) > 1 and any(STORE in offered.resources for offered in case.offered),
        lambda case: (
            f"{case.given(WORKERS)} with {next(o.name for o in case.offered if STORE in o.resources)}: each worker would"
            " have a store of its own, and undo what the others' payments change"
        ),
        _give(f"Give `{WORKERS}: 1`"),
    ),
    Refusal(
        lambda case: case.unable is not None,
        lambda case: case.unable[1].reason if case.unable else "",
        lambda case: way_out(case.entry, case.client, case.unable[0], case.call, case.kind) if case.unable else "",
    ),
    Refusal(
        lambda case: refusal_of_replies(case.client, case.operation, case.call) is not None,
        lambda case: refusal_of_replies(case.client, case.operation, case.call) or "",
        _give(f"Ask for replies of at most {_LARGEST_REPLY:,} B"),
    ),
)

REFUSALS: tuple[Group, ...] = (
    (lambda case: case.entry.kind == "codec", _OF_CODECS),
    (lambda case: case.kind != "codec", _OF_CONNECTIONS),
    (lambda case: case.kind != "codec" and case.parts > 1, _OF_REQUESTERS),
    (lambda case: case.kind == "stream", _OF_STREAMS),
    (lambda case: case.kind != "codec" and bool(resources(case.call)), _OF_STORES),
    (lambda case: case.kind != "codec", _OF_PAGES),
    (lambda _: True, _OF_ENDS),
)


def refusal(case: Case) -> str | None:
    """Return why a cell cannot be measured, and what to do instead; None where it can."""
    refusals = (rule for applies, rules in REFUSALS if applies(case) for rule in rules)
    first = next((rule for rule in refusals if rule.applies(case)), None)
    return None if first is None else f"{first.reason(case)}. {first.way_out(case)}"


def refusal_of_client(entry: Entry, client: Client, operation: Operation, call: Values, kind: Kind) -> str:
    """Return why a client cannot do what its protocol carries; empty where it can."""
    alone = replace(entry, responder=None, client=client)
    names = [name for name in operation_names(operation) if name in entry.protocol.operations]
    unable = next(filter(None, (refusal_of_ends(alone, client, name, call, kind) for name in names)), None)
    return unable.reason if unable else refusal_of_replies(client, operation, call) or ""


def refusal_of_replies(client: Client, operation: Operation, call: Values) -> str | None:
    """Return why a cell's replies are not held back by the window that it sets; None where they are."""
    window, reason = call.get(FLOW_WINDOW), client.refuses.get(REPLIES)
    if reason is None or not isinstance(window, int) or operation.reply_bytes <= _LARGEST_REPLY:
        return None
    return (
        f"`{FLOW_WINDOW}: {window}` is the responder's for requests, and {reason}: it would not hold back a reply of "
        f"{operation.reply_bytes:,} B"
    )


# ---- what takes no turns with others


@dataclass(frozen=True, kw_only=True)
class Turning:
    """A cell that may take turns: its client's language, and how many stacks its hosts have room for at once."""

    cell: Cell
    language: Language
    together: int


WITHOUT_TURNS: tuple[tuple[Callable[[Turning], bool], Callable[[Turning], str]], ...] = (
    (lambda case: case.cell.kind in ("stream", "codec"), lambda case: f"a {case.cell.kind} sends no requests in turns"),
    (lambda case: case.cell.find is not None, lambda _: "a search has rates of its own"),
    (lambda case: case.cell.load.rate_per_s is not None, lambda _: "an open loop has a schedule"),
    (lambda case: case.cell.load.think_s > 0, lambda _: "users with think time have no turns"),
    (
        lambda case: requesters_of(case.cell.factors) * processes_of(case.cell.factors) > 1,
        lambda _: "several requesters share the load",
    ),
    (
        lambda case: bool(resources(case.cell.factors)),
        lambda _: f"`{STORE}`: several responders would change one store",
    ),
    (lambda case: not case.language.turns, lambda case: f"the requesters of {case.language.title} do not take turns"),
    (lambda case: case.together < 2, lambda _: "the hosts have no room for two stacks at once"),
)


def why_no_turns(case: Turning) -> str | None:
    """Return why a cell's trials have one measured phase, as a clause; None where it takes turns with others."""
    return next((reason(case) for applies, reason in WITHOUT_TURNS if applies(case)), None)


# ---- what a whole plan cannot have

PLAN_REFUSALS: tuple[tuple[str, Callable[[Plan], bool], str], ...] = (
    (
        "stability",
        lambda plan: (
            plan.stability and (any(c.find for c in plan.cells) or all(c.kind == "stream" for c in plan.cells))
        ),
        "searches compare rates, and streams have a schedule: neither has a spread to compare; leave `stability` out.",
    ),
    (
        "repeats",
        lambda plan: (
            plan.until is not None
            and (
                any(cell.find or cell.kind == "stream" or cell.mixed for cell in plan.cells)
                or all(pair.is_control for pair in pairs(plan))
            )
        ),
        "`until` waits for intervals of medians that are compared, and searches, streams, mixes and a stack alone have none;"
        " give a number.",
    ),
)


def refusals_of_plan(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what a whole plan cannot have: the key of the file, and the reason."""
    return ((key, reason) for key, applies, reason in PLAN_REFUSALS if applies(plan))


# ---- what a whole experiment cannot ask


def refuse_calls_of_codecs(located: Located, paths: Iterable[Sequence[Key]], placements: Sequence[Placement]) -> None:
    """Note what an experiment asks of its codecs alone, whose items are at these paths, that only a call can have."""
    experiment = located.experiment
    items = list(dict.fromkeys(tuple(path) for path in paths))
    for factor in OF_THE_CALL:
        reason = f"`{factor.name}` does not apply to a codec alone, which calls nobody: leave it out"
        for path in items:
            if getattr(experiment.stacks[int(path[1])], factor.name) is not None:
                located.add((*path, factor.name), f"{reason}.")
        if items and factor.name in experiment.model_fields_set:
            every = len(items) == len(experiment.stacks)
            located.add((factor.name,), f"{reason}{'' if every else ', and give it to the stacks that call'}.")
    if items and PROVIDERS[experiment.provider].makes_hosts:
        located.add(
            items[0],
            f"a codec alone needs no other host: it is measured on this machine, with `provider: {THIS_MACHINE}`.",
        )
    elif items and any(placement.kind != "local" for placement in placements):
        located.add(items[0], "a codec alone is at no distance from anybody: its only placement is local.")
