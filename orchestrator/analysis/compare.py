"""Stacks against the reference stack, within one run: paired by block, corrected for how many are compared."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, TypeAlias

from orchestrator.analysis import equivalence, intervals, words
from orchestrator.analysis.cells import by_block, censored_blocks, missing_blocks
from orchestrator.analysis.intervals import ALPHA, LogMean
from orchestrator.analysis.summary import CellSummary, Comparison, Interval
from orchestrator.experiment.plan import Plan

Statistic: TypeAlias = Literal["median", "p99", "throughput"]
STATISTICS: tuple[Statistic, ...] = ("median", "p99", "throughput")


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A cell beside its reference cell."""

    cell: CellSummary
    reference: CellSummary
    group: str
    control: bool
    by_block: tuple[float, ...]
    blocks: tuple[int, ...]
    censored: str  # why there is no ratio: blocks without a value, or unsent requests; empty where none matter

    @property
    def result(self) -> LogMean | None:
        return intervals.log_mean([log(r) for r in self.by_block]) if self.by_block else None


def compare_stacks(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """Every stack against the reference, per group of cells that differ in nothing else, for each statistic.

    A stack measured only under another connection policy than the reference is compared all the same (a development
    server that cannot keep a connection open), and the group says so. A pair of which a cell is `invalid` (by id) has no
    interval and decides nothing of the others: its error is not shared, and as a control it widens nothing.
    """
    controls = {s.id for s in plan.stacks if s.control_of}
    reference = plan.reference or plan.stacks[0].id
    found: list[Comparison] = []
    for statistic in STATISTICS:
        groups: dict[str, list[_Pair]] = {}
        for cell in cells:
            if cell.stack != reference and (beside := _reference_of(cell, cells, reference)):
                pair = _pair(cell, beside, statistic, plan.matters, control=cell.stack in controls)
                groups.setdefault(pair.group, []).append(pair)
        for pairs in groups.values():
            found += _judge(pairs, statistic, plan.matters, invalid)
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


def _pair(cell: CellSummary, reference: CellSummary, statistic: Statistic, margin: float, *, control: bool) -> _Pair:
    mine, theirs = by_block(cell.trials, statistic), by_block(reference.trials, statistic)
    policy = (
        cell.connection
        if cell.connection == reference.connection
        else f"{cell.connection} against {reference.connection}"
    )
    sides = (cell, reference)
    censored = "; ".join(t for side in sides if (t := beyond(side, statistic) or moved(side, statistic, margin)))
    shared = () if censored else sorted(mine.keys() & theirs.keys())
    return _Pair(
        cell=cell,
        reference=reference,
        group=", ".join((reference.operation, reference.placement, policy, reference.load)),
        control=control,
        by_block=tuple(mine[block] / theirs[block] for block in shared),
        blocks=tuple(shared),
        censored=censored,
    )


def beyond(cell: CellSummary, statistic: Statistic) -> str:
    """Why a cell has no value of the statistic that could be compared, as a clause; empty where it has one.

    A block whose p99 is a time-out is not left out: what stays would be the blocks in which less failed. Neither is one with
    too few requests for a p99: where time ends a trial, those are the slow ones.
    """
    if not cell.trials and cell.failed_trials:
        return f"{cell.stack_label}: no trial gave a sample, {words.count(cell.failed_trials, 'trial')} failed"
    blocks = censored_blocks(cell.trials, statistic)
    if not blocks:
        return _too_few(cell, statistic)
    text = f"{cell.stack_label}: {words.no_reply(cell.failed, cell.requests)}"
    if cell.failed == cell.requests:
        return text
    text += "; "
    if statistic == "throughput":
        text += "there was no right reply at all"
    else:
        limit = words.limit(cell.distribution.limit if cell.distribution else None, cell.timeout)
        text += f"{statistic if statistic == 'p99' else 'the median'} is beyond {limit}"
    if len(blocks) < len(cell.trials):
        text += f" in {len(blocks)} of {len(cell.trials)} blocks"
    return text


def moved(cell: CellSummary, statistic: Statistic, margin: float) -> str:
    """Why what an open loop did not send leaves a percentile open, as a clause; empty where it matters to nobody.

    How long it would have taken is not known. As the slowest of all, as a failed request counts, it may move a percentile
    by more than the margin: then the comparison of those that were sent answers another question.
    """
    factors = [trial.unsent_moves[statistic] for trial in cell.trials if statistic in trial.unsent_moves]
    blocks = sum(factor is None or factor > 1 + margin for factor in factors)
    if not blocks:
        return ""
    name = statistic if statistic == "p99" else "the median"
    text = (
        f"{cell.stack_label}: {words.percent(cell.share_unsent)} of what was due was not sent, "
        f"which may move {name} by more than {words.margin(margin)}"
    )
    return text if blocks == len(cell.trials) else f"{text} in {blocks} of {len(cell.trials)} blocks"


def _too_few(cell: CellSummary, statistic: Statistic) -> str:
    missing = missing_blocks(cell.trials, statistic)
    if not missing:
        return ""
    return (
        f"{cell.stack_label}: {len(missing)} of {len(cell.trials)} blocks have no {statistic}, as their trials hold too few "
        "requests, which may be the slow ones"
    )


def _judge(pairs: Sequence[_Pair], statistic: Statistic, margin: float, invalid: Container[str]) -> list[Comparison]:
    """Holm over the stacks of a group. Controls stand outside: that they are equal is known, not asked."""
    sound = [None if p.cell.id in invalid or p.reference.id in invalid else p.result for p in pairs]
    results = list(zip(pairs, intervals.with_shared_error(sound), strict=True))
    envelope = max((abs(r.mean) for p, r in results if p.control and r), default=0.0)
    asked = [(p, r) for p, r in results if not p.control]
    p_values = [r.p_value for _, r in asked if r and r.p_value is not None]
    adjusted, levels = iter(intervals.holm(p_values)), iter(intervals.holm_levels(p_values))
    found = []
    for pair, result in asked:
        if result and result.p_value is not None:
            interval = result.interval(next(levels))
            found.append(_comparison(pair, statistic, next(adjusted), interval, margin, envelope))
        else:
            found.append(_comparison(pair, statistic, None, None, margin, envelope))
    for pair, result in results:
        if pair.control:
            interval = result.interval(ALPHA) if result else None
            p_value = result.p_value if result else None
            found.append(_comparison(pair, statistic, p_value, interval, margin, 0.0))
    return found


def _comparison(
    pair: _Pair,
    statistic: Statistic,
    p_value: float | None,
    interval: Interval | None,
    margin: float,
    envelope: float,
) -> Comparison:
    result = pair.result
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
        blocks=pair.blocks,
        standing=equivalence.standing(interval, margin, envelope=envelope),
        why=_no_interval(pair) if interval is None else equivalence.reason(interval, margin, envelope=envelope),
        control=pair.control,
    )


def _no_interval(pair: _Pair) -> str:
    if pair.censored:
        return pair.censored
    blocks = len(pair.by_block)
    if not blocks:
        return "no block holds a value of both"
    return f"{blocks} of at least {intervals.FEWEST_BLOCKS} blocks that an interval needs"
