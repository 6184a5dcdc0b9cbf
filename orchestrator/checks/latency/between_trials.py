"""between trials, and percentile support: whether what is shown can be reproduced, and rests on enough samples."""

from __future__ import annotations

from statistics import median, stdev

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding
from orchestrator.evidence.run_evidence import CellEvidence, Samples
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.quantiles import NS_PER_MS, SUPPORT, is_supported, quantile

BETWEEN = "between trials"
_LOUD = 0.05


def spread(samples: Samples) -> float | None:
    """The trial's own spread in ms, as a normal distribution's SD would follow from the quartiles."""
    ordered = samples.ordered_ns
    return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 1.349 / NS_PER_MS if ordered.size else None


def judge_between(cell: CellEvidence) -> Finding | None:
    """Compares the SD of the trials' medians with the SD within trials."""
    medians = [t.summary.median for t in cell.trials if t.summary and t.summary.median]
    within = [seen for _, _, seen in cell.parts(BETWEEN) if seen is not None]
    if len(medians) < FEWEST_BLOCKS or not within:
        return Finding(
            verdict="cannot tell",
            evidence={"trials": len(medians)},
            explanation=f"{quantities.count(len(medians), 'trial')}: at least {FEWEST_BLOCKS} are needed to estimate the "
            "spread.",
            action="Raise `repeats`.",
        )
    between, inside, middle = stdev(medians), median(within), median(medians)
    evidence = {"sd_between_ms": between, "sd_within_ms": inside, "median_ms": middle, "trials": len(medians)}
    shares = [quantities.percent(sd / middle) for sd in (between, inside)]
    one = quantities.OF_SAMPLE[cell.cell.kind]
    measured = f"Medians of trials spread by {shares[0]}, {one}s within one by {shares[1]}"
    if between > inside and between / middle > _LOUD:
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=between / middle,
            explanation=f"{measured}: one trial says little about the next.",
            action="Raise `repeats`, and look for the cause in `noise`.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{measured}.")


def judge_support(cell: CellEvidence) -> Finding | None:
    """Which percentiles the cell's pooled samples support."""
    n = cell.distribution.n + cell.distribution.failed if cell.distribution else 0
    shares = {"p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}
    hidden = [name for name, share in shares.items() if not is_supported(n, share)]
    evidence = {"n": n, "needed_beyond": SUPPORT, "not_shown": hidden}
    one = quantities.OF_SAMPLE[cell.cell.kind]
    if not n:
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation="No event came right: there is no percentile to show."
            if cell.cell.kind == "stream"
            else "No request got a right reply: there is no percentile to show.",
            action=f"Find out why {one}s fail: the table counts them by kind.",
        )
    if "p99" in hidden:
        asked = (cell.cell.load.requests or 0) * cell.planned
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=-n,
            explanation=(
                f"{quantities.count(n, one)} {'is' if n == 1 else 'are'} too few for {' or '.join(hidden)}: "
                f"fewer than {SUPPORT} lie beyond, so that percentile is not shown."
            ),
            action=(
                f"Find out why only {n:,} of the planned {asked:,} requests were made."
                if is_supported(asked, 0.99)
                else f"For p99, plan at least 1,000 {one}s per cell, over all its trials."
            ),
        )
    measured = (
        "every percentile"
        if not hidden
        else f"percentiles up to p99 ({hidden[0]} takes {SUPPORT * 1000:,} and is not shown)"
    )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{quantities.count(n, one)} support {measured}.")


CHECKS = (
    Check(
        name=BETWEEN,
        severity="note",
        kinds=CALLS | CODECS | STREAMS,
        observe=spread,
        judge=judge_between,
    ),
    Check(
        name="percentile support",
        severity="note",
        kinds=CALLS | CODECS | STREAMS,
        judge=judge_support,
    ),
)
