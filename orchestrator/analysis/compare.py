"""Cells against cells that differ in the stack, or in one factor alone: paired by block, corrected for all of the run.

What a run says is put together from all that it compares, so Holm's correction goes over all of it: of equal sides one is
called faster somewhere in at most 5 % of runs, however many comparisons there are (docs/decisions/0015, 0020). Each
statistic is a family of its own; sentences are drawn from the median's alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal, TypeAlias

from orchestrator.analysis import equivalence, intervals, naming, stopping, words
from orchestrator.analysis.cells import by_block, censored_blocks, missing_blocks
from orchestrator.analysis.cost import COST_NAMES, COSTS, CostName
from orchestrator.analysis.intervals import ALPHA, LogMean
from orchestrator.analysis.spread import SPREAD_NAMES, SPREADS, SpreadName
from orchestrator.analysis.summary import CellSummary, Comparison, Interval, Standing
from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.differences import HTTP, differs_in, in_use, may_differ_in
from orchestrator.experiment.plan.documents import FACTOR
from orchestrator.experiment.plan.plan import Cell, Plan

Statistic: TypeAlias = Literal["median", "p99", "throughput"]
STATISTICS: tuple[Statistic, ...] = ("median", "p99", "throughput")
Compared: TypeAlias = Statistic | CostName | SpreadName

_OF_A_QUANTITY: dict[Standing, Standing] = {"faster": "less", "slower": "more"}


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
    may_differ_in: tuple[str, ...]
    factor: str
    subject: str
    against: str  # the reference's value alone
    values: tuple[str, str]  # of the cell and its reference, in words; empty by the stack
    settings: tuple[tuple[object, ...], ...]  # of both cells: whose controls it is judged by
    censored: str  # why there is no ratio: blocks without a value, or unsent requests; empty where none matter

    @property
    def result(self) -> LogMean | None:
        return intervals.log_mean([log(r) for r in self.by_block]) if self.by_block else None


def compare_cells(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """Every pair of cells that the plan compares, by each statistic; contrasts as the plan has them, controls last.

    A stack whose requests were only made in another way than the reference's (a development server that cannot keep a
    connection open) is still compared, and the group says so. A pair of which a cell is `invalid` (by id) has no
    interval and decides nothing of the others: its error is not shared, and as a control it widens nothing. Where a
    stack's reference is invalid, the first valid cell beside it is the reference.
    """
    return compare_by(STATISTICS, plan, cells, _pairs(plan, cells, invalid), invalid)


def _pairs(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]) -> list[contrasts.Pair]:
    """The plan's pairs; stacks of which the reference is invalid are compared with the first valid one among them."""
    pairs, valid = list(contrasts.pairs(plan)), {cell.id for cell in cells if cell.id not in invalid}
    beside: dict[str, list[Cell]] = {}
    for pair in pairs:
        if pair.factor == STACK and not pair.is_control and pair.reference.id not in valid and pair.cell.id in valid:
            beside.setdefault(pair.reference.id, []).append(pair.cell)
    references = {reference: others[0] for reference, others in beside.items() if len(others) > 1}
    for place, pair in enumerate(pairs):
        reference = references.get(pair.reference.id)
        if reference is not None and pair.factor == STACK and not pair.is_control:
            cell = pair.reference if pair.cell.id == reference.id else pair.cell
            pairs[place] = replace(pair, cell=cell, reference=reference)
    return list({(pair.factor, pair.cell.id, pair.reference.id): pair for pair in pairs}.values())


def compare_by(
    statistics: Sequence[Compared],
    plan: Plan,
    cells: Sequence[CellSummary],
    pairs: Iterable[contrasts.Pair],
    invalid: Container[str] = (),
) -> tuple[Comparison, ...]:
    """Any pairs by any statistics, by the same rule: stacks each at the load with its highest throughput, say."""
    by_id = {cell.id: cell for cell in cells}
    return tuple(_compare(plan, pairs, by_id, invalid, statistics))


def compare_costs(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """The same pairs by what requests cost, by the same rule: pairs of which a side was not counted at all are left out.

    A standing is `less` or `more` where one of a time is `faster` or `slower`. Each quantity is a family of its own.
    """
    found = compare_by(COST_NAMES, plan, cells, _pairs(plan, cells, invalid), invalid)
    counted = {(cell.id, name) for cell in cells for name in COST_NAMES if by_block(cell.trials, name)}
    return tuple(c for c in found if {(c.cell, c.statistic), (c.reference_cell, c.statistic)} <= counted)


def compare_spreads(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """Every two stacks that are asked alike, and the pairs by factors, by how far latencies spread; by the same rule.

    A standing is `less` or `more` spread. Each spread is a family of its own. Of streams nothing is compared: their schedule
    is part of how far events lie apart.
    """
    by_id = {cell.id: cell for cell in cells if cell.kind != "stream"}
    return tuple(_compare(plan, contrasts.all_pairs(plan), by_id, invalid, SPREAD_NAMES))


def _compare(
    plan: Plan,
    wanted: Iterable[contrasts.Pair],
    by_id: Mapping[str, CellSummary],
    invalid: Container[str],
    statistics: Sequence[Compared],
) -> Iterator[Comparison]:
    asked = [pair for pair in wanted if pair.cell.id in by_id and pair.reference.id in by_id]
    for statistic in statistics:
        of = [
            _pair(plan, pair, by_id[pair.cell.id], by_id[pair.reference.id], statistic)
            for pair in asked
            if statistic != "throughput" or pair.cell.kind != "stream"  # its schedule sets how many events there are
        ]
        yield from _judge(of, statistic, plan.matters, invalid, stopping.alpha(plan))


def _parts(plan: Plan, cell: CellSummary) -> dict[str, str]:
    document, http = cell.factors.get(FACTOR), cell.factors.get(HTTP)
    return in_use(plan, cell.stack, cell.connection, (cell.operation_id,), document, http)


def _pair(plan: Plan, pair: contrasts.Pair, cell: CellSummary, reference: CellSummary, statistic: Compared) -> _Pair:
    mine, theirs = by_block(cell.trials, statistic), by_block(reference.trials, statistic)
    are_stacks_alike = cell.stack == reference.stack
    parts = () if are_stacks_alike else tuple(_parts(plan, side) for side in (cell, reference))
    settings = tuple((*side.place, side.call) for side in (cell, reference))
    subject, values, against, group = "", ("", ""), "", naming.of_stacks(cell, reference)
    if pair.factor != STACK:
        subject, values = naming.subject(plan, cell, pair.factor), naming.values(pair.factor, (cell, reference))
        against = BY_NAME[pair.factor].briefly(reference.factors[pair.factor])
        group = naming.without(pair.factor, reference)
        cell, reference = (
            replace(side, stack_label=f"{subject} {value}")
            for side, value in zip((cell, reference), values, strict=True)
        )
    sides = (cell, reference)
    censored = by_schedule(sides, statistic) or "; ".join(
        t for side in sides if (t := beyond(side, statistic) or moved(side, statistic, plan.matters))
    )
    shared = () if censored else sorted(mine.keys() & theirs.keys())
    return _Pair(
        cell=cell,
        reference=reference,
        group=group,
        control=pair.is_control,
        by_block=tuple(mine[block] / theirs[block] for block in shared),
        blocks=tuple(shared),
        differs_in=differs_in(*parts) if parts else (),
        may_differ_in=may_differ_in(*parts) if parts else (),
        factor=pair.factor,
        subject=subject,
        against=against,
        values=values,
        settings=settings,
        censored=censored,
    )


def by_schedule(sides: Sequence[CellSummary], statistic: Compared) -> str:
    """Why a statistic says nothing of the stacks, as a clause; empty where it does.

    Of a stream over a distance gaps are timed, and their median is the interval of the schedule, whatever carries them.
    """
    is_gap = any(side.stream is not None and side.stream.timed == "gap" for side in sides)
    if statistic != "median" or not is_gap:
        return ""
    return (
        "over a distance the median gap between events is the interval of their schedule, whatever the stack: only the p99 "
        "of gaps is compared"
    )


def beyond(cell: CellSummary, statistic: Compared) -> str:
    """Why a cell has no value of the statistic that could be compared, as a clause; empty where it has one.

    A block whose p99 is a time-out is not left out: what stays would be the blocks in which less failed. Neither is one with
    too few requests for a p99: where time ends a trial, those are the slow ones.
    """
    if cell.why_undecodable:
        return f"{cell.stack_label}: its reader fails"
    if not cell.trials and cell.failed_trials:
        return f"{cell.stack_label}: no trial gave a sample, {words.count(cell.failed_trials, 'trial')} failed"
    blocks = censored_blocks(cell.trials, statistic)
    if not blocks:
        return _too_few(cell, statistic)
    text = f"{cell.stack_label}: {words.no_reply(cell.failed, cell.requests, cell.kind)}"
    if cell.failed == cell.requests:
        return text
    text += "; "
    if statistic == "throughput":
        text += "no reply was right"
    else:
        limit = words.limit(cell.distribution.limit if cell.distribution else None, cell.timeout)
        where = "falls among them" if cell.kind == "stream" else f"is beyond {limit}"
        text += f"{_percentile(statistic)} {where}"
    if len(blocks) < len(cell.trials):
        text += f" in {len(blocks)} of {len(cell.trials)} blocks"
    return text


def lost(cell: CellSummary, reference: CellSummary, standing: Standing, statistic: Compared = "median") -> str:
    """Why trials that failed as a whole forbid what the other blocks say, as a clause; empty where they do not.

    A trial that gave no sample counts as slower than every other one. So a stack that lost trials may be called slower, and
    neither faster nor a tie: the lost ones may be just the slow ones.
    """
    sides = {"faster": (cell,), "slower": (reference,), "tie": (cell, reference)}.get(standing, ())
    return "; ".join(
        f"{side.stack_label}: {side.failed_trials} of {words.count(len(side.trials) + side.failed_trials, 'trial')} "
        f"failed entirely, which may be the {'costly' if statistic in COSTS else 'slow'} ones"
        for side in sides
        if side.failed_trials
    )


def moved(cell: CellSummary, statistic: Compared, margin: float) -> str:
    """Why what an open loop did not send leaves a percentile open, as a clause; empty where it matters to nobody.

    How long it would have taken is not known. As the slowest of all, as a failed request counts, it may move a percentile
    by more than the margin: then the comparison of those that were sent answers another question.
    """
    moves = "p99" if statistic in SPREADS else statistic  # the slowest make the spread
    factors = [trial.unsent_moves[moves] for trial in cell.trials if moves in trial.unsent_moves]
    blocks = sum(factor is None or factor > 1 + margin for factor in factors)
    if not blocks:
        return ""
    text = (
        f"{cell.stack_label}: {words.percent(cell.share_unsent)} of the requests that were due were not sent, "
        f"which may move {_percentile(statistic)} by more than {words.margin(margin)}"
    )
    return text if blocks == len(cell.trials) else f"{text} in {blocks} of {len(cell.trials)} blocks"


def _percentile(statistic: Compared) -> str:
    """Which percentile decides of a statistic, in words."""
    return "p99" if statistic == "p99" or statistic in SPREADS else "the median"


def _too_few(cell: CellSummary, statistic: Compared) -> str:
    missing = missing_blocks(cell.trials, statistic)
    if not missing:
        return ""
    if statistic in COSTS:
        return f"{cell.stack_label}: {COSTS[statistic]} not known in {len(missing)} of {len(cell.trials)} blocks"
    if statistic in SPREADS:
        return (
            f"{cell.stack_label}: {len(missing)} of {len(cell.trials)} blocks have no {SPREADS[statistic]}, for requests"
            " without a right reply, or too few requests"
        )
    return (
        f"{cell.stack_label}: {len(missing)} of {len(cell.trials)} blocks have no "
        f"{statistic}, as their trials hold too few requests, which may be the slow ones"
    )


def _judge(
    pairs: Sequence[_Pair], statistic: Compared, margin: float, invalid: Container[str], alpha: float = ALPHA
) -> Iterator[Comparison]:
    """Holm over all pairs, error shared within a placement; controls are known to be equal, and not asked.

    A comparison is judged by the widest control in the setting of either of its cells. `alpha` below 0.05 corrects for
    what made a run end: p values grow by as much, so that below 0.05 the interval leaves out 1, and only then.
    """
    results = _with_shared_error(pairs, invalid)
    envelopes = _envelopes(pairs, results)
    p_values = [r.p_value for p, r in zip(pairs, results, strict=True) if not p.control and r and r.p_value is not None]
    family = zip(intervals.holm(p_values), intervals.holm_levels(p_values, alpha), strict=True)
    for pair, result in zip(pairs, results, strict=True):
        if pair.control:
            interval = result.interval(alpha) if result else None
            p_value = _corrected(result.p_value if result else None, alpha)
            yield _comparison(pair, statistic, p_value, interval, margin, 0.0, 1, alpha)
        elif result and result.p_value is not None:
            adjusted, level = next(family)
            envelope = max(envelopes.get(setting, 0.0) for setting in pair.settings)
            interval = result.interval(level)
            p_value = _corrected(adjusted, alpha)
            yield _comparison(pair, statistic, p_value, interval, margin, envelope, len(p_values), alpha)
        else:
            yield _comparison(pair, statistic, None, None, margin, 0.0, 1)


def _corrected(p_value: float | None, alpha: float) -> float | None:
    return None if p_value is None else min(1.0, p_value * ALPHA / alpha)


def _with_shared_error(pairs: Sequence[_Pair], invalid: Container[str]) -> list[LogMean | None]:
    """Each pair's result. The trials of a placement come from the same machines, whatever is asked of them.

    A pair over two placements shares with those of the cell's.
    """
    found: dict[int, LogMean | None] = {}
    for placement in {pair.cell.placement_id for pair in pairs}:
        here = [number for number, pair in enumerate(pairs) if pair.cell.placement_id == placement]
        sound = [
            None if pair.cell.id in invalid or pair.reference.id in invalid else pair.result
            for pair in (pairs[number] for number in here)
        ]
        found |= dict(zip(here, intervals.with_shared_error(sound), strict=True))
    return [found[number] for number in range(len(pairs))]


def _envelopes(pairs: Sequence[_Pair], results: Sequence[LogMean | None]) -> dict[tuple[object, ...], float]:
    """By how much the reference stack differs from itself, as |log ratio|, in each setting that has controls."""
    found: dict[tuple[object, ...], float] = {}
    for pair, result in zip(pairs, results, strict=True):
        if pair.control and result:
            for setting in pair.settings:
                found[setting] = max(found.get(setting, 0.0), abs(result.mean))
    return found


def _comparison(
    pair: _Pair,
    statistic: Compared,
    p_value: float | None,
    interval: Interval | None,
    margin: float,
    envelope: float,
    compared: int,  # how many comparisons the interval is widened for
    alpha: float = ALPHA,
) -> Comparison:
    result = pair.result
    standing = equivalence.standing(interval, margin, envelope=envelope)
    why = (
        _no_interval(pair)
        if interval is None
        else equivalence.reason(
            interval, margin, envelope=envelope, by_block=pair.by_block, compared=compared, alpha=alpha
        )
    )
    if survivors := lost(pair.cell, pair.reference, standing, statistic):
        standing, why, interval, p_value = "cannot tell", survivors, None, None
    if statistic in COSTS or statistic in SPREADS:
        standing = _OF_A_QUANTITY.get(standing, standing)
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
        may_differ_in=pair.may_differ_in,
        standing=standing,
        why=why,
        control=pair.control,
        factor=pair.factor,
        subject=pair.subject,
        value=pair.values[0],
        reference_value=pair.values[1],
        against=pair.against,
    )


def _no_interval(pair: _Pair) -> str:
    if pair.censored:
        return pair.censored
    blocks = len(pair.by_block)
    if not blocks:
        return "no block holds a value of both"
    return f"{blocks} of at least {intervals.FEWEST_BLOCKS} blocks that an interval needs"
