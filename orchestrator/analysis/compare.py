"""Stacks against the reference stack, within one run: paired by block, corrected for how many are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal, TypeAlias

from orchestrator.analysis import intervals, words
from orchestrator.analysis.cells import by_block
from orchestrator.analysis.intervals import ALPHA, LogMean
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, Standing
from orchestrator.experiment.plan import Plan

Statistic: TypeAlias = Literal["median", "p99", "throughput"]
STATISTICS: tuple[Statistic, ...] = ("median", "p99", "throughput")

# Who calls two stacks a tie says that they are about alike. An interval that leaves more than this to either side of
# its middle says nothing of the kind.
WIDEST_TIE = 1.5


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A cell beside its reference cell."""

    cell: CellSummary
    reference: CellSummary
    group: str
    control: bool
    by_block: tuple[float, ...]

    @property
    def result(self) -> LogMean | None:
        return intervals.log_mean([log(r) for r in self.by_block]) if self.by_block else None


def compare_stacks(plan: Plan, cells: Sequence[CellSummary]) -> tuple[Comparison, ...]:
    """Every stack against the reference, per group of cells that differ in nothing else, for each statistic.

    A stack measured only under another connection policy than the reference is compared all the same (a development
    server that cannot keep a connection open), and the group says so.
    """
    controls = {s.id for s in plan.stacks if s.control_of}
    reference = plan.reference or plan.stacks[0].id
    found: list[Comparison] = []
    for statistic in STATISTICS:
        groups: dict[str, list[_Pair]] = {}
        for cell in cells:
            if cell.stack != reference and (beside := _reference_of(cell, cells, reference)):
                pair = _pair(cell, beside, statistic, control=cell.stack in controls)
                groups.setdefault(pair.group, []).append(pair)
        for pairs in groups.values():
            found += _judge(pairs, statistic)
    return tuple(found)


def _reference_of(cell: CellSummary, cells: Iterable[CellSummary], reference: str) -> CellSummary | None:
    alike = [
        other
        for other in cells
        if other.stack == reference
        and (other.operation_id, other.placement_id) == (cell.operation_id, cell.placement_id)
        and (other.load, other.concurrency) == (cell.load, cell.concurrency)
    ]
    same_policy = [other for other in alike if other.connection == cell.connection]
    if same_policy:
        return same_policy[0]
    return alike[0] if len(alike) == 1 else None


def _pair(cell: CellSummary, reference: CellSummary, statistic: Statistic, *, control: bool) -> _Pair:
    mine, theirs = by_block(cell.trials, statistic), by_block(reference.trials, statistic)
    policy = (
        cell.connection
        if cell.connection == reference.connection
        else f"{cell.connection} against {reference.connection}"
    )
    return _Pair(
        cell=cell,
        reference=reference,
        group=", ".join((reference.operation, reference.placement, policy, reference.load)),
        control=control,
        by_block=tuple(mine[block] / theirs[block] for block in sorted(mine.keys() & theirs.keys())),
    )


def _judge(pairs: Sequence[_Pair], statistic: Statistic) -> list[Comparison]:
    """Holm over the stacks of a group. Controls stand outside: that they are equal is known, not asked."""
    results = list(zip(pairs, intervals.with_shared_error([p.result for p in pairs]), strict=True))
    envelope = max((abs(r.mean) for p, r in results if p.control and r), default=None)
    asked = [(p, r) for p, r in results if not p.control]
    p_values = [r.p_value for _, r in asked if r and r.p_value is not None]
    adjusted, levels = iter(intervals.holm(p_values)), iter(intervals.holm_levels(p_values))
    found = []
    for pair, result in asked:
        if result and result.p_value is not None:
            found.append(_comparison(pair, statistic, result, next(adjusted), result.interval(next(levels)), envelope))
        else:
            found.append(_comparison(pair, statistic, result, None, None, envelope))
    for pair, result in results:
        if pair.control:
            interval = result.interval(ALPHA) if result else None
            p_value = result.p_value if result else None
            found.append(_comparison(pair, statistic, result, p_value, interval, envelope))
    return found


def _comparison(
    pair: _Pair,
    statistic: Statistic,
    result: LogMean | None,
    p_value: float | None,
    interval: Interval | None,
    envelope: float | None,
) -> Comparison:
    standing, why = _standing(pair, result, interval, envelope)
    half = log(interval[1] / interval[0]) / 2 if interval else None
    return Comparison(
        cell=pair.cell.id,
        reference_cell=pair.reference.id,
        group=pair.group,
        stack=pair.cell.stack,
        stack_label=pair.cell.stack_label,
        reference_label=pair.reference.stack_label,
        statistic=statistic,
        ratio=result.ratio if result else None,
        interval=interval,
        p_value=p_value,
        by_block=pair.by_block,
        standing=standing,
        why=why,
        resolution=exp(max(half, envelope or 0.0)) - 1 if half is not None else None,
        control=pair.control,
    )


def _standing(
    pair: _Pair, result: LogMean | None, interval: Interval | None, envelope: float | None
) -> tuple[Standing, str]:
    if result is None:
        return "cannot tell", "no block holds a value of both"
    if interval is None:
        return "cannot tell", f"{result.n} of at least {intervals.FEWEST_BLOCKS} blocks that an interval needs"
    if pair.control:
        return "tie", "the reference stack against itself"
    if interval[0] <= 1 <= interval[1]:
        if interval[1] / interval[0] > WIDEST_TIE**2:
            return "cannot tell", "the blocks differ too much from one another"
        return "tie", "the interval holds 1"
    if envelope is not None and abs(result.mean) <= envelope:
        return "tie", f"the reference differs from itself by as much ({words.percent(exp(envelope) - 1)})"
    return ("faster" if result.mean < 0 else "slower"), "the interval leaves out 1"
