"""What a gate found: each call by each statistic, and all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import stdev
from typing import Any, Literal

from orchestrator.between_runs.across import Row, compare_within
from orchestrator.between_runs.changes import Changed
from orchestrator.findings.compare import STATISTICS, Statistic
from orchestrator.findings.summary import RunSummary
from orchestrator.gate.arms import Side
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval

Verdict = Literal["slower", "not slower", "undecided"]


@dataclass(frozen=True, kw_only=True)
class CallRow:
    """Head against base in one call by one statistic. `again`: its verdict in a run of its own, after an alarm."""

    call: str
    row: Row
    verdict: Verdict
    is_decisive: bool  # by the experiment's metric; others only raise alarms
    limit: float
    again: Verdict | None = None

    @property
    def is_alarm(self) -> bool:
        """Whether it is to be measured again, or was and failed."""
        return self.verdict == "slower"


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """One run of one call. Noise is A/A: base against base again, and how far blocks spread, as an SD of logs."""

    call: str
    seconds: float
    run: str
    rows: tuple[CallRow, ...] = ()  # none where there was no time for a block
    noise: Interval | None = None
    spread: float | None = None
    blocks: int = 0
    report: str | None = None
    failed_checks: tuple[str, ...] = ()
    errors: tuple[float, float] = (0.0, 0.0)  # the shares of requests of base and head without a right reply

    @property
    def is_undecided(self) -> bool:
        """Whether it has no verdict by the metric."""
        return not self.rows or any(row.is_decisive and row.verdict == "undecided" for row in self.rows)

    def without_alarms(self) -> CallResult:
        """It with its alarms undecided: those that no other run confirms."""
        return replace(self, rows=tuple(_open(row) if row.is_alarm else row for row in self.rows))

    @property
    def costs(self) -> Iterator[tuple[str, Changed]]:
        """What requests cost, with the name of their row."""
        return ((each.call, cost) for each in self.rows if each.is_decisive for cost in each.row.costs)


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """A whole gate; `calls` as they were measured last, `runs` all that were made."""

    name: str
    base: Side
    head: Side
    metric: Statistic
    limit: float
    calls: tuple[CallResult, ...]
    runs: tuple[CallResult, ...]
    seconds: float

    @property
    def rows(self) -> tuple[CallRow, ...]:
        """Of all calls: what is slower first, then what is undecided, the worst ratio first."""
        order = {"slower": 0, "undecided": 1, "not slower": 2}
        rows = [row for call in self.calls for row in call.rows]
        return tuple(sorted(rows, key=lambda row: (order[row.verdict], not row.is_decisive, -(row.row.ratio or 0))))

    @property
    def decisive(self) -> tuple[CallRow, ...]:
        """The rows that the verdict rests on: those by the metric, and confirmed alarms by another statistic."""
        return tuple(row for row in self.rows if row.is_decisive or row.is_alarm)

    @property
    def verdict(self) -> Verdict:
        """Slower where one row is, undecided where none is and one of the metric is."""
        verdicts = {row.verdict for row in self.decisive}
        if "slower" in verdicts:
            return "slower"
        is_open = "undecided" in verdicts or not all(call.rows for call in self.calls)
        return "undecided" if is_open else "not slower"

    @property
    def noise(self) -> Interval | None:
        """The A/A interval that lies farthest from 1."""
        return _farthest(call.noise for call in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json` and the record."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "metric": self.metric,
            "limit": self.limit,
            "base": {"label": self.base.label, "commit": self.base.commit},
            "head": {"label": self.head.label, "commit": self.head.commit, "changed": list(self.head.changed)},
            "calls": [document for call in self.calls for document in _documents(call)],
            "own_noise": None if self.noise is None else list(self.noise),
            "spreads": {call.call: call.spread for call in self.calls},
            "block_seconds": {call.call: call.seconds / call.blocks for call in self.calls if call.blocks},
            "rounds": sum(run.blocks for run in self.runs),
            "seconds": round(self.seconds, 1),
            "confirmed": any(row.again == "slower" for row in self.rows),
            "runs": [run.run for run in self.runs],
            "reports": [run.report for run in self.runs if run.report],
        }


def _documents(call: CallResult) -> Iterator[dict[str, Any]]:
    """Yield the rows as plain data; costs and errors have no verdict."""
    for each in call.rows:
        yield _document(each.call, each.row) | {"verdict": each.verdict, "limit": each.limit}
    for name, cost in call.costs:
        yield _document(name, cost)
    base, head = call.errors
    errors = {"name": call.call, "metric": "errors", "base": base, "head": head}
    yield errors | dict.fromkeys(("ratio", "low", "high", "verdict"))


def _document(name: str, item: Changed) -> dict[str, Any]:
    values = {"base": item.reference_value, "head": item.value, "ratio": item.ratio}
    low, high = item.interval or (None, None)
    return {"name": name, "metric": item.statistic, **values, "low": low, "high": high, "verdict": None}


def judged(call: str, summary: RunSummary, limit: float, metric: str) -> tuple[CallRow, ...]:
    """Return each row of a run by each statistic, without regard to other runs."""
    several = len({row.group for row in compare_within(summary, "median").rows}) > 1
    return tuple(
        CallRow(
            call=f"{call}, {row.group}" if several else call,
            row=row,
            verdict=_verdict(row, limit),
            is_decisive=statistic == metric,
            limit=limit,
        )
        for statistic in STATISTICS
        for row in compare_within(summary, statistic).rows
    )


def _verdict(row: Row, limit: float) -> Verdict:
    """Slower where the interval leaves out 1 and reaches the limit, not slower where it lies below the limit."""
    if row.interval is None or row.doubts or row.verdict == "cannot tell":
        return "undecided"
    if row.verdict == "slower":
        return "slower"
    return "not slower" if row.interval[1] < 1 + limit else "undecided"


def noise(summary: RunSummary, metric: str) -> tuple[Interval | None, float | None]:
    """The interval of base against itself that lies farthest from 1, and the SD over blocks of head's log ratios."""
    pairs = [c for c in summary.comparisons if c.statistic == metric]
    spreads = [stdev(map(log, c.by_block)) for c in pairs if len(c.by_block) >= intervals.FEWEST_BLOCKS]
    return _farthest(c.interval for c in pairs if c.control), max(spreads, default=None)


def _farthest(intervals_of: Iterable[Interval | None]) -> Interval | None:
    return max(filter(None, intervals_of), key=lambda bounds: abs(log(bounds[0] * bounds[1])), default=None)


def p_values(first: CallResult, again: CallResult) -> list[float]:
    """Those of a second run for what was an alarm in the first, in its order; 1 where it has none."""
    after = {(row.call, row.row.statistic): row.row.p_value for row in again.rows}
    values = (after.get((row.call, row.row.statistic)) for row in first.rows if row.is_alarm)
    return [1.0 if value is None else value for value in values]


def confirmed(first: CallResult, again: CallResult, adjusted: Sequence[float]) -> CallResult:
    """A call after its alarms were measured again: slower is what was slower in both runs.

    `adjusted`: what Holm makes of `p_values` over all calls. What is slower in one of both runs is undecided.
    """
    alarms = [(row.call, row.row.statistic) for row in first.rows if row.is_alarm]
    sure = {key for key, p_value in zip(alarms, adjusted, strict=True) if p_value < intervals.ALPHA}
    if not again.rows:  # there was no time for it
        return replace(again, rows=first.without_alarms().rows)
    rows = []
    for row in again.rows:
        key = (row.call, row.row.statistic)
        after = row if row.verdict != "slower" or key in sure else _open(row)
        rows.append(replace(after, again=after.verdict if key in alarms else None))
    return replace(again, rows=tuple(rows))


def _open(row: CallRow) -> CallRow:
    return replace(row, verdict="undecided")
