"""The values of a cell by block, and why a cell has none that could be compared: failures, too few requests, a schedule."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import numpy as np

from orchestrator.findings.summary import FAILS, CellSummary, TrialSummary
from orchestrator.findings.trial_values import SPREADS
from orchestrator.results.turn_times import TrialMedian
from orchestrator.statistics.terms import Reason, ReasonKind, Standing, because

NEIGHBOURS = 3
"""With how many of the reference's turns a turn is compared."""


def censored_blocks(trials: Iterable[TrialSummary], statistic: str) -> tuple[int, ...]:
    """The blocks whose value falls among requests without a right reply: it is larger than any number.

    A comparison over the other blocks alone would leave out the very blocks in which requests failed.
    """
    return tuple(
        trial.block
        for trial in trials
        if statistic in trial.censored or (statistic == "throughput" and trial.throughput_per_s == 0)
    )


def missing_blocks(trials: Iterable[TrialSummary], statistic: str) -> tuple[int, ...]:
    """The blocks whose trial has no value of the statistic, though another block's has one: too few requests for it.

    They are no chance either: where time ends a trial, the slow ones have the fewest requests.
    """
    trials = tuple(trials)
    without = {t.block for t in trials} - by_block(trials, statistic).keys() - set(censored_blocks(trials, statistic))
    return tuple(sorted(without)) if len(without) < len(trials) else ()


def by_block(trials: Iterable[TrialSummary], statistic: str) -> dict[int, float]:
    """Each block's value: the trial's median or p99 in ms, seconds per request for `throughput`, a cost or a spread by name.

    Throughput goes in as its inverse, so that above 1 means slower in every ratio. A p99 without support is left out,
    and so is what `censored_blocks` names: ask that and `missing_blocks` first.
    """
    values: dict[int, float] = {}
    for trial in trials:
        rate = trial.throughput_per_s
        times = {"median": trial.median, "p99": trial.p99, "throughput": 1 / rate if rate else None}
        value = times.get(statistic, trial.values.get(statistic))
        if value is not None and value > 0:
            values[trial.block] = value
    return values


def ratios(cell: CellSummary, reference: CellSummary, statistic: str) -> dict[int, float]:
    """Each block's ratio of two cells, where both have a value: of medians in turns that of neighbouring turns.

    Each turn is compared with each of the reference's three turns next to it, so that a machine that is slow for a while
    slows both sides of each ratio. The block's is the mean of the middle half of their logs (docs/decisions.md: 0069).
    """
    sides = [by_block(side.trials, statistic) for side in (cell, reference)]
    blocks = sorted(sides[0].keys() & sides[1].keys())
    if statistic != "median":
        return {block: sides[0][block] / sides[1][block] for block in blocks}
    mine, theirs = (medians(side.trials) for side in (cell, reference))
    return {block: ratio(mine[block], theirs[block]) for block in blocks}


def medians(trials: Iterable[TrialSummary]) -> dict[int, TrialMedian]:
    """Each block's median, ms, where it has one."""
    return {
        t.block: TrialMedian(median=t.median, turns=t.turns) for t in trials if t.median is not None and t.median > 0
    }


def ratio(mine: TrialMedian, theirs: TrialMedian) -> float:
    """The ratio of a block's two trials."""
    return of_turns(mine.turns, theirs.turns) if mine.turns and theirs.turns else mine.median / theirs.median


def of_turns(turns: Sequence[tuple[int, float]], reference: Sequence[tuple[int, float]]) -> float:
    """The ratio of a block's two trials, by when each of their turns began and its median.

    Single turns are compared, never a turn with a mean of turns: some turns are slow by chance, which pulls a mean up, and
    the middle half would then show equal trials as different.
    """
    (begun, medians), (others_begun, others) = (np.array(sorted(side)).T for side in (turns, reference))
    most = min(NEIGHBOURS, others.size)
    first = np.searchsorted(others_begun, begun)[:, None] - most
    near = np.clip(first, 0, others.size - min(2 * most, others.size)) + np.arange(min(2 * most, others.size))
    by_distance = np.argsort(np.abs(others_begun[near] - begun[:, None]), axis=1, kind="stable")[:, :most]
    nearest = np.take_along_axis(near, by_distance, axis=1)
    logs = np.sort((np.log(medians)[:, None] - np.log(others)[nearest]).ravel())
    cut = logs.size // 4
    return float(np.exp(logs[cut : logs.size - cut].mean()))


def value_of(cell: CellSummary, statistic: str) -> float | None:
    """Return the cell's median or p99 in ms, or its replies a second."""
    if statistic == "throughput":
        return cell.throughput_per_s
    return getattr(cell.distribution, statistic) if cell.distribution else None


def best_first(cell: CellSummary, statistic: str = "median") -> tuple[int, float]:
    """A key to sort by: the best value first, then cells whose value is beyond the time-out, then those without a reply."""
    value = value_of(cell, statistic)
    if value is None:
        return (2 if cell.distribution is None else 1, 0.0)
    return (0, -value if statistic == "throughput" else value)


def ranked(cells: Iterable[CellSummary], invalid: Container[str], statistic: str = "median") -> list[CellSummary]:
    """Return the cells, the best value first and those that failed a check last; `invalid` by id."""
    return sorted(cells, key=lambda cell: (cell.id in invalid, best_first(cell, statistic)))


def by_schedule(sides: Sequence[CellSummary], statistic: str) -> Reason | None:
    """Return that a schedule sets the statistic: over a distance, the median gap between the events of a stream."""
    is_gap = any(side.details.stream is not None and side.details.stream.timed == "gap" for side in sides)
    return because(ReasonKind.SCHEDULE) if statistic == "median" and is_gap else None


def why_no_value(cell: CellSummary, statistic: str) -> Reason | None:
    """Return why a cell has no value of the statistic that could be compared; None where it has one.

    A block whose p99 is a time-out is not left out: the others would be those in which less failed. Neither is a block
    with too few requests for a p99: where time ends a trial, those are the slow ones.
    """
    if any(outcome.startswith(FAILS) for outcome in cell.details.outcomes):
        return because(ReasonKind.UNDECODABLE, cells=(cell.id,))
    if not cell.trials and cell.counts.failed_trials:
        return because(ReasonKind.NO_TRIAL, cells=(cell.id,), failed=cell.counts.failed_trials)
    if blocks := censored_blocks(cell.trials, statistic):
        share = cell.counts.failed / cell.counts.requests if cell.counts.requests else 1.0
        return _of_blocks(ReasonKind.CENSORED, cell, len(blocks), share=share)
    if blocks := missing_blocks(cell.trials, statistic):
        return _of_blocks(ReasonKind.MISSING, cell, len(blocks))
    return None


def moved(cell: CellSummary, statistic: str, margin: float) -> Reason | None:
    """Return that requests which an open loop did not send leave a percentile open; None where that does not matter.

    How long they would have taken is not known. As the slowest of all, as a failed request counts, they may move a
    percentile by more than the margin.
    """
    moves = "p99" if statistic in SPREADS else statistic  # the slowest make the spread
    factors = [trial.unsent_moves[moves] for trial in cell.trials if moves in trial.unsent_moves]
    blocks = sum(factor is None or factor > 1 + margin for factor in factors)
    return _of_blocks(ReasonKind.UNSENT, cell, blocks, share=cell.counts.share_unsent) if blocks else None


def lost(cell: CellSummary, reference: CellSummary, standing: Standing) -> Reason | None:
    """Return that trials which failed entirely forbid what the other blocks say; None where they do not.

    A trial without a sample counts as slower than every other one. So a stack that lost trials may be called slower, and
    neither faster nor a tie: the lost ones may be the slow ones.
    """
    sides = {"faster": (cell,), "slower": (reference,), "tie": (cell, reference)}.get(standing, ())
    failed = [side for side in sides if side.counts.failed_trials]
    if not failed:
        return None
    return because(
        ReasonKind.SURVIVORS,
        cells=tuple(side.id for side in failed),
        failed=sum(side.counts.failed_trials for side in failed),
        of=sum(len(side.trials) + side.counts.failed_trials for side in failed),
    )


def _of_blocks(kind: ReasonKind, cell: CellSummary, blocks: int, **numbers: float) -> Reason:
    return because(kind, cells=(cell.id,), blocks=blocks, of=len(cell.trials), **numbers)
