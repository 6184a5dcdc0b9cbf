"""What the index keeps of a run and of its cells: small plain values, so that a listing loads nothing heavy.

Latencies are float milliseconds, throughput is right replies per second, intervals are 95 % (low, high). None means "not
known". Times are ISO 8601 in UTC, to the second, or "" where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from orchestrator.findings.condition import Condition
from orchestrator.statistics.terms import Interval

Validity: TypeAlias = Literal["valid", "warned", "invalid", "not judged"]

UNREADABLE = "unreadable"  # a state beside those of a manifest
RUNNING = "running"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What it takes to compare a cell with the same cell of other runs.

    `means`: by statistic, the mean of the logs of the trials' values. `floors`: readings by kind of floor, ms.
    `pressure`: the share of the worst trial in which something waited for a CPU that others used.
    """

    means: dict[str, float] = field(default_factory=dict)
    floors: dict[str, tuple[float, ...]] = field(default_factory=dict)
    pressure: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CellRecord:
    """One cell of a run. `measures` is equal for cells of two runs that measure the same thing (`between_runs.matching`)."""

    cell: str
    label: str
    stack: str
    stack_label: str
    placement: str
    measures: str
    median: float | None = None
    median_interval: Interval | None = None
    p99: float | None = None
    p99_interval: Interval | None = None
    throughput: float | None = None
    throughput_interval: Interval | None = None
    requests: int = 0
    errors: int = 0
    failed_checks: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What a listing shows of a run. `id` is the name of its folder.

    `trouble` is why no more is known. `passed`, `warned`, `failed`: checks, each by its worst verdict. `hosts`: names, CPUs
    and machine types. `notes` begin with their time, and stay on this machine.
    """

    id: str
    name: str = ""
    question: str = ""
    started: str = ""
    state: str = UNREADABLE
    provider: str = ""
    hosts: tuple[str, ...] = ()
    verdict: str = ""
    passed: int = 0
    warned: int = 0
    failed: int = 0
    validity: Validity = "not judged"
    trouble: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunRecord(RunFacts):
    """A run as it enters the index; `conditions` and `settings` are those of its summary."""

    manifest_sha256: str = ""
    conditions: tuple[Condition, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    cells: tuple[CellRecord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Listed(RunFacts):
    """A run as a listing shows it; of its cells only which stacks and placements there are."""

    path: str = ""
    stacks: tuple[str, ...] = ()
    placements: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which runs a listing shows: every condition that is given must hold.

    `text`: words that must all be in a run's id, time, experiment, question, answer, state, checks, stacks, placements,
    hosts or notes, whatever their case.
    """

    run: str | None = None
    text: str = ""
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A cell in one run, with what of the run a trend needs."""

    run: str
    started: str
    state: str
    conditions: tuple[Condition, ...]
    settings: dict[str, Any]
    cell: CellRecord
