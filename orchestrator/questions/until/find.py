"""When a run that measures until its intervals are narrow enough may end, and what its intervals are corrected by.

After each block from the fewest on, the interval of every pair that the plan compares is computed from the medians of the
trials so far; the run ends as soon as each is narrow enough, with `or_slower` (a gate) also where one is slower beyond
doubt. It may have ended at a spread that was small by chance. So every look before the last block, and all that a run says
that ended at one, uses 3/5 of the error: an interval of 95 % is
computed as one of 97 % (simulated in `benchmarks/until.py`). The look uses Bonferroni's level, which does not depend on
which stack is faster; the result uses Holm's, whose intervals are as narrow or narrower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, sqrt

from orchestrator.experiment.plan.contrasts import Pair, pairs
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.block_values import medians, ratio
from orchestrator.findings.compare import error_of
from orchestrator.questions.base import Basis, Question
from orchestrator.results.turn_times import TrialMedian
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import LogMean


@dataclass(frozen=True, kw_only=True)
class Width:
    """How far the interval of a pair's ratio of medians reaches to either side, relative (0.03: 3 %).

    None where fewer than three blocks hold a value of both.
    """

    cell: str
    reference_cell: str
    reaches: float | None


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """After how many blocks of at most how many a run ended, how narrow intervals were wanted, and how wide they are."""

    blocks: int
    at_most: int
    within: float
    widths: tuple[Width, ...]


BEYOND_DOUBT = 0.001
"""The p value below which a stack is slower at any look: of equal ones some 2 % are, in 40 looks."""

Medians = Mapping[int, Mapping[str, TrialMedian]]
"""By block and cell, above zero; a trial without a median is left out."""

_TINY = 1e-9  # by which two computations of one width may differ


@dataclass(frozen=True, kw_only=True)
class Look:
    """What intervals are after so many blocks, and whether each is narrow enough."""

    blocks: int
    widths: tuple[Width, ...]
    reached: bool


def look(plan: Plan, by_block: Medians, blocks: int) -> Look:
    """The widths after the first so many blocks; ValueError for a plan that does not ask for them."""
    if plan.until is None:
        raise ValueError("the plan has a fixed number of blocks")
    planned = list(pairs(plan))
    logs = [_result(pair, by_block, blocks) for pair in planned]
    results = intervals.moderated_by_place([pair.cell.placement for pair in planned], logs)
    compared = [(pair, result) for pair, result in zip(planned, results, strict=True) if not pair.is_control]
    level = error_of(plan, blocks) / max(1, len(compared))
    widths = []
    for pair, result in compared:
        reaches = None
        if result is not None and result.se is not None:
            half = intervals.t_quantile(1 - level / 2, result.freedom) * result.se
            reaches = exp(min(half, 700.0)) - 1
        widths.append(Width(cell=pair.cell.id, reference_cell=pair.reference.id, reaches=reaches))
    limit = plan.until.within * (1 + _TINY)
    is_narrow = all(width.reaches is not None and width.reaches <= limit for width in widths)
    is_slower = plan.until.or_slower and any(
        result is not None and result.p_value is not None and result.mean > 0 and result.p_value < BEYOND_DOUBT
        for _, result in compared
    )
    return Look(blocks=blocks, widths=tuple(widths), reached=is_narrow or is_slower)


def expected_blocks(plan: Plan, sd: float) -> int:
    """After how many blocks such a run usually ends, where log ratios spread by `sd` from block to block."""
    if plan.until is None:
        return plan.blocks
    compared = max(1, sum(not pair.is_control for pair in pairs(plan)))
    within = log(1 + plan.until.within)
    for blocks in range(plan.until.at_least, plan.until.at_most):
        level = error_of(plan, blocks) / compared
        if intervals.t_quantile(1 - level / 2, blocks - 1) * (sd / sqrt(blocks)) <= within:
            return blocks
    return plan.until.at_most


def _find(basis: Basis) -> Stopped | None:
    """Return how a run came to its end; None of a fixed number of blocks."""
    plan = basis.plan
    if plan.until is None:
        return None
    by_block: dict[int, dict[str, TrialMedian]] = {}
    for cell in basis.summary.cells:
        for block, median in medians(cell.trials).items():
            by_block.setdefault(block, {})[cell.id] = median
    last = look(plan, by_block, plan.blocks)
    return Stopped(blocks=plan.blocks, at_most=plan.until.at_most, within=plan.until.within, widths=last.widths)


QUESTION: Question[Stopped | None] = Question(
    name="until", type=Stopped, empty=None, find=_find, applies=lambda plan: plan.until is not None
)


def _result(pair: Pair, by_block: Medians, blocks: int) -> LogMean | None:
    logs = [
        log(ratio(mine[pair.cell.id], mine[pair.reference.id]))
        for block in range(blocks)
        if (mine := by_block.get(block, {})).keys() >= {pair.cell.id, pair.reference.id}
    ]
    return intervals.log_mean(logs) if logs else None
