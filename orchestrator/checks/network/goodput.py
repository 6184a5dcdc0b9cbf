"""goodput: no more bytes per second than the link can carry."""

from __future__ import annotations

from orchestrator.checks.base import CALLS, NO_SIZES, Check, Finding, cannot_tell, fails, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence

# No single core is known to copy memory faster than this; loopback TCP reaches a third of it.
LOOPBACK_MBIT = 200_000.0
_FRAMING = 1.02  # token buckets let a burst pass at the beginning


def judge(cell: CellEvidence) -> Finding | None:
    """The busiest trial's body bytes, in the direction that carries more."""
    rates = [(t.totals.goodput_mbit_per_s, t.record.index) for t in cell.trials if t.totals.goodput_mbit_per_s]
    if not rates:
        return NO_SIZES
    top, trial = max(rates)
    declared = cell.placement.link.rate_mbit
    limit = declared or (LOOPBACK_MBIT if cell.placement.kind == "local" else None)
    evidence = {"goodput_mbit_per_s": top, "limit_mbit_per_s": limit, "trial": trial}
    if limit is None:
        return cannot_tell(
            f"{top:,.1f} Mbit/s of bodies; the link's capacity is unknown.",
            "Give the placement a `rate` to enable this check.",
            evidence,
        )
    measured = f"{top:,.1f} Mbit/s of bodies over a link of {limit:,.0f} Mbit/s"
    if top > limit * _FRAMING:
        return fails(
            f"Impossible: {measured}.",
            "Check whether the timer stops too early or bodies are miscounted: see `floor` and `codec size`.",
            evidence,
        )
    if declared and top > 0.9 * limit:
        return warns(
            f"{measured}: the link is the limit, not the stack.",
            "Compare stacks by bytes per request here, or lower the load.",
            evidence,
        )
    return passes(f"{measured}.", evidence)


CHECK = Check(name="goodput", severity="fatal", kinds=CALLS, judge=judge)
