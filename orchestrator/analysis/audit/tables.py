"""Rules that look at several published rows together: shapes that real measurements do not share, winners that change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import fmean

from orchestrator.analysis.audit.finding import AuditVerdict, Finding
from orchestrator.analysis.audit.model import AuditFile, Row

TableRule = Callable[[AuditFile], Iterator[Finding]]


def tail_template(file: AuditFile) -> Iterator[Finding]:
    """Four stacks or more whose tails have one and the same thin shape, in proportion to means that differ.

    In a thousand real requests ten lie beyond the p99, and schedulers, collectors and interrupts put the slowest of them
    at several times the p99, by another factor for each stack. What delays all stacks alike (a network, say) adds the same
    milliseconds to each, which is in proportion only where the means are alike. With a few hundred requests the p99 lies
    next to the maximum in any case. There, nothing can be told.
    """
    rows = [r for r in file.results if r.p99 and r.max and r.mean and r.sd and r.measures == "latency"]
    if len(rows) < 4:
        return
    ratios = {r.name: (r.max or 0) / (r.p99 or 1) for r in rows}
    shapes = {r.name: (r.sd or 0) / (r.mean or 1) for r in rows}
    words = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    arithmetic = f"max / p99: {words}; SD / mean from {min(shapes.values()):.2f} to {max(shapes.values()):.2f}"
    alike = _relative_range(list(ratios.values())) < 0.15 and _relative_range(list(shapes.values())) < 0.25
    template = alike and max(ratios.values()) < 1.25
    verdict: AuditVerdict = "supported"
    if template:
        means = [r.mean or 1.0 for r in rows]
        counts = [r.samples or file.stated.requests or 0 for r in rows]
        verdict = "contradicted" if max(means) > 2 * min(means) and min(counts) >= 1_000 else "cannot-tell"
        arithmetic += f"; means from {min(means):g} to {max(means):g} ms: every tail is the same template, scaled"
    if template and file.stated.aggregate:
        arithmetic += f"; an {file.stated.aggregate} would thin each stack's tail by another measure"
    yield Finding(
        claim="the distributions of the stacks were measured independently",
        verdict=verdict,
        rule="tail template",
        arithmetic=arithmetic,
        rows=tuple(ratios),
        evidence={"max_over_p99": ratios, "cv": shapes},
    )


def _relative_range(values: list[float]) -> float:
    return (max(values) - min(values)) / fmean(values)


def winners(file: AuditFile) -> Iterator[Finding]:
    """Where one protocol wins by p99 and another by throughput, there is no winner to name."""
    groups: dict[tuple[str | None, str | None, int | None], list[Row]] = defaultdict(list)
    for row in file.results:
        if row.p99 and row.throughput_per_s and row.measures == "latency" and row.protocol:
            groups[(row.operation, row.placement, row.concurrency)].append(row)
    for rows in groups.values():
        if len({r.protocol for r in rows}) < 2:
            continue
        by_p99 = min(rows, key=lambda r: r.p99 or 0)
        by_throughput = max(rows, key=lambda r: r.throughput_per_s or 0)
        one = by_p99.protocol == by_throughput.protocol
        listed = "; ".join(f"{r.name}: p99 {r.p99:g} ms, {r.throughput_per_s:,g}/s" for r in rows)
        yield Finding(
            claim=f"one protocol wins among {', '.join(r.name for r in rows)}",
            verdict="supported" if one else "cannot-tell",
            rule="winner by p99 against winner by throughput",
            arithmetic=f"{listed}: by p99 {by_p99.protocol}, by throughput {by_throughput.protocol}",
            rows=tuple(r.name for r in rows),
            evidence={"by_p99": by_p99.protocol, "by_throughput": by_throughput.protocol},
        )


TABLE_RULES: tuple[TableRule, ...] = (tail_template, winners)
