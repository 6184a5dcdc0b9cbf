"""Why a cell has no value that could be compared: failed trials, blocks without a value, requests that were not sent."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis.cells import censored_blocks, missing_blocks
from orchestrator.analysis.summary import CellSummary
from orchestrator.analysis.terms import Reason, ReasonKind, Standing
from orchestrator.questions.stability.spread import SPREADS


def by_schedule(sides: Sequence[CellSummary], statistic: str) -> Reason | None:
    """Return that a schedule sets the statistic: over a distance, the median gap between the events of a stream."""
    is_gap = any(side.stream is not None and side.stream.timed == "gap" for side in sides)
    return Reason(kind=ReasonKind.SCHEDULE) if statistic == "median" and is_gap else None


def why_no_value(cell: CellSummary, statistic: str) -> Reason | None:
    """Return why a cell has no value of the statistic that could be compared; None where it has one.

    A block whose p99 is a time-out is not left out: the others would be those in which less failed. Neither is a block
    with too few requests for a p99: where time ends a trial, those are the slow ones.
    """
    if cell.why_undecodable:
        return Reason(kind=ReasonKind.UNDECODABLE, cells=(cell.id,))
    if not cell.trials and cell.failed_trials:
        return Reason(kind=ReasonKind.NO_TRIAL, cells=(cell.id,), numbers={"failed": cell.failed_trials})
    if blocks := censored_blocks(cell.trials, statistic):
        share = cell.failed / cell.requests if cell.requests else 1.0
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
    return _of_blocks(ReasonKind.UNSENT, cell, blocks, share=cell.share_unsent) if blocks else None


def lost(cell: CellSummary, reference: CellSummary, standing: Standing) -> Reason | None:
    """Return that trials which failed entirely forbid what the other blocks say; None where they do not.

    A trial without a sample counts as slower than every other one. So a stack that lost trials may be called slower, and
    neither faster nor a tie: the lost ones may be the slow ones.
    """
    sides = {"faster": (cell,), "slower": (reference,), "tie": (cell, reference)}.get(standing, ())
    failed = [side for side in sides if side.failed_trials]
    if not failed:
        return None
    return Reason(
        kind=ReasonKind.SURVIVORS,
        cells=tuple(side.id for side in failed),
        numbers={
            "failed": sum(side.failed_trials for side in failed),
            "of": sum(len(side.trials) + side.failed_trials for side in failed),
        },
    )


def _of_blocks(kind: ReasonKind, cell: CellSummary, blocks: int, **numbers: float) -> Reason:
    return Reason(kind=kind, cells=(cell.id,), numbers={"blocks": blocks, "of": len(cell.trials), **numbers})
