"""Cells against cells that differ in the stack, or in one factor alone: paired by block, corrected for all of the run.

What a run says is put together from all that it compares, so Holm's correction goes over all of it: of equal sides one is
called faster somewhere in at most 5 % of runs, however many comparisons there are (docs/decisions.md: 0015, 0020). Each
statistic is a family of its own; sentences are drawn from the median's alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import fmean
from typing import TypeAlias

from orchestrator.experiment.model.factors import BY_NAME, STACK
from orchestrator.experiment.model.options import Metric
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.own.json_documents import DOCUMENT
from orchestrator.experiment.plan.parts import HTTP, differs_in, in_use
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.findings import naming
from orchestrator.findings.block_values import by_block, by_schedule, lost, moved, ratios, why_no_value
from orchestrator.findings.disturbed import Disturbed, corrected
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.findings.trial_values import COST_NAMES, COSTS, SPREAD_NAMES, SPREADS, CostName, SpreadName
from orchestrator.statistics import equivalence, intervals
from orchestrator.statistics.intervals import ALPHA, LogMean
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, Standing, because

Statistic: TypeAlias = Metric
STATISTICS: tuple[Statistic, ...] = ("median", "p99", "throughput")
Compared: TypeAlias = Statistic | CostName | SpreadName

_OF_A_QUANTITY: dict[Standing, Standing] = {"faster": "less", "slower": "more"}


SHARE = 0.6
"""Of the error, at each look before the last block; chosen by simulation."""


def error_of(plan: Plan, blocks: int | None = None) -> float:
    """The error of intervals after so many blocks (those of the plan, unless given): smaller where a run may have ended.

    `plan` as it was made: of one that ended early, `repeats` are the blocks that it has.
    """
    run_blocks = plan.blocks if blocks is None else blocks
    return ALPHA * SHARE if plan.until is not None and run_blocks < plan.until.at_most else ALPHA


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """A cell beside its reference cell, with the comparison of them before it is judged."""

    cell: CellSummary
    reference: CellSummary
    comparison: Comparison
    settings: tuple[tuple[object, ...], ...]  # of both cells: whose controls it is judged by
    censored: Reason | None  # why there is no ratio, where it is not for too few blocks
    held_up: tuple[float, ...]  # what others took of the cell's trials, by block
    held_up_reference: tuple[float, ...]
    corrected: tuple[float, ...]  # each block's ratio without that


def _log_mean(ratios: Sequence[float]) -> LogMean | None:
    return intervals.log_mean([log(ratio) for ratio in ratios]) if ratios else None


def compare_cells(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str] = ()) -> tuple[Comparison, ...]:
    """Every pair of cells that the plan compares, by each statistic; contrasts as the plan has them, controls last.

    A stack whose requests were only made in another way than the reference's (a development server that cannot keep a
    connection open) is still compared, and the group says so. A pair with an `invalid` cell (by id) has no
    interval and decides nothing of the others: its error is not shared, and as a control it widens nothing. Where a
    stack's reference is invalid, the first valid cell beside it is the reference.
    """
    return compare_by(STATISTICS, plan, cells, _pairs(plan, cells, invalid), invalid)


def _pairs(plan: Plan, cells: Sequence[CellSummary], invalid: Container[str]) -> list[contrasts.Pair]:
    """The plan's pairs; stacks with an invalid reference are compared with the first valid one among them."""
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
    """The same pairs by what requests cost, by the same rule: pairs with a side that was not counted at all are left out.

    A standing is `less` or `more` where one of a time is `faster` or `slower`. Each quantity is a family of its own.
    """
    compared = compare_by(COST_NAMES, plan, cells, _pairs(plan, cells, invalid), invalid)
    counted = {(cell.id, name) for cell in cells for name in COST_NAMES if by_block(cell.trials, name)}
    return tuple(c for c in compared if {(c.cell, c.statistic), (c.reference_cell, c.statistic)} <= counted)


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
    known = [pair for pair in wanted if pair.cell.id in by_id and pair.reference.id in by_id]
    for statistic in statistics:
        compared = [
            _pair(plan, pair, by_id[pair.cell.id], by_id[pair.reference.id], statistic)
            for pair in known
            if statistic != "throughput" or pair.cell.kind != "stream"  # its schedule sets how many events there are
        ]
        yield from _judge(compared, plan.matters, invalid, error_of(plan))


def _parts(plan: Plan, cell: CellSummary) -> dict[str, str]:
    document, http = cell.factors.get(DOCUMENT), cell.factors.get(HTTP)
    return in_use(plan, cell.stack, cell.connection, cell.operation, document, http)


def _pair(plan: Plan, pair: contrasts.Pair, cell: CellSummary, reference: CellSummary, statistic: Compared) -> _Pair:
    are_stacks_alike = cell.stack == reference.stack
    parts = () if are_stacks_alike else tuple(_parts(plan, side) for side in (cell, reference))
    sides = (cell, reference)
    causes = (why_no_value(side, statistic) or moved(side, statistic, plan.matters) for side in sides)
    censored = by_schedule(sides, statistic) or next((cause for cause in causes if cause), None)
    shared = {} if censored else ratios(cell, reference, statistic)
    by_side = [{trial.block: trial.held_up for trial in side.trials} for side in sides]
    held_up, held_up_reference = (tuple(shares[block] for block in shared) for shares in by_side)
    comparison = Comparison(
        cell=cell.id,
        reference_cell=reference.id,
        group=naming.of_stacks(cell, reference),
        stack=cell.stack,
        stack_label=cell.labels.stack,
        reference_label=reference.labels.stack,
        statistic=statistic,
        ratio=None,
        interval=None,
        p_value=None,
        by_block=tuple(shared.values()),
        blocks=tuple(shared),
        differs_in=differs_in(*parts) if parts else (),
        standing="cannot tell",
        control=pair.is_control,
        factor=pair.factor,
    )
    if pair.factor != STACK:
        subject = naming.subject(plan, cell, pair.factor)
        values = [BY_NAME[pair.factor].compared(side.factors[pair.factor]) for side in sides]  # `with gzip`
        comparison = replace(
            comparison,
            group=naming.without(pair.factor, reference),
            stack_label=f"{subject} {values[0]}",
            reference_label=f"{subject} {values[1]}",
            subject=subject,
            value=values[0],
            reference_value=values[1],
            against=BY_NAME[pair.factor].briefly(reference.factors[pair.factor]),
        )
    return _Pair(
        cell=cell,
        reference=reference,
        comparison=comparison,
        settings=(pair.cell.setting, pair.reference.setting),
        censored=censored,
        held_up=held_up,
        held_up_reference=held_up_reference,
        corrected=corrected(tuple(shared.values()), held_up, held_up_reference, statistic),
    )


def _judge(
    pairs: Sequence[_Pair], margin: float, invalid: Container[str], alpha: float = ALPHA
) -> Iterator[Comparison]:
    """Holm over all pairs, and over all controls; comparisons of one placement moderate each other.

    A comparison is judged by the widest control in the setting of either of its cells. `alpha` below 0.05 corrects for
    what made a run end: p values grow by as much, so that below 0.05 the interval leaves out 1, and only then.
    """
    results = _moderated(pairs, [pair.comparison.by_block for pair in pairs], invalid)
    undisturbed = _moderated(pairs, [pair.corrected for pair in pairs], invalid)
    envelopes = _envelopes(pairs, results)
    known = zip(pairs, results, strict=True)
    families = Counter(p.comparison.control for p, result in known if result is not None and result.p_value is not None)
    both_ways = zip(pairs, _holm(pairs, results, alpha), _holm(pairs, undisturbed, alpha), strict=True)
    for pair, as_measured, without in both_ways:
        is_control = pair.comparison.control
        judged = as_measured if is_control else _spanning(pair, as_measured, without)
        envelope = 0.0 if is_control else max(envelopes.get(setting, 0.0) for setting in pair.settings)
        yield _comparison(pair, judged, margin, envelope, families[is_control])


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """A ratio's p value and interval, corrected for all of the run; None without an interval."""

    p_value: float | None = None
    interval: Interval | None = None
    disturbed: Disturbed | None = None


def _holm(pairs: Sequence[_Pair], results: Sequence[LogMean | None], alpha: float) -> list[_Judged]:
    """By pair. The controls of a run are a family of their own."""
    judged = [_Judged()] * len(pairs)
    for control in (False, True):
        known = {
            number: result
            for number, (pair, result) in enumerate(zip(pairs, results, strict=True))
            if pair.comparison.control == control and result is not None and result.p_value is not None
        }
        p_values = [result.p_value for result in known.values() if result.p_value is not None]
        family = zip(intervals.holm(p_values), intervals.holm_levels(p_values, alpha), strict=True)
        for (number, result), (p_value, level) in zip(known.items(), family, strict=True):
            judged[number] = _Judged(p_value=min(1.0, p_value * ALPHA / alpha), interval=result.interval(level))
    return judged


def _spanning(pair: _Pair, as_measured: _Judged, without: _Judged) -> _Judged:
    """Of a pair that others held up both results in one: what each of the two says, and no more."""
    plain, other = as_measured.interval, without.interval
    if plain is None or other is None or not any((*pair.held_up, *pair.held_up_reference)):
        return as_measured
    is_one_side = (plain[0] > 1) == (other[0] > 1) and (plain[1] < 1) == (other[1] < 1)
    return _Judged(
        p_value=max(as_measured.p_value or 0.0, without.p_value or 0.0) if is_one_side else 1.0,
        interval=(min(plain[0], other[0]), max(plain[1], other[1])),
        disturbed=Disturbed(cell=pair.held_up, reference=pair.held_up_reference, as_measured=plain, corrected=other),
    )


def _moderated(
    pairs: Sequence[_Pair], ratios: Sequence[Sequence[float]], invalid: Container[str]
) -> list[LogMean | None]:
    """Each pair's result, of its ratios by block; moderated by those whose cell has the same placement."""
    sound = [
        None if pair.cell.id in invalid or pair.reference.id in invalid else _log_mean(by_block)
        for pair, by_block in zip(pairs, ratios, strict=True)
    ]
    return intervals.moderated_by_place([pair.cell.placement for pair in pairs], sound)


def _envelopes(pairs: Sequence[_Pair], results: Sequence[LogMean | None]) -> dict[tuple[object, ...], float]:
    """By how much the reference stack differs from itself, as |log ratio|, in each setting that has controls."""
    envelopes: dict[tuple[object, ...], float] = {}
    for pair, result in zip(pairs, results, strict=True):
        if pair.comparison.control and result:
            for setting in pair.settings:
                envelopes[setting] = max(envelopes.get(setting, 0.0), abs(result.mean))
    return envelopes


def _comparison(pair: _Pair, judged: _Judged, margin: float, envelope: float, compared: int) -> Comparison:
    """The comparison, judged; `compared`: how many of them its interval is widened for."""
    by_block, sides = pair.comparison.by_block, (pair.cell.id, pair.reference.id)
    result, interval, p_value, disturbed = _log_mean(by_block), judged.interval, judged.p_value, judged.disturbed
    standing = equivalence.standing(interval, margin, envelope=envelope)
    if interval is None:
        few = because(ReasonKind.FEW_BLOCKS, cells=sides, blocks=len(by_block), needed=intervals.FEWEST_BLOCKS)
        reason: Reason | None = pair.censored or few
    elif standing == "not resolved" and (
        disturbed  # which leaves undecided what the blocks as they were measured decide
        and equivalence.standing(disturbed.as_measured, margin, envelope=envelope) != "not resolved"
    ):
        shares = {"cell": fmean(pair.held_up), "reference": fmean(pair.held_up_reference)}
        reason = because(ReasonKind.DISTURBED, cells=sides, **shares)
    else:
        reason = equivalence.reason(interval, margin, envelope=envelope, by_block=by_block, compared=compared)
    if survivors := lost(pair.cell, pair.reference, standing):
        standing, reason, interval, p_value = "cannot tell", survivors, None, None
    if pair.comparison.statistic in COSTS or pair.comparison.statistic in SPREADS:
        standing = _OF_A_QUANTITY.get(standing, standing)
    return replace(
        pair.comparison,
        ratio=result.ratio if result else None,
        interval=interval,
        p_value=p_value,
        standing=standing,
        disturbed=disturbed,
        reason=reason,
    )
