"""between trials, and percentile support: whether what is shown can be reproduced, and rests on enough samples.

Blocks share the machine's moods, and comparisons are made within blocks. So a cell's medians are held against those of
the block's other cells: what all of them share moves absolute figures alone, and is the machine's.
"""

from __future__ import annotations

from math import log
from statistics import median, stdev

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, cannot_tell, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence, Samples
from orchestrator.findings.block_values import by_block
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.quantiles import NS_PER_MS, SUPPORT, is_supported, quantile

BETWEEN = "between trials"
_LOUD = 0.05


def spread(samples: Samples) -> float | None:
    """The trial's own spread in ms, as a normal distribution's SD would follow from the quartiles."""
    ordered = samples.ordered_ns
    return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 1.349 / NS_PER_MS if ordered.size else None


def judge_between(cell: CellEvidence, run: RunEvidence) -> Finding | None:
    """Compares the SD of the trials' medians, less what others share, with the SD within trials."""
    medians = _medians(cell)
    within = [seen for _, _, seen in cell.parts(BETWEEN) if seen is not None]
    if len(medians) < FEWEST_BLOCKS or not within:
        return cannot_tell(
            f"{quantities.count(len(medians), 'trial')}: at least {FEWEST_BLOCKS} are needed to estimate the spread.",
            "Raise `repeats`.",
            {"trials": len(medians)},
        )
    middle = median(medians.values())
    between, inside = stdev(medians.values()) / middle, median(within) / middle
    own = _own_spread(medians, [_medians(other) for other in run.in_blocks_of(cell)])
    evidence = {"between": between, "within": inside, "own": own, "median_ms": middle, "trials": len(medians)}
    sample = quantities.OF_SAMPLE[cell.cell.kind]
    spreads = quantities.percent(between), quantities.percent(inside)
    measured = f"Medians of trials spread by {spreads[0]}, {sample}s within one by {spreads[1]}"
    if between <= max(inside, _LOUD):
        return passes(f"{measured}.", evidence)
    if own is None:
        return cannot_tell(
            f"{measured}. Nothing was measured beside it that shows whether the machine is the cause.",
            "Raise `repeats`, and look for the cause in `noise`.",
            evidence,
            weight=between,
        )
    if own <= max(inside, _LOUD):
        return passes(f"{measured}; beside the block's other stacks by {quantities.percent(own)}.", evidence)
    return warns(
        f"{measured}, and by {quantities.percent(own)} beside the block's other stacks: one trial says little "
        "about the next.",
        "Raise `repeats`, and look for the cause in `noise`.",
        evidence,
        weight=own,
    )


def _medians(cell: CellEvidence) -> dict[int, float]:
    return by_block((trial.summary for trial in cell.trials if trial.summary), "median")


def _own_spread(medians: dict[int, float], beside: list[dict[int, float]]) -> float | None:
    """The SD over blocks of the log of a median over the middle of the others'; None with too few blocks of others."""
    logs = [
        log(own / median(others))
        for block, own in medians.items()
        if (others := [other[block] for other in beside if block in other])
    ]
    return stdev(logs) if len(logs) >= FEWEST_BLOCKS else None


def judge_support(cell: CellEvidence) -> Finding | None:
    """Which percentiles the cell's pooled samples support."""
    n = cell.distribution.n + cell.distribution.failed if cell.distribution else 0
    shares = {"p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
    hidden = [name for name, share in shares.items() if not is_supported(n, share)]
    evidence = {"n": n, "needed_beyond": SUPPORT, "not_shown": hidden}
    sample = quantities.OF_SAMPLE[cell.cell.kind]
    if not n:
        return warns(
            "No event came right: there is no percentile to show."
            if cell.cell.kind == "stream"
            else "No request got a right reply: there is no percentile to show.",
            f"Find out why {sample}s fail: the table counts them by kind.",
            evidence,
        )
    if "p99" in hidden:
        planned = (cell.cell.load.requests or 0) * cell.planned
        return warns(
            f"{quantities.count(n, sample)} {'is' if n == 1 else 'are'} too few for {' or '.join(hidden)}: "
            f"fewer than {SUPPORT} lie beyond, so that percentile is not shown.",
            f"Find out why only {n:,} of the planned {planned:,} requests were made."
            if is_supported(planned, 0.99)
            else f"For p99, plan at least 1,000 {sample}s per cell, over all its trials.",
            evidence,
            weight=-n,
        )
    measured = (
        "every percentile"
        if not hidden
        else f"percentiles up to p99 ({hidden[0]} takes {SUPPORT * 1000:,} and is not shown)"
    )
    return passes(f"{quantities.count(n, sample)} support {measured}.", evidence)


CHECKS = (
    Check(
        name=BETWEEN,
        severity="note",
        kinds=CALLS | CODECS | STREAMS,
        observe=spread,
        judge_beside=judge_between,
    ),
    Check(
        name="percentile support",
        severity="note",
        kinds=CALLS | CODECS | STREAMS,
        judge=judge_support,
    ),
)
