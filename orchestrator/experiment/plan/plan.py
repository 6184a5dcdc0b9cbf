"""A plan: every default resolved, every cell named, every trial in its place. Plain data, hashed, written as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import (
    STACK,
    in_a_row,
    is_in_pieces,
    knobs,
    of_the_call,
    requesters_of,
    resources,
)
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.model.options import Metric
from orchestrator.experiment.providers import ProviderName
from services.python.contract.knobs import HTTP, HTTP_3, MULTIPLEXED
from services.python.contract.limits import MIX, TLS, TLS_1_3, Kind, Policy, Recorded
from services.python.contract.lines import Load, Warmup

_RTT_SLACK, _RTT_SLACK_MS = 0.05, 0.5  # of a wanted round trip
PlacementKind = Literal["local", "same-zone", "cross-region", "external"]
Pin = Literal["apart", "together", "off"]
NOBODY = "none"
"""The responder of a codec alone."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a person's own service is started for a trial (`{port}` in its words), from a folder beside the experiment."""

    argv: tuple[str, ...]
    folder: str
    ready: Literal["tcp", "http", "grpc", "line"]
    ready_at: str  # the path or the text of it
    within_s: float
    env: dict[str, str] = field(default_factory=dict, hash=False)
    build: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class External:
    """A person's own service, and how a stack calls it: one that runs already, or one started for each trial (`start`)."""

    given: str  # the host as the experiment names it
    host: str  # its address
    port: int
    name: str = ""
    authority: str = ""  # the PEM file that verifies its certificate; empty: no TLS
    certificate: tuple[str, ...] = ()  # the PEM files of our own certificate and its key
    start: Start | None = None
    call: dict[str, Any] = field(default_factory=dict, hash=False)  # as a call file has it

    @property
    def each_call(self) -> Sequence[Mapping[str, Any]]:
        """The calls of a task in their order, or the only one."""
        return self.call.get("steps") or (self.call,)


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Protocol, responder and client; `label` is the shortest distinct text in tables: `rest (flask, requests)`."""

    id: str
    protocol: str
    responder: str
    client: str
    label: str
    control_of: str | None = None
    external: External | None = None  # the person's own service that it calls; None: a responder of the catalogue

    @property
    def steps(self) -> int:
        """How many calls make one task by themselves; 1 where each is a request."""
        return 1 if self.external is None else len(self.external.each_call)

    @property
    def running(self) -> External | None:
        """The service that runs already, and that orch only asks; None where orch starts who answers."""
        return self.external if self.external is not None and self.external.start is None else None


@dataclass(frozen=True, kw_only=True)
class Content:
    """An operation with its payload (the process contract's); `label` e.g. `image 1.58 MB`."""

    name: str
    label: str
    payload: dict[str, Any] = field(default_factory=lambda: {"kind": "none"})
    request_bytes: int = 0  # approximate bytes of content in one call's request and reply, for estimates and floors
    reply_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Mixed(Content):
    """Of all requests it has `weight` in the sum of all weights."""

    weight: int


@dataclass(frozen=True, kw_only=True)
class Operation(Content):
    """With `calls` above 1 a task of so many calls. A mix has several operations; its bytes are the mean of a request."""

    id: str
    shape: str | None = None  # SHA-256 of the .proto of its document, where a cell carries it as a typed message
    calls: int = 1
    made_of: tuple[str, ...] = ()  # the operations that can be asked in its place
    mix: tuple[Mixed, ...] = ()

    @property
    def asked(self) -> str:
        """The content of one call: the label of the operation that makes it alone."""
        return self.label.removesuffix(f", {self.calls} calls") if self.calls > 1 else self.label

    def in_task(self, calls: int) -> Operation:
        """The same as a task of so many calls; itself for one."""
        if calls == 1:
            return self
        return replace(self, id=f"{self.id}-{calls}-calls", label=f"{self.label}, {calls} calls", calls=calls)


@dataclass(frozen=True, kw_only=True)
class Link:
    """The wanted distance between two zones. `None` where the provider's own network decides."""

    rtt_ms: float | None = None
    jitter_ms: float = 0.0
    rate_mbit: float | None = None
    loss: float = 0.0
    initial_window: int | None = None  # segments; None: the kernel's own
    source: str = ""

    @property
    def slack_ms(self) -> float:
        """How far a measured round trip may be off the wanted one: 5 % or 0.5 ms, whichever is more, and half the jitter."""
        return max(_RTT_SLACK * (self.rtt_ms or 0.0), _RTT_SLACK_MS) + self.jitter_ms / 2


def kind_of(operation: Operation, call: Values | None = None) -> Kind:
    """What a cell of the operation measures, whose requests are made so."""
    if operation.payload.get("kind") == "events":
        return "stream"
    if operation.payload.get("kind") == "evolution":
        return "codec"  # no calls
    return "task" if operation.calls > 1 or is_in_pieces(call or {}) else "call"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where the two ends run: the requester's zone and the responder's; `external` where who answers runs elsewhere."""

    id: str
    name: str
    kind: PlacementKind
    from_zone: str | None = None
    to_zone: str | None = None
    link: Link = field(default_factory=Link)
    pin: Pin | None = None  # where a list of them was given; None: as the plan has it


@dataclass(frozen=True, kw_only=True)
class OwnHost:
    """A machine of one's own, reached by `ssh` (options and destination), or a container by its name."""

    name: str  # what it does, such as requester-2
    given: str = ""  # its name in the experiment, which no report has
    ssh: tuple[str, ...] = ()
    container: str = ""
    role: str = ""  # requester, responder, both, store; empty: placements alone say what it does
    address: str = ""  # empty: looked up there, as the folder is
    folder: str = ""
    known_hosts: str = ""  # its host keys, where the person's known_hosts is not asked


@dataclass(frozen=True, kw_only=True)
class Find:
    """A search for the highest rate at which the goals hold, among `steps + 1` rates, each `factor` above the one before."""

    goals: tuple[Goal, ...]
    lowest: float
    highest: float
    steps: int
    concurrency: int | None = None  # the most in flight at every rate; None: enough for the rate (`loads.room`)

    @property
    def factor(self) -> float:
        """A rate over the next lower one."""
        return float((self.highest / self.lowest) ** (1 / self.steps))

    @property
    def probes(self) -> int:
        """The most trials that a search takes: bisection of the rates, or below them all."""
        return (self.steps + 1).bit_length()

    @property
    def text(self) -> str:
        """What must hold: `p99 < 10 ms and errors < 1 %`."""
        return " and ".join(goal.text for goal in self.goals)

    def rate(self, step: int) -> float:
        """The rate of a step from 0 on, per second, to four digits."""
        if step in (0, self.steps):
            return self.highest if step else self.lowest
        return float(f"{self.lowest * self.factor**step:.4g}")


@dataclass(frozen=True, kw_only=True)
class Turns:
    """How a cell takes turns with the cells of its `group` and placement: each of `length_s`, or of `requests`."""

    length_s: float
    rounds: int
    group: int = 0
    warm_up: int = 10  # requests of each worker that come before a turn and do not count
    requests: int | None = None
    at_most_s: float | None = None
    each_round: int = 1

    @property
    def in_block(self) -> int:
        """How many turns a trial has."""
        return self.rounds * self.each_round

    def load_of(self, load: Load, turns: int = 1) -> Load:
        """That of so many turns of a cell with this load."""
        if self.requests is None:
            return replace(load, duration_s=turns * self.length_s)
        at_most_s = None if self.at_most_s is None else turns * self.at_most_s
        return replace(load, requests=turns * self.requests, duration_s=at_most_s)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One point of the matrix: a value of every factor. With `find` the rate is searched for; its load is at the highest."""

    id: str  # a slug of its parts, safe in a path
    stack: str
    operation: str
    placement: str
    factors: dict[str, Value] = field(hash=False)
    load: Load
    warmup: Warmup
    timeout_s: float = 30.0
    kind: Kind = "call"
    find: Find | None = None
    mixed: int = 0  # how many operations its mix has; 0 without a mix
    turns: Turns | None = None  # None: its trials have one measured phase

    @property
    def recorded(self) -> Recorded:
        """What its rows are of."""
        return MIX if self.mixed else self.kind

    @property
    def rounds(self) -> int:
        """The most trials of a repeat."""
        return 1 if self.find is None else self.find.probes

    @property
    def connection(self) -> Policy:
        """What is done with connections; a codec alone has none, and what encodes and decodes is kept."""
        return cast("Policy", self.factors["connection"] or "reuse")

    @property
    def parts(self) -> int | None:
        """How many parts a right sample has, of a mix how many operations; None where that is not known beforehand."""
        if self.mixed:
            return self.mixed
        if self.kind == "codec":
            return 2  # encoding and decoding
        return self.calls if self.kind == "task" else None

    @property
    def calls(self) -> int:
        """How many calls make one sample."""
        return cast("int", self.factors["calls"])

    @property
    def in_a_row(self) -> int:
        """How many of them wait for one another: one where all are made at once."""
        return in_a_row(self.factors, self.calls)

    @property
    def is_at_once(self) -> bool:
        """Whether they are all made at once."""
        return self.calls > self.in_a_row

    @property
    def connections_each(self) -> int:
        """How many connections a sample in flight has: one for each of its calls at once, unless HTTP multiplexes them."""
        return self.calls if self.is_at_once and self.factors.get(HTTP) not in MULTIPLEXED else 1

    @property
    def is_secured(self) -> bool:
        """Whether its connections are encrypted, so that whoever answers needs a certificate."""
        return self.factors.get(TLS) == TLS_1_3

    @property
    def is_over_quic(self) -> bool:
        """Whether no TCP carries it: the kernel then counts none of its packets, and controls none of its sending."""
        return self.factors.get(HTTP) == HTTP_3

    @property
    def handshakes(self) -> int:
        """Round trips that TLS adds to opening a connection: one (RFC 8446, 2), over QUIC none (RFC 9001, 4)."""
        return int(self.is_secured and not self.is_over_quic)

    @property
    def setting(self) -> tuple[object, ...]:
        """What cells that are compared have in common: all but the stack."""
        return (self.operation, self.placement, *self.setting_elsewhere)

    @property
    def setting_elsewhere(self) -> tuple[object, ...]:
        """How requests are made and offered: the setting without operation and placement."""
        return (*of_the_call(self.factors), self.load, self.kind)

    @property
    def exchange(self) -> tuple[str, ...]:
        """What decides how large both bodies are on the wire, and the store: one checked reply tells it for all."""
        settings = {**knobs(self.factors), **resources(self.factors)}
        return (self.stack, self.operation, *(f"{name}-{value}" for name, value in settings.items()))

    def having(self, **values: Value) -> Cell:
        """The same cell with other values of some factors."""
        return replace(self, factors={**self.factors, **values})


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What cells are compared by, and the reference values, or ids of stacks; none for the stack: the plan's `reference`."""

    factor: str = STACK
    references: tuple[Value, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Until:
    """The wanted half-width of intervals (0.03: from ratio / 1.03 to ratio x 1.03), and the fewest and most blocks."""

    within: float
    at_least: int
    at_most: int
    or_slower: bool = False  # a run ends earlier where a stack is slower beyond doubt

    def may_end(self, blocks: int) -> bool:
        """Whether intervals are looked at after so many blocks; behind the last one there is nothing to decide."""
        return self.at_least <= blocks < self.at_most


@dataclass(frozen=True, kw_only=True)
class PlannedTrial:
    """One repetition of a cell, in block `block` (from 0); `index` is its place in the whole schedule (from 0)."""

    index: int
    block: int
    cell: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class PayloadFile:
    """A file that requesters need, made or copied at set-up; named `<sha256[:16]>-<name>` under `payloads/` of the run."""

    operation: str
    name: str
    sha256: str
    bytes: int
    source: str  # "image: generated", or the user's file within the folder of the experiment file
    reply: str = ""  # of an exchange the user's file of the reply; both stand in one file, which responders need, too

    @property
    def sources(self) -> str:
        """The files that it is made of, in words."""
        return " or ".join(filter(None, (self.source, self.reply)))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the run may use: seconds of wall time, US dollars, seconds until the hosts expire."""

    wall_s: float
    cost_usd: float
    ttl_s: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One experiment, ready to run; `shapes.decode` reads it. `id` is the first 12 hex digits of `digest()`."""

    name: str
    question: str
    provider: ProviderName
    machine: str | None
    pin: Pin  # of every placement that has none of its own
    stacks: tuple[Stack, ...]
    operations: tuple[Operation, ...]
    placements: tuple[Placement, ...]
    cells: tuple[Cell, ...]
    trials: tuple[PlannedTrial, ...]  # in order; blocks are contiguous, placements contiguous within a block
    repeats: int  # blocks of the schedule; with `until` the most
    seed: int
    limits: Limits
    metric: Metric = "median"  # what the result is about
    matters: float = 0.05  # the relative difference within which two stacks tie
    reference: str | None = None  # the stack that others and its controls are compared with; else the first one
    contrasts: tuple[Contrast, ...] = (Contrast(),)
    stability: bool = False  # whether the most predictable stack is a question
    hold_out: float = 0.0  # the share of cells that the cost model is tested on; 0 where nothing is predicted
    sealed: tuple[str, ...] = ()  # ids of these cells, chosen by the seed
    until: Until | None = None
    payload_files: tuple[PayloadFile, ...] = ()
    hosts: tuple[OwnHost, ...] = ()  # that the experiment gives; none where they are made
    module: str = ""  # the folder of the Terraform module that makes them; empty where the provider has its own
    makes_stores: bool = False  # PostgreSQL gets a host of its own in each zone that answers
    experiment_path: str = ""
    experiment_sha256: str = ""
    overrides: tuple[str, ...] = ()
    without_turns: tuple[str, ...] = ()  # why cells take none, where the experiment does not leave turns out
    resolved: dict[str, Any] = field(default_factory=dict)  # per stack id: versions, settings, why this client
    schema_version: Literal[1] = 1

    def to_json(self, *, is_sorted: bool = False) -> str:
        """Return the plan as one JSON document."""
        return json.dumps(self, default=vars, separators=(",", ":"), ensure_ascii=False, sort_keys=is_sorted)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    @property
    def pins(self) -> tuple[Pin, ...]:
        """How both ends of one machine are pinned, each way once."""
        return tuple(dict.fromkeys(placement.pin or self.pin for placement in self.placements))

    @property
    def requesters(self) -> int:
        """How many requester hosts the cell with the most has."""
        return max((requesters_of(cell.factors) for cell in self.cells), default=1)

    @property
    def rounds(self) -> int:
        """How many blocks a repeat takes: more than one where a rate is searched for, probe by probe."""
        return max(cell.rounds for cell in self.cells)

    @property
    def blocks(self) -> int:
        """How many blocks the schedule has; where a rate is searched for, at most."""
        return self.repeats * self.rounds

    def digest(self) -> str:
        """SHA-256 of the canonical JSON, hexadecimal."""
        return hashlib.sha256(self.to_json(is_sorted=True).encode()).hexdigest()

    @property
    def id(self) -> str:
        """The plan's short name."""
        return self.digest()[:12]
