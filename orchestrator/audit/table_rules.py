"""A rule that looks at several published rows together: a shape that real measurements do not share."""

from __future__ import annotations

from statistics import fmean

from orchestrator.audit.assessment import Assessment, AuditVerdict, Rule, judge
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.shape_rules import is_ramp

TEMPLATE = Rule(
    "tail template",
    "four results or more, means that differ by half, 1,000 requests each; thin tails alike within 15 %; ramps, and loads "
    "of one stack, are left out",
    "all rows were scaled from one measured distribution (a model, a simulation), or cut off at the same percentile",
)

_INDEPENDENT = "the distributions of the stacks were measured independently"


def tail_template(file: AuditFile) -> Assessment | None:
    """Four stacks or more whose tails have one and the same shape, in proportion to means that differ.

    In a thousand real requests ten lie beyond the p99, and schedulers, collectors and interrupts put the slowest of them
    at several times the p99, by another factor for each stack. What delays all stacks alike (a network, say) adds the same
    milliseconds to each, which is in proportion only where the means are alike. With a few hundred requests the p99 lies
    next to the maximum in any case. There, nothing can be concluded. Uniform ramps (`is_ramp`), and loads of one stack,
    are alike for reasons of their own.
    """
    rows = [
        r
        for r in file.results
        if r.p99 and r.max and r.mean and r.sd and r.measures == "latency" and not is_ramp(r, file)
    ]
    return _thin_tails(rows, file) if len(rows) >= 4 else None


def _one_stack(rows: list[Row]) -> bool:
    """Whether rows are loads of one stack (or of a few): beyond saturation queueing scales its latencies, shape and all."""
    return (
        len({(r.protocol, r.operation, r.placement) for r in rows}) < 4
        and len({(r.concurrency, r.batch) for r in rows}) > 1
    )


def _thin_tails(rows: list[Row], file: AuditFile) -> Assessment:
    ratios = {r.name: (r.max or 0) / (r.p99 or 1) for r in rows}
    shapes = {r.name: (r.sd or 0) / (r.mean or 1) for r in rows}
    words = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    arithmetic = f"max / p99: {words}; SD / mean from {min(shapes.values()):.2f} to {max(shapes.values()):.2f}"
    tails, spreads = list(ratios.values()), list(shapes.values())
    verdict: AuditVerdict = "supported"
    if _relative_range(tails) < 0.15 and _relative_range(spreads) < 0.25 and max(tails) < 1.25:
        means = [r.mean or 1.0 for r in rows]
        counts = [r.samples or file.stated.requests or 0 for r in rows]
        enough = max(means) > 2 * min(means) and min(counts) >= 1_000 and not _one_stack(rows)
        verdict = "contradicted" if enough else "undetermined"
        arithmetic += f"; means from {min(means):g} to {max(means):g} ms: every tail is the same template, scaled"
        if file.stated.aggregate:
            arithmetic += f"; an {file.stated.aggregate} would thin each stack's tail by another measure"
    return judge(TEMPLATE, verdict, arithmetic, claim=_INDEPENDENT, rows=tuple(ratios))


def _relative_range(values: list[float]) -> float:
    return (max(values) - min(values)) / fmean(values) if fmean(values) else 0.0
