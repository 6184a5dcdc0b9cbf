"""Why a cell has no value that could be compared: failed trials, blocks without a value, requests that were not sent."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.cells import censored_blocks, missing_blocks
from orchestrator.analysis.cost import COSTS
from orchestrator.analysis.summary import CellSummary, Standing
from orchestrator.questions.stability.spread import SPREADS


def by_schedule(sides: Sequence[CellSummary], statistic: str) -> str:
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


def beyond(cell: CellSummary, statistic: str) -> str:
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


def lost(cell: CellSummary, reference: CellSummary, standing: Standing, statistic: str = "median") -> str:
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


def moved(cell: CellSummary, statistic: str, margin: float) -> str:
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


def _percentile(statistic: str) -> str:
    """Which percentile decides of a statistic, in words."""
    return "p99" if statistic == "p99" or statistic in SPREADS else "the median"


def _too_few(cell: CellSummary, statistic: str) -> str:
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
