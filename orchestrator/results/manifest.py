"""What a run folder says of itself. `manifest.json` is this, as JSON; `results.folder` reads and writes it.

results/<run-id>/
  experiment.yaml  plan.json         what was asked, frozen
  journal.jsonl                      one line per event, synced as it happens; survives a kill; a hash chain
  manifest.json                      derived from plan and journal between blocks and at the end; replaced whole
  samples/cell=<id>/*.parquet        one file per trial and requester; pd.read_parquet(".../samples") works
  baselines/{ping,tcp}/*.parquet     the floors, same columns
  referee/*.txt                      what independent load generators printed, a file for each turn (`orch run --referee`)
  payloads/                          the files that operations carried
  logs/                              last words of what failed, and orch's own log
  checks.json  summary.json          what analysis found; made again by `orch report`
  receipt.json                       what teardown destroyed and what is left
  staging/                           raw records on their way; absent when the run is complete
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import PlainValidator

from orchestrator import record_layout
from orchestrator.experiment.model import factors
from orchestrator.experiment.plan.plan import Plan, Turns
from orchestrator.results.turn_times import TurnTime, disturbed
from services.python.contract.description import Description
from services.python.contract.ping_lines import PingDone
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready, Stats
from services.python.contract.strict import decode

SCHEMA_VERSION = 1

REPEATED = "block {} was interrupted and repeated; its earlier trials do not count"
"""The warning of a run that made a block again; with the block's number, from one."""

# Columns of every samples and baselines file, in this order: those of a record (protos/timings.md), and more. Stamps and
# durations are int64 nanoseconds.
SAMPLE_COLUMNS = (
    *record_layout.COLUMNS,
    # constant within a file, dictionary-encoded: what makes the folder one tidy table
    "stack",
    "operation",
    "placement",
    *factors.COLUMNS,
    "block",
    "requester",
    "process",
)


@dataclass(frozen=True, kw_only=True)
class Heard:
    """When a requester's lines passed orch, ns of the monotonic clock there: one clock for the lines of all hosts.

    Its `warm` line was read, the word `measure` was about to be sent to it, and its `done` line was read.
    """

    warm_ns: int
    told_ns: int
    done_ns: int


@dataclass(frozen=True, kw_only=True)
class RequesterRecord:
    """One requester's part in a trial: its host, its `done` line (protos/process.md), and where its samples lie.

    `process`: its number on that host, from 0; `cpus`: what it was pinned to, None where it was not, or of older runs;
    `heard`: where several hosts asked.
    """

    host: str
    done: Done
    samples: str | None  # path below the run folder
    process: int = 0
    cpus: str | None = None
    heard: Heard | None = None


Verdict = Literal["held", "not held", "no result"]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A trial's part in a search (`plan.Find`): which of its rates it had, and whether the goals held at it.

    `no result`: the trial failed for another reason than its rate, and ends its search.
    """

    step: int
    rate_per_s: float
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class TrialRecord:
    """One trial that was made: what both ends said of it."""

    index: int
    block: int
    cell: str
    attempt: int  # 0, or higher when a block was repeated on resume; only the last attempt counts
    outcome: Literal["ok", "failed"]
    started_wall_ns: int
    ended_wall_ns: int
    overhead_s: float | None = None  # of older runs: what was neither warm-up nor measuring
    ready: Ready | None = None  # the responder's ready line
    stats: Stats | None = None  # the responder's stats after the measured phase
    stats_before: Stats | None = None
    stats_warm: Stats | None = None  # when the warm-up was over and nothing was measured yet; of older runs None
    requesters: tuple[RequesterRecord, ...] = ()
    beside_cpu_s: float | None = (
        None  # what orch and a link's program used of the hosts' machine while requests counted
    )
    failure: Failure | None = None
    probe: Probe | None = None  # of a cell whose rate is searched for
    turns: tuple[TurnTime, ...] = ()  # of a cell that took turns with others, in their order
    fitted_turns: Turns | None = None  # where the smoke test made them longer than the plan has them
    stolen_beside: float | None = None  # as `turn_times.stolen_beside`; None in older runs
    rest_cpu_s: float | None = None  # what the responder used in the rest after the turns, in which nobody measured

    @property
    def disturbed_turns(self) -> tuple[bool, ...]:
        """Which of its turns count for nothing."""
        return disturbed(self.turns, self.stolen_beside)

    @property
    def counted_turns(self) -> list[TurnTime]:
        """Its other turns."""
        return [turn for turn, is_lost in zip(self.turns, self.disturbed_turns, strict=True) if not is_lost]

    @property
    def responder_cpu_s(self) -> float | None:
        """What the responder used from its start on to the end of the measured phase; None where it does not say."""
        return _cpu_s(self.stats_before, self.stats)

    @property
    def responder_measured_cpu_s(self) -> float | None:
        """What it used in the measured phase alone; None where it was not asked after the warm-up, or does not say.

        Of a trial in turns it is the measured requests' share of all that it answered meanwhile.
        """
        used_s = _cpu_s(self.stats_warm, self.stats)
        if used_s is None or not any(turn.requests for turn in self.turns):
            return used_s
        requests, warmed = (sum(counts) for counts in zip(*((t.requests, t.warm_up) for t in self.turns), strict=True))
        return float(used_s * requests / (requests + warmed))


def _cpu_s(before: Stats | None, after: Stats | None) -> float | None:
    if before is None or after is None or before.cpu_s is None or after.cpu_s is None:
        return None
    return float(after.cpu_s - before.cpu_s)


def _answer(raw: object) -> Done | PingDone | None:
    """The last line of a requester, or of a ping, which alone names its `method`."""
    if raw is None:
        return None
    is_ping = isinstance(raw, dict) and "method" in raw
    return decode(PingDone, raw) if is_ping else decode(Done, raw)


@dataclass(frozen=True, kw_only=True)
class BaselineRecord:
    """One look at the floor between the two ends of a placement."""

    kind: Literal["ping", "tcp"]
    placement: str
    block: int
    moment: Literal["before", "during", "after"]
    requester: str
    method: str  # ping: "icmp-datagram" | "icmp-raw"; tcp: "tcp"
    samples: str
    started_wall_ns: int
    policy: Literal["reuse", "per-request"] = "reuse"
    send_bytes: int = 0
    receive_bytes: int = 0
    cells: tuple[str, ...] = ()  # the cells beside this tcp floor
    opened: bool = False  # of older runs
    done: Annotated[Done | PingDone | None, PlainValidator(_answer)] = None


@dataclass(frozen=True, kw_only=True)
class RefereeTool:
    """A load generator as it was found: its version, the SHA-256 of the program, and how far it may be off (0.25: 25 %)."""

    version: str
    sha256: str
    within: float


@dataclass(frozen=True, kw_only=True)
class RefereeRecord:
    """Who measures beside us: the load generators, which of them each cell has, by id, and why the others have none."""

    tools: dict[str, RefereeTool]
    cells: dict[str, str]
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TurnRecord:
    """One turn of a load generator beside one trial: against a responder of its own, started as the trial's.

    `came_first`: before the trial. `told_s`: the window that it was told, `elapsed_s`: how long its process lived.
    `requests`, `window_s` and `median_ns` are what it printed, null where that could not be read (`failure` says why);
    `answered`: what the responder counts of the same time. `sha256`: of what it printed, which lies at `raw`.
    """

    index: int
    block: int
    cell: str
    attempt: int
    tool: str
    came_first: bool
    started_wall_ns: int
    told_s: int = 0
    elapsed_s: float = 0.0
    requests: int | None = None
    window_s: float | None = None
    median_ns: float | None = None
    answered: int | None = None
    sha256: str = ""
    failure: str = ""

    @property
    def raw(self) -> str:
        """Where its output lies, below the run folder."""
        return f"referee/b{self.block:03}-t{self.index:04}-a{self.attempt}.txt"


@dataclass(frozen=True, kw_only=True)
class DecisionRecord:
    """Whether a run ended after so many blocks: it does where each interval reaches no further than is wanted.

    `reaches`: how far the interval of each pair reaches to either side of its ratio of medians (0.03: 3 %), in the plan's
    order; null where fewer than three blocks hold a value of both.
    """

    blocks: int
    reached: bool
    reaches: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class ProgramsRecord:
    """The programs of a language that the run started, as they were built: SHA-256 of the source and of each file.

    `toolchain` and `runtimes` are versions: of what built them, by program, and of what ran them on each host.
    """

    title: str
    source: str
    toolchain: dict[str, str]
    platform: str
    contract: int | None
    artifacts: dict[str, str]
    runtimes: dict[str, dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class ReplyDifference:
    """A value of `same` that two stacks answer differently: the first row where they do, and in how many rows.

    `stacks` are labels, `values` JSON texts, in their order.
    """

    name: str
    row: int
    rows: int
    stacks: tuple[str, str]
    values: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The whole run in one document, but for the samples."""

    run_id: str
    plan_id: str
    plan: Plan
    orch_version: str
    state: Literal["running", "interrupted", "complete"]
    started_at: str  # ISO 8601, UTC
    ended_at: str | None
    fleet: dict[str, Any]
    hosts: dict[str, Description]  # facts by host name
    trials: tuple[TrialRecord, ...]
    baselines: tuple[BaselineRecord, ...]
    files: dict[str, str]  # sha256 by path below the run folder
    journal: str = ""  # the journal's chain where this was derived from it
    warnings: tuple[str, ...] = ()  # conditions a reader must know: no pinning, no ping, ...
    shares_machine: bool = False  # with another measurement, which disturbs both
    programs: dict[str, ProgramsRecord] = field(default_factory=dict)  # that were built, by language
    referee: RefereeRecord | None = None  # of a run that `orch run --referee` made
    turns: tuple[TurnRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()  # of a run that measures until intervals are narrow enough
    differences: tuple[ReplyDifference, ...] = ()  # between the replies of own services
    schema_version: int = SCHEMA_VERSION


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a trial gave no samples: where it ended, and a short word for why.

    The journal also has a sentence, and what the processes wrote last; the manifest has neither.
    """

    stage: str
    kind: str
    message: str = ""
    last_words: str = ""
