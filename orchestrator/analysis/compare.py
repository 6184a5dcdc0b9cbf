"""Stacks against the reference stack, within one run: paired by block, corrected for all comparisons of the run.

What a run says is put together from all of its settings, so Holm's correction goes over all of them: of equal stacks one is
called quicker somewhere in at most 5 % of runs, however many settings there are (docs/decisions/0015). Each statistic is a
family of its own; sentences are drawn from the median's alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, TypeAlias

from orchestrator.analysis import equivalence, intervals, words
from orchestrator.analysis.cells import by_block, censored_blocks, missing_blocks
from orchestrator.analysis.intervals import ALPHA, LogMean
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, Standing
from orchestrator.experiment.model.factors import short
from orchestrator.experiment.plan.differences import differs_in, in_use
from orchestrator.experiment.plan.plan import Plan

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
    differs_in: tuple[str, ...]
    censored: str  # why there is no ratio: blocks without a value, or unsent requests; empty where none matter

    @property
    def result(self) -> LogMean | None:
        return intervals.log_mean([log(r) for r in self.by_block]) if self.by_block else None


def compare_stacks(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """Every stack against the reference, per group of cells that differ in nothing else, for each statistic.

    A stack whose requests were only made in another way than the reference's (a development server that cannot keep a
    connection open) is compared all the same, and the group says so. A pair of which a cell is `invalid` (by id) has no
    interval and decides nothing of the others: its error is not shared, and as a control it widens nothing.
    """
    controls = {s.id for s in plan.stacks if s.control_of}
    reference = plan.reference or plan.stacks[0].id
    found: list[Comparison] = []
    for statistic in STATISTICS:
        groups: dict[str, list[_Pair]] = {}
        for cell in cells:
            if cell.stack != reference and (beside := _reference_of(cell, cells, reference)):
                differs = differs_in(*(_parts(plan, side) for side in (cell, beside)))
                pair = _pair(cell, beside, statistic, plan.matters, differs, control=cell.stack in controls)
                groups.setdefault(pair.group, []).append(pair)
        found += _judge(list(groups.values()), statistic, plan.matters, invalid)
    return tuple(found)


def _reference_of(cell: CellSummary, cells: Iterable[CellSummary], reference: str) -> CellSummary | None:
    alike = [other for other in cells if other.stack == reference and other.place == cell.place]
    same_call = [other for other in alike if other.call == cell.call]
    if same_call:
        return same_call[0]
    return alike[0] if len(alike) == 1 else None


def _parts(plan: Plan, cell: CellSummary) -> dict[str, str]:
    return in_use(plan, cell.stack, cell.connection, (cell.operation_id,))


def _pair(
    cell: CellSummary,
    reference: CellSummary,
    statistic: Statistic,
    margin: float,
    differs: tuple[str, ...],
    *,
    control: bool,
) -> _Pair:
    mine, theirs = by_block(cell.trials, statistic), by_block(reference.trials, statistic)
    calls = dict.fromkeys(", ".join(short(side.factors)) for side in (cell, reference))
    sides = (cell, reference)
    censored = "; ".join(t for side in sides if (t := beyond(side, statistic) or moved(side, statistic, margin)))
    shared = () if censored else sorted(mine.keys() & theirs.keys())
    return _Pair(
        cell=cell,
        reference=reference,
        group=", ".join((reference.operation, reference.placement, " against ".join(calls), reference.load)),
        control=control,
        by_block=tuple(mine[block] / theirs[block] for block in shared),
        blocks=tuple(shared),
        differs_in=differs,
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


def lost(cell: CellSummary, reference: CellSummary, standing: Standing) -> str:
    """Why trials that failed as a whole forbid what the other blocks say, as a clause; empty where they do not.

    A trial that gave no sample counts as slower than every other one. So a stack that lost trials may be called slower, and
    neither faster nor a tie: the lost ones may be just the slow ones.
    """
    sides = {"faster": (cell,), "slower": (reference,), "tie": (cell, reference)}.get(standing, ())
    return "; ".join(
        f"{side.stack_label}: {side.failed_trials} of {words.count(len(side.trials) + side.failed_trials, 'trial')} "
        "failed as a whole, which may be the slow ones"
        for side in sides
        if side.failed_trials
    )


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


def _judge(
    groups: Sequence[Sequence[_Pair]], statistic: Statistic, margin: float, invalid: Container[str]
) -> list[Comparison]:
    """Holm over all groups, error shared within a placement; controls are known to be equal, and not asked."""
    shared = _with_shared_error([pair for pairs in groups for pair in pairs], invalid)
    results = [[(pair, shared[pair.cell.id]) for pair in pairs] for pairs in groups]
    p_values = [r.p_value for of in results for p, r in of if not p.control and r and r.p_value is not None]
    family = zip(intervals.holm(p_values), intervals.holm_levels(p_values), strict=True)
    return [c for of in results for c in _of_group(of, family, statistic, margin)]


def _with_shared_error(pairs: Sequence[_Pair], invalid: Container[str]) -> dict[str, LogMean | None]:
    """Each cell's result. The trials of a placement come from the same machines, whatever the setting asks of them."""
    found: dict[str, LogMean | None] = {}
    for placement in {pair.cell.placement_id for pair in pairs}:
        here = [pair for pair in pairs if pair.cell.placement_id == placement]
        sound = [None if p.cell.id in invalid or p.reference.id in invalid else p.result for p in here]
        results = intervals.with_shared_error(sound)
        found |= {pair.cell.id: result for pair, result in zip(here, results, strict=True)}
    return found


def _of_group(
    results: Sequence[tuple[_Pair, LogMean | None]],
    family: Iterator[tuple[float, float]],
    statistic: Statistic,
    margin: float,
) -> Iterator[Comparison]:
    """Stacks before controls; `family` has the adjusted p value and the interval's level of each stack to come."""
    envelope = max((abs(r.mean) for p, r in results if p.control and r), default=0.0)
    for pair, result in results:
        if pair.control:
            continue
        if result and result.p_value is not None:
            adjusted, level = next(family)
            yield _comparison(pair, statistic, adjusted, result.interval(level), margin, envelope)
        else:
            yield _comparison(pair, statistic, None, None, margin, envelope)
    for pair, result in results:
        if pair.control:
            interval = result.interval(ALPHA) if result else None
            yield _comparison(pair, statistic, result.p_value if result else None, interval, margin, 0.0)


def _comparison(
    pair: _Pair,
    statistic: Statistic,
    p_value: float | None,
    interval: Interval | None,
    margin: float,
    envelope: float,
) -> Comparison:
    result = pair.result
    standing = equivalence.standing(interval, margin, envelope=envelope)
    why = _no_interval(pair) if interval is None else equivalence.reason(interval, margin, envelope=envelope)
    if survivors := lost(pair.cell, pair.reference, standing):
        standing, why, interval, p_value = "cannot tell", survivors, None, None
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
        differs_in=pair.differs_in,
        standing=standing,
        why=why,
        control=pair.control,
    )


def _no_interval(pair: _Pair) -> str:
    if pair.censored:
        return pair.censored
    blocks = len(pair.by_block)
    if not blocks:
        return "no block holds a value of both"
    return f"{blocks} of at least {intervals.FEWEST_BLOCKS} blocks that an interval needs"
