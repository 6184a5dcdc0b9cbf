"""What cannot be measured: refusals of a cell and of a whole plan, each with the reason and the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
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
    resources,
)
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.cells import CONNECTIONS, PROCESSES, in_all, share_of, workers_of
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.loads import at_step
from orchestrator.experiment.plan.payloads import operation_names
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.experiment.plan.stacks import OR_EXCLUDE, Entry, refusal_of_ends, way_out
from orchestrator.experiment.providers import MAKERS, PROVIDERS, THIS_MACHINE, any_of
from orchestrator.experiment.read.tree import Key
from services.python.contract.knobs import FLOW_WINDOW, OF_SOCKETS, REPLIES, WORKERS
from services.python.contract.lines import Load
from services.python.contract.streams import MOST_EVENTS, schedule

_LARGEST_REPLY = 32_768  # bytes of content that no codec here makes larger than the smallest window


@dataclass(frozen=True, kw_only=True)
class Case:
    """A cell as a plan would have it, with its parts."""

    entry: Entry
    client: Client
    operation: Operation
    placement: Placement
    cell: Cell

    @cached_property
    def call(self) -> Values:
        """Its values of the factors of a call."""
        return {factor.name: self.cell.factors[factor.name] for factor in OF_THE_CALL}

    @cached_property
    def load(self) -> Load:
        """Its load; of a search that at its lowest rate."""
        return self.cell.load if self.cell.find is None else at_step(self.cell, 0).load

    @cached_property
    def offered(self) -> tuple[Offered, ...]:
        """What the catalogue says of its operations; of a mix several."""
        known = catalogue().operations
        return tuple(known[name] for name in operation_names(self.operation) if name in known)

    @property
    def shared(self) -> int | None:
        """How many connections its requests in flight share; None where each has its own."""
        number = self.call[CONNECTIONS]
        return number if isinstance(number, int) else None

    def given(self, name: str) -> str:
        """A value as the file writes it: `store: sqlite`, in backquotes."""
        return f"`{name}: {BY_NAME[name].written(self.call[name])}`"

    def differs(self, name: str) -> bool:
        """Whether a factor has another value than its default."""
        return self.call[name] not in (None, BY_NAME[name].default)


Refused: TypeAlias = Iterator[tuple[str, str]]
"""Why a cell cannot be measured, as a clause that begins a sentence, and what to do instead, likewise; the first counts."""


def _of_codecs(case: Case) -> Refused:
    load, operation = case.load, case.operation
    for key, is_given in (
        ("find", case.cell.find is not None),
        ("rate", load.rate_per_s is not None),
        ("concurrency", load.concurrency > 1),
        ("think", load.think_s > 0),
        ("calls", operation.calls > 1),
        ("mix", bool(operation.mix)),
    ):
        if is_given and case.entry.kind == "codec":
            reason = f"a codec alone encodes and decodes one message after the other, so `{key}` does not apply to it"
            yield reason, "Ask it of other stacks"


def _of_connections(case: Case) -> Refused:
    if case.cell.kind in ("codec", "stream"):
        return
    for name in (*OF_SOCKETS, "keepalive", CONNECTIONS):
        if case.call["connection"] == "per-request" and case.differs(name):
            reason = f"{case.given(name)} is of connections that are kept, and `connection: per-request` keeps none"
            yield reason, "Give `connection: reuse`"
    if (case.shared or 0) > case.load.concurrency:
        more = f"{case.given(CONNECTIONS)} is more than the {case.load.concurrency:,} in flight"
        yield f"{more}: some would carry nothing", "Give fewer, or raise the concurrency"


def _of_requesters(case: Case) -> Refused:
    requesters = in_all(case.call)
    if case.cell.kind == "codec" or requesters == 1:
        return
    names = [name for name in (REQUESTERS, PROCESSES) if case.differs(name)]
    given, load = " with ".join(case.given(name) for name in names), case.load
    if REQUESTERS in names and case.placement.kind in ("local", "external"):
        reason = f"{case.given(REQUESTERS)} needs as many requester hosts, and this placement has one"
        yield reason, f"Give a placement between hosts, with {any_of(MAKERS)}"
    expected = inf if load.rate_per_s is None or load.duration_s is None else load.rate_per_s * load.duration_s
    for most, what in (
        (load.concurrency, f"the {load.concurrency:,} {'clients' if case.cell.kind == 'stream' else 'in flight'}"),
        (case.shared or inf, case.given(CONNECTIONS)),
        (expected, "the requests of a trial"),
    ):
        if requesters > most:
            yield f"{given} is more than {what}, which they share: some would send nothing", "Give fewer"
    if load.rate_per_s is not None and load.arrivals == "uniform":
        apart = "each would space its own, and all of them together would not"
        yield f"{given} cannot space requests evenly: {apart}", "Give `arrivals: poisson`"


def _of_streams(case: Case) -> Refused:
    if case.cell.kind != "stream":
        return
    responder, warmup = case.entry.responder, case.cell.warmup
    if responder is not None and responder.most_streams and case.load.concurrency > responder.most_streams:
        served = f"{case.entry.protocol.name}'s responder {responder.name} serves at most {responder.most_streams:,}"
        yield f"{served} streams at once", "Ask with fewer clients"
    per_second = float(case.operation.payload["per_second"])
    seconds = (min(warmup.at_least_s, warmup.at_most_s), case.load.duration_s or 0.0)
    events = share_of(case.call, case.load, 0, 0).concurrency * sum(schedule(per_second, each)[1] for each in seconds)
    if events > MOST_EVENTS:
        most = f"at most {MOST_EVENTS:,} are recorded of a requester in a trial"
        yield f"{events:,} events: {most}", "Lower the rate, the duration or the number of clients"


def _of_stores(case: Case) -> Refused:
    given = resources(case.call)
    if case.cell.kind == "codec" or not given:
        return
    leave_out, is_postgresql = f"Leave `{STORE}` out", case.call[STORE] == POSTGRESQL
    first = next(f"`{name}: {value}`" for name, value in given.items())
    if len(case.offered) != 1 or STORE not in case.offered[0].resources:
        yield f"{first}: {case.operation.name} uses no store", leave_out
    if is_postgresql and DRIVER not in case.offered[0].resources:
        yield f"{first}: {case.operation.name} is kept in memory or in SQLite", f"Give `{STORE}: {SQLITE}`"
    if not case.differs(STORE):
        yield f"{first}: rows in memory need no connection", f"Give a `{STORE}`"
    if not is_postgresql and DRIVER in given:
        yield f"{case.given(DRIVER)} is of PostgreSQL", f"Give `{STORE}: {POSTGRESQL}`"


def _of_pages(case: Case) -> Refused:
    if case.cell.kind == "codec":
        return
    operation, in_pieces = case.operation, is_in_pieces(case.call)
    if in_pieces and not operation.made_of:
        yield f"{case.given(FETCH)}: {operation.name} is made of no other operations", f"Give `{FETCH}: {WHOLE}`"
    if in_pieces and (operation.calls > 1 or case.shared is not None):
        out = f"Leave `calls` and `{CONNECTIONS}` out"
        yield f"{case.given(FETCH)}: it is a task by itself, whose calls have connections of their own", out
    if case.differs(FIELDS) and not (len(case.offered) == 1 and case.offered[0].has_shown):
        yield f"{case.given(FIELDS)}: every field of {operation.name} is needed", f"Leave `{FIELDS}` out"
    if case.differs(BATCHING) and (not operation.made_of or in_pieces):
        yield f"{case.given(BATCHING)}: this has no nested fields", f"Leave `{BATCHING}` out"


def _of_ends(case: Case) -> Refused:
    of_store = next((offered.name for offered in case.offered if STORE in offered.resources), None)
    if workers_of(case.call) > 1 and of_store:
        undone = "each worker would have a store of its own, and undo what the others' payments change"
        yield f"{case.given(WORKERS)} with {of_store}: {undone}", f"Give `{WORKERS}: 1`"
    for name in operation_names(case.operation):
        if unable := refusal_of_ends(case.entry, case.client, name, case.call, case.cell.kind):
            yield unable.reason, way_out(case.entry, case.client, name, case.call, case.cell.kind)
    window, reason, size = case.call.get(FLOW_WINDOW), case.client.refuses.get(REPLIES), case.operation.reply_bytes
    if reason is not None and isinstance(window, int) and size > _LARGEST_REPLY:
        ruled = f"`{FLOW_WINDOW}: {window}` is the responder's for requests, and {reason}"
        yield f"{ruled}: it would not hold back a reply of {size:,} B", f"Ask for at most {_LARGEST_REPLY:,} B"


REFUSALS: tuple[Callable[[Case], Refused], ...] = (
    _of_codecs,
    _of_connections,
    _of_requesters,
    _of_streams,
    _of_stores,
    _of_pages,
    _of_ends,
)


def refusal(case: Case) -> str | None:
    """Return why a cell cannot be measured, and what to do instead; None where it can."""
    first = next((refused for rules in REFUSALS for refused in rules(case)), None)
    return None if first is None else f"{first[0]}. {first[1]}, {OR_EXCLUDE}."


# ---- what takes no turns with others


def why_no_turns(cell: Cell, language: Language, together: int) -> str | None:
    """Why a cell takes no turns, by its client's language and how many stacks run `together`; None where it takes some."""
    load = cell.load
    reasons = (
        (cell.kind in ("stream", "codec"), f"a {cell.kind} sends no requests in turns"),
        (cell.find is not None, "a search has rates of its own"),
        (load.rate_per_s is not None, "an open loop has a schedule"),
        (load.think_s > 0, "users with think time have no turns"),
        (in_all(cell.factors) > 1, "several requesters share the load"),
        (bool(resources(cell.factors)), f"`{STORE}`: several responders would change one store"),
        (not language.turns, f"the requesters of {language.title} do not take turns"),
        (together < 2, "memory does not suffice for two stacks at once"),
    )
    return next((reason for is_so, reason in reasons if is_so), None)


# ---- what a whole plan cannot have


def refusals_of_plan(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what a whole plan cannot have: the key of the file, and the reason."""
    cells = plan.cells
    if plan.stability and (any(cell.find for cell in cells) or all(cell.kind == "stream" for cell in cells)):
        yield "stability", "searches and streams have no spread to compare: leave `stability` out."
    is_without = any(cell.find or cell.kind == "stream" or cell.mixed for cell in cells)
    if plan.until is not None and (is_without or all(pair.is_control for pair in pairs(plan))):
        yield "repeats", "`until` is of compared medians: searches, streams, mixes and a stack alone need a number."


# ---- what a whole experiment cannot have


def refuse_calls_of_codecs(located: Located, paths: Iterable[Sequence[Key]], placements: Sequence[Placement]) -> None:
    """Note settings of calls that an experiment gives its codecs alone, whose items are at these paths."""
    experiment = located.experiment
    items = list(dict.fromkeys(tuple(path) for path in paths))
    given = [*((path, experiment.stacks[int(path[1])]) for path in items), *([((), experiment)] if items else [])]
    for factor, (path, spec) in product(OF_THE_CALL, given):
        if factor.name in spec.model_fields_set:
            reason = (
                "does not apply to a codec alone, which calls nobody: leave it out, or give it to stacks that call."
            )
            located.add((*path, factor.name), f"`{factor.name}` {reason}")
    if items and PROVIDERS[experiment.provider].makes_hosts:
        where = f"it is measured on this machine, with `provider: {THIS_MACHINE}`."
        located.add(items[0], f"a codec alone needs no other host: {where}")
    elif items and any(placement.kind != "local" for placement in placements):
        located.add(items[0], "a codec alone is at no distance from anybody: its only placement is local.")
