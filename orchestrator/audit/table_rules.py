"""Rules that look at several published rows together: shapes that real measurements do not share, winners that change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from operator import attrgetter
from statistics import fmean

from orchestrator.audit.assessment import Assessment, AuditVerdict, Rule, judge
from orchestrator.audit.claim_forms import Statistic
from orchestrator.audit.method import method_of
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.shape_rules import is_ramp, on_a_grid, significant

TableRule = Callable[[AuditFile], Iterator[Assessment]]

TEMPLATE = Rule(
    "tail template",
    "four results or more, means that differ by half, 1,000 requests each; thin tails alike within 15 %; ramps, and loads "
    "of one stack, are left out",
    "all rows were scaled from one measured distribution (a model, a simulation), or cut off at the same percentile",
)
REPEATED = Rule(
    "repeated figures",
    "three latency figures of three digits in two results, or one of them in four (four digits: in three); minima, and "
    "percentiles out of buckets, multiples of one clock tick, and figures just above 40 ms, 200 ms or a usual time-out, are "
    "left out; so are results that are alike in everything",
    "the results are of one and the same measurement, or a figure is an unusual time-out or clock tick",
)

_SETTING = attrgetter("protocol", "operation", "placement", "concurrency", "batch", "request_bytes", "reply_bytes")
_INDEPENDENT = "the distributions of the stacks were measured independently"

# Where latencies gather whoever answers: the delayed acknowledgement and the least retransmission time-out of Linux
# (40 and 200 ms), and time-outs that people set; by how much above them.
_LIMITS_MS = (
    (40.0, 0.1),
    (200.0, 0.05),
    *((1000.0 * s, 0.01) for s in (0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 15, 20, 30, 60)),
)
_FIGURES: tuple[Statistic, ...] = (
    "mean", "median", "p75", "p90", "p95", "p99", "p999", "max", "sd", "throughput_per_s",
)  # fmt: skip


def tail_template(file: AuditFile) -> Iterator[Assessment]:
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
    if len(rows) >= 4:
        yield _thin_tails(rows, file)


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
    return judge(
        TEMPLATE,
        verdict,
        arithmetic,
        claim=_INDEPENDENT,
        rows=tuple(ratios),
        evidence={"max_over_p99": ratios, "cv": shapes},
    )


def _relative_range(values: list[float]) -> float:
    return (max(values) - min(values)) / fmean(values) if fmean(values) else 0.0


def repeated_figures(file: AuditFile) -> Iterator[Assessment]:
    """Results of different stacks, operations, places or loads with the same figures to the last digit.

    A coarse clock's ticks, and time-outs, repeat honestly: figures on one grid, or just above a usual limit, are left out.
    """
    rows = [r for r in file.results if r.measures == "latency" and _exact(r, file)]
    if on_a_grid(rows):
        return
    named: set[str] = set()
    for first, other in combinations(rows, 2):
        if first.name in named:  # said of the first row that it equals
            continue
        same = [n for n in _FIGURES if _long(first, n, 3) and first.value(n) == other.value(n)]
        if len(same) >= 3 and _SETTING(first) != _SETTING(other):
            words = ", ".join(f"{n} {first.value(n):g}" for n in same)
            yield _repeated(f"{first.name} and {other.name} share {words}", [first, other])
            named.add(other.name)
    for name in _FIGURES:
        by_value: dict[float, list[Row]] = defaultdict(list)
        for row in rows:
            if _long(row, name, 3):
                by_value[row.value(name) or 0.0].append(row)
        for value, some in by_value.items():
            enough = 3 if significant(value) >= 4 else 4
            if len({_SETTING(r) for r in some}) >= enough:
                yield _repeated(f"{name} is {value:g} in each of {', '.join(r.name for r in some)}", some)


def _repeated(arithmetic: str, rows: list[Row]) -> Assessment:
    return judge(REPEATED, "contradicted", arithmetic, claim=_INDEPENDENT, rows=tuple(r.name for r in rows))


def _exact(row: Row, file: AuditFile) -> bool:
    source = method_of(row, file).percentiles
    return source is None or (source.source == "samples" and source.digits is None)


def _long(row: Row, name: Statistic, digits: int) -> bool:
    value = row.value(name)
    if not value or significant(value) < digits:
        return False
    return not any(limit <= value <= limit * (1 + above) for limit, above in _LIMITS_MS)


TABLE_RULES: tuple[TableRule, ...] = (tail_template, repeated_figures)
