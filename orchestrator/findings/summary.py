"""The frozen summary of a run: one computation, one number. Sentence, table, chart and JSON all read it.

Latencies are float milliseconds here, because people read them; they come from int64 nanoseconds. Interval bounds are
(low, high). `None` means "not enough data to say", never zero.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, STACK, of_the_call, short
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.condition import Condition
from orchestrator.findings.disturbed import Disturbed
from orchestrator.findings.trial_values import CostName, SpreadName
from orchestrator.results.documents import sealed
from orchestrator.statistics.intervals import Mean
from orchestrator.statistics.quantiles import Distribution
from orchestrator.statistics.terms import Interval, Reason, Standing
from services.python.contract.limits import Kind

SCHEMA_VERSION = 4
MOST_UNSENT = 0.01  # of what was due: beyond it percentiles are marked as those of the requests sent
FAILS = "fails: "  # how an outcome begins that is no decoded message (protos/evolution.md)


@dataclass(frozen=True, kw_only=True)
class TrialSummary:
    """One trial of a cell: the replicate that uncertainty is computed from.

    Requests without a right reply (`errors`) count as slower than every reply, as in `Distribution`.
    """

    index: int
    block: int
    n: int  # right replies
    errors: int
    median: float | None
    p99: float | None
    mean: float | None  # of the replies alone; None without any
    minimum: float | None
    throughput_per_s: float  # right replies over the window, less the requester's own pauses
    cpu_share: float | None
    started_wall_ns: int
    censored: tuple[str, ...] = ()  # which of median and p99 fall among the requests without a right reply
    responder_cpu_share: float | None = None  # of one core, while requests were made, warm-up included
    responder_window_s: float | None = None  # how long that was
    retransmits: int | None = None  # packets that the requester's connections sent again; None where not counted
    not_sent: int = 0  # due in an open loop, and not sent before the window closed
    # By which factor median and p99 would be larger if what was not sent had been slowest; None: beyond every reply
    unsent_moves: dict[str, float | None] = field(default_factory=dict)
    offered_per_s: float | None = None  # due per second, as drawn, of all requesters; None in a closed loop
    values: dict[str, float] = field(default_factory=dict)  # costs, spreads and more, by name (`trial_values`)
    ended_wall_ns: int = 0
    held_up: float = 0.0  # the share of what this trial could use that others took (`host_noise.held_up`)
    turns: tuple[
        tuple[int, float], ...
    ] = ()  # of each that counts: when it began (ns), and its median (ms); not stored


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Samples in time order: per bin minimum, median and p99, and each of the slowest 200 by itself.

    `bins`: (seconds since the cell's first measured request, trial index, min, median, p99); `slowest`: (seconds, ms).
    Time runs within trials only: the pauses between trials are left out.
    """

    bins: tuple[tuple[float, int, float, float, float], ...]
    slowest: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class PartSummary:
    """One part of a cell's samples: a task's first call, say. Right parts of all trials; milliseconds."""

    name: str
    n: int
    median: float
    p99: float | None  # None with too few of them


DROPPED = "dropped"  # also the text of a percentile that falls among events that never came right


@dataclass(frozen=True, kw_only=True)
class StreamSummary:
    """The events of a cell, all trials together: counts, and milliseconds.

    `timed`: what the cell's latencies are, the delivery of events (`delivery`) or the gap between them (`gap`).
    `sent` and `worst_late` are the senders' own: events handed to connections, and the worst lateness against their
    schedule, warm-up included. Percentiles among dropped events are None, and named in `censored` (`gap_p99`, ...).
    `waiting`: the most events of one subscription that were stamped and not received; `sender_memory`: the most resident
    memory of the sender, bytes.
    """

    timed: Literal["delivery", "gap"]
    offered: int
    sent: int | None
    delivered: int
    dropped: int
    duplicated: int
    reordered: int
    wrong: int
    interval: float
    gap_median: float | None
    gap_p99: float | None
    delivery_median: float | None
    delivery_p99: float | None
    late_p99: float | None  # by the stamps in the events
    worst_late: float | None
    waiting: int | None = None
    sender_memory: int | None = None
    censored: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MixedSummary:
    """One operation of a mix, all trials together, as a cell of its own would be: milliseconds.

    `share` is planned, `drawn` came of it (of the requests that were due; None without any). `throughput_per_s`: its right
    replies over the windows of the whole mix. `body_bytes`: sent and received, per request.
    """

    label: str
    share: float
    drawn: float | None
    requests: int
    errors: dict[str, int]
    not_sent: int
    distribution: Distribution | None
    median_interval: Interval | None
    throughput_per_s: float | None
    body_bytes: tuple[float, float] | None

    @property
    def failed(self) -> int:
        """Measured requests without a right reply."""
        return sum(self.errors.values())


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Bytes and packets per request: sent, received; None where not counted."""

    body: tuple[float, float] | None = None
    wire: tuple[float, float] | None = None
    packets: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Floors:
    """Medians of the baselines beside a cell, ms."""

    tcp: float | None = None
    ping: float | None = None


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Trials and requests of a cell. `errors` by their kind."""

    planned_trials: int = 0
    failed_trials: int
    requests: int
    errors: dict[str, int]
    not_sent: int = 0  # due in an open loop, and not sent before the window closed: neither replies nor errors

    @property
    def failed(self) -> int:
        """Measured requests without a right reply."""
        return sum(self.errors.values())

    @property
    def share_unsent(self) -> float:
        """Of the requests that were due in an open loop, those that were not sent."""
        return self.not_sent / (self.requests + self.not_sent) if self.not_sent else 0.0


Where = Literal["queue", "pool", "database", "service"]

PLACES: Final[tuple[Where, ...]] = get_args(Where)
"""Waiting for a thread or the event loop of the responder; waiting for a connection to the database; with it; the service's
own code."""


@dataclass(frozen=True, kw_only=True)
class StoreTimes:
    """Means over the measured requests of a trial, or medians of those over the trials of a cell; ms."""

    handling: float
    queue: float
    pool: float
    database: float
    service: float
    queries: float = 0.0  # a request, where the store counts them

    def share(self, where: Where) -> float:
        """The part of the handling time that is spent there."""
        took: float = getattr(self, where)
        return took / self.handling if self.handling else 0.0

    @property
    def most(self) -> Where:
        """Where most of the time goes."""
        return max(PLACES, key=self.share)


@dataclass(frozen=True, kw_only=True)
class Details:
    """What only some cells have; empty or None in others.

    `replies`: the right replies alone, where not every request got one. `strip`: for charts over time. `parts`: of a task
    or a codec, in their order. `mixed`: each operation of a mix. `connections`: how many carried the requests of a trial
    (the median over trials). `outcomes`: of records read by another schema, how often each came. `store_times`: with a
    store. `over_fetched_bytes`: of a sample's reply, that nobody needs.
    """

    replies: Distribution | None = None
    strip: Strip | None = None
    parts: tuple[PartSummary, ...] = ()
    mixed: tuple[MixedSummary, ...] = ()
    stream: StreamSummary | None = None
    connections: float | None = None
    outcomes: dict[str, int] = field(default_factory=dict)
    store_times: StoreTimes | None = None
    over_fetched_bytes: float | None = None


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What people call the parts of a cell; `load` is in words: `1,000 requests, 1 in flight`."""

    stack: str
    operation: str
    placement: str
    load: str


@dataclass(frozen=True, kw_only=True)
class CellSummary:
    """What a cell measures, by the plan's ids and labels, and what came of it."""

    id: str
    stack: str
    operation: str
    placement: str
    labels: Labels
    factors: dict[str, Value]  # a value of every factor (`experiment.model.factors`)
    kind: Kind = "call"
    distribution: Distribution | None  # None: no successful sample
    median_interval: Interval | None
    trials: tuple[TrialSummary, ...]
    counts: Counts
    throughput_per_s: float | None  # right replies of all trials over the sum of their windows, less pauses
    sizes: Sizes = Sizes()
    floors: Floors = Floors()
    means: dict[str, Mean] = field(default_factory=dict)  # of the values that every trial has, by name (`trial_values`)
    details: Details = Details()

    @property
    def protocol(self) -> str:
        """The stack's wire protocol."""
        return str(self.factors["protocol"])

    @property
    def responder(self) -> str:
        """The responder's name."""
        return str(self.factors["responder"])

    @property
    def client(self) -> str:
        """The client's name."""
        return str(self.factors["client"])

    @property
    def connection(self) -> str:
        """The connection policy; empty where there are no connections."""
        return str(self.factors["connection"] or "")

    @property
    def call(self) -> tuple[Value, ...]:
        """The values of the factors of the call."""
        return of_the_call(self.factors)

    @property
    def setting(self) -> str:
        """The operation, placement, call and load in few words: a name for what compared cells have in common."""
        return ", ".join((self.labels.operation, self.labels.placement, *short(self.factors), self.labels.load))

    def apart_from(self, name: str) -> tuple[object, ...]:
        """What it has in common with cells that differ in the stack, or in this factor and those that vary with it."""
        if name == STACK:
            part, free = "stack", {factor.name for factor in FACTORS if factor.belongs_to == "stack"}
        else:
            part, free = BY_NAME[name].belongs_to, {name, *BY_NAME[name].varies_with}
        factors = tuple((key, value) for key, value in sorted(self.factors.items()) if key not in free)
        return (
            None if part == "operation" else self.operation,
            None if part == "placement" else self.placement,
            None if part == "stack" else self.stack,
            "call" if self.kind == "task" else self.kind,
            factors,
        )

    @property
    def over_floor(self) -> float | None:
        """The median less the TCP floor, ms."""
        median = self.distribution.median if self.distribution else None
        return None if median is None or self.floors.tcp is None else median - self.floors.tcp


@dataclass(frozen=True, kw_only=True)
class FloorSummary:
    """A baseline over the whole run, per placement (ping) or per placement and size class (tcp)."""

    kind: Literal["ping", "tcp"]
    placement: str
    placement_id: str
    method: str
    distribution: Distribution | None
    lost: int
    policy: str = "reuse"
    send_bytes: int = 0
    receive_bytes: int = 0
    cells: tuple[str, ...] = ()
    medians: tuple[float, ...] = ()  # one per reading, in time order
    started_wall_ns: tuple[int, ...] = ()  # of each of these readings

    def is_beside(self, placement_id: str, cell: str) -> bool:
        """Whether it is a cell's floor: ping of every cell of its placement, tcp of those whose bytes it carried."""
        return self.placement_id == placement_id and (self.kind == "ping" or cell in self.cells)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A cell against its reference cell, which differs from it in the stack, or in one factor alone.

    `factor` says in which (`stack`, `connection`, ...). By the stack, labels are those of the stacks; by a factor they say
    its value too: `grpc with a kept connection`. `value` and `reference_value` are that alone (`with a kept connection`),
    and `subject` is what both sides have in common (`grpc`); all three are empty by the stack.

    `ratio` above 1 is slower than the reference. `interval` and `p_value` are Holm-adjusted over all comparisons of the run
    by the same statistic (a control's are its own); None with fewer than three blocks. `by_block` is each block's ratio, for
    the dots of the forest plot. Where the statistic of a trial falls among requests without a right reply there is no ratio.
    Where nothing is decided, `reason` has why. Where others `disturbed` a side the interval is as wide as that may have
    moved it.
    """

    cell: str
    reference_cell: str
    group: str  # operation, placement, connection, load in words, less the factor that the comparison is by
    stack: str
    stack_label: str
    reference_label: str
    statistic: Literal["median", "p99", "throughput"] | CostName | SpreadName
    ratio: float | None
    interval: Interval | None
    p_value: float | None
    by_block: tuple[float, ...]
    standing: Standing
    control: bool = False  # the reference stack entered a second time: its true ratio is 1
    blocks: tuple[int, ...] = ()  # which block each of `by_block` is of, from 0
    differs_in: tuple[str, ...] = ()  # the parts of the two stacks that differ; empty of a control
    factor: str = STACK
    subject: str = ""
    value: str = ""
    reference_value: str = ""
    against: str = ""  # the reference's value alone, for heads of tables: `a connection per request`
    disturbed: Disturbed | None = None  # None where nobody held up either side
    reason: Reason | None = None  # why nothing is decided; None where it is

    @property
    def compared_with(self) -> str:
        """The reference as heads of tables and axes name it: a stack's label, or a factor's value."""
        return self.against or self.reference_label

    @property
    def measured_ratio(self) -> float | None:
        """The ratio of the values themselves: inverted for rates."""
        return 1 / self.ratio if self.ratio and self.statistic == "throughput" else self.ratio

    @property
    def measured_interval(self) -> Interval | None:
        """Its interval."""
        if self.interval is None or self.statistic != "throughput":
            return self.interval
        return 1 / self.interval[1], 1 / self.interval[0]


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """Which run it was, and how it went."""

    id: str
    name: str  # of the experiment
    question: str
    started_at: str
    ended_at: str | None
    state: str
    shares_machine: bool = False  # with another measurement, which disturbs both
    warnings: tuple[str, ...]  # while it was made, as its manifest has them
    failed_trials: tuple[dict[str, Any], ...]
    repeat_command: str
    manifest_sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """All that later rooms read of a run: which it was, under which conditions it was made, and what came of it."""

    run: MeasuredRun
    plan: Plan
    conditions: tuple[Condition, ...]
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)  # per stack label: versions and settings
    matters: float = 0.05  # a relative difference below this does not matter to the question (0.05: 5 %)
    schema_version: int = SCHEMA_VERSION
    cells: tuple[CellSummary, ...]
    floors: tuple[FloorSummary, ...]
    comparisons: tuple[Comparison, ...]
    checks: tuple[CheckResult, ...]
    costs: tuple[Comparison, ...] = ()  # the same pairs of cells by what requests cost (`trial_values.COSTS`)
    findings: dict[str, Any] = field(default_factory=dict)  # of each question, by its name (`questions.registry`)

    @property
    def metric(self) -> str:
        """What the result is about: median, p99 or throughput."""
        return self.plan.metric

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; numbers that are not finite never occur in it."""
        document = asdict(self)
        for trial in (trial for cell in document["cells"] for trial in cell["trials"]):
            del trial["turns"]
        return document

    def document(self) -> dict[str, Any]:
        """What `summary.json` holds."""
        return sealed(self.to_dict())

    def to_json(self) -> str:
        """The summary as compact JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
