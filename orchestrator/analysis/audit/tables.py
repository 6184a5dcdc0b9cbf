"""Rules that look at several published rows together: shapes that real measurements do not share, winners that change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import fmean, median

from orchestrator.analysis.audit.claim_forms import Statistic
from orchestrator.analysis.audit.finding import AuditVerdict, Finding, Rule, judge
from orchestrator.analysis.audit.method import method_of
from orchestrator.analysis.audit.model import AuditFile, Row
from orchestrator.analysis.audit.shape import significant

TableRule = Callable[[AuditFile], Iterator[Finding]]

TEMPLATE = Rule(
    "tail template",
    "four results or more, one in five (one at the least) left out; thin tails within 15 %, or all ratios within 2 %; "
    "1,000 requests each, means that differ by half",
    "all rows were scaled from one measured distribution (a model, a simulation), or cut off at the same percentile",
)
REPEATED = Rule(
    "repeated figures",
    "three latency figures of three digits in two results, or one of them in four (four digits: in three); minima, and "
    "percentiles out of buckets, are left out",
    "the results are of one and the same measurement, or a time-out or clock tick stands where a latency should",
)
WINNERS = Rule("winner by p99 against winner by throughput", "none", "one of the two figures does not matter")

_INDEPENDENT = "the distributions of the stacks were measured independently"
_TAIL: tuple[Statistic, ...] = ("sd", "p95", "p99", "p999", "max")
_FIGURES: tuple[Statistic, ...] = ("mean", "median", "p75", "p90", "p95", "p99", "p999", "max", "sd")


def tail_template(file: AuditFile) -> Iterator[Finding]:
    """Four stacks or more whose tails have one and the same shape, in proportion to means that differ.

    In a thousand real requests ten lie beyond the p99, and schedulers, collectors and interrupts put the slowest of them
    at several times the p99, by another factor for each stack. What delays all stacks alike (a network, say) adds the same
    milliseconds to each, which is in proportion only where the means are alike. With a few hundred requests the p99 lies
    next to the maximum in any case. There, nothing can be concluded. One result in five may have another shape: a table
    made from a template often has an outlier.
    """
    rows = [r for r in file.results if r.p99 and r.max and r.mean and r.sd and r.measures == "latency"]
    if len(rows) >= 4:
        yield _thin_tails(rows, file)
    yield from _scaled(file)


def _thin_tails(rows: list[Row], file: AuditFile) -> Finding:
    ratios = {r.name: (r.max or 0) / (r.p99 or 1) for r in rows}
    shapes = {r.name: (r.sd or 0) / (r.mean or 1) for r in rows}
    words = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    arithmetic = f"max / p99: {words}; SD / mean from {min(shapes.values()):.2f} to {max(shapes.values()):.2f}"
    kept = _without_outliers(rows, lambda some: _alike(some, ratios, shapes))
    verdict: AuditVerdict = "supported"
    if kept:
        means = [r.mean or 1.0 for r in kept]
        counts = [r.samples or file.stated.requests or 0 for r in kept]
        verdict = "contradicted" if max(means) > 2 * min(means) and min(counts) >= 1_000 else "undetermined"
        arithmetic += f"; means from {min(means):g} to {max(means):g} ms: every tail is the same template, scaled"
        if len(kept) < len(rows):
            arithmetic += f", but for {', '.join(r.name for r in rows if r not in kept)}"
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


def _alike(rows: list[Row], ratios: dict[str, float], shapes: dict[str, float]) -> bool:
    tails, spreads = [ratios[r.name] for r in rows], [shapes[r.name] for r in rows]
    return _relative_range(tails) < 0.15 and _relative_range(spreads) < 0.25 and max(tails) < 1.25


def _without_outliers(rows: list[Row], alike: Callable[[list[Row]], bool]) -> list[Row]:
    """The rows that are alike, at least four, when at most one in five (one at the least) is left out; else none."""
    if alike(rows):
        return rows
    for out in range(1, max(1, len(rows) // 5) + 1):
        if len(rows) - out < 4 or len(rows) > 20:
            break
        for left_out in combinations(rows, out):
            kept = [r for r in rows if r not in left_out]
            if alike(kept):
                return kept
    return []


def _scaled(file: AuditFile) -> Iterator[Finding]:
    """Results whose tail figures are all the same multiples of their means, to 2 %, the slowest request among them.

    The slowest of a thousand varies by a tenth from run to run whatever the distribution; four that agree are no chance.
    """
    rows = [r for r in file.results if r.mean and r.max and r.measures == "latency"]
    common = [n for n in _TAIL if sum(r.value(n) is not None for r in rows) >= 4]
    rows = [r for r in rows if all(r.value(n) is not None for n in common)]
    if len(rows) < 4 or len(common) < 2 or "max" not in common:
        return

    def scaled(some: list[Row]) -> bool:
        return all(_relative_range([(r.value(n) or 0) / (r.mean or 1) for r in some]) < 0.02 for n in common)

    kept = _around_the_median(rows, common)
    if len(kept) < 4 or len(rows) - len(kept) > max(1, len(rows) // 5) or not scaled(kept):
        return
    means = [r.mean or 1.0 for r in kept]
    if max(means) < 1.5 * min(means):
        return
    factors = ", ".join(f"{n} {median((r.value(n) or 0) / (r.mean or 1) for r in kept):.3g}" for n in common)
    arithmetic = f"in units of the mean: {factors}, alike to 2 % in {', '.join(r.name for r in kept)}"
    few = any((r.samples or file.stated.requests or 1_000) < 1_000 for r in kept)
    verdict: AuditVerdict = "undetermined" if few else "contradicted"
    yield judge(TEMPLATE, verdict, arithmetic, claim=_INDEPENDENT, rows=tuple(r.name for r in kept))


def _around_the_median(rows: list[Row], names: list[Statistic]) -> list[Row]:
    middle = {n: median((r.value(n) or 0) / (r.mean or 1) for r in rows) for n in names}
    return [
        r for r in rows if all(abs((r.value(n) or 0) / (r.mean or 1) - middle[n]) <= 0.01 * middle[n] for n in names)
    ]


def _relative_range(values: list[float]) -> float:
    return (max(values) - min(values)) / fmean(values) if fmean(values) else 0.0


def repeated_figures(file: AuditFile) -> Iterator[Finding]:
    """Results of different stacks, places or loads with the same figures to the last digit."""
    rows = [r for r in file.results if r.measures == "latency" and _exact(r, file)]
    for one, other in combinations(rows, 2):
        same = [n for n in _FIGURES if _long(one, n, 3) and one.value(n) == other.value(n)]
        if len(same) >= 3 and _setting(one) != _setting(other):
            words = ", ".join(f"{n} {one.value(n):g}" for n in same)
            yield _repeated(f"{one.name} and {other.name} share {words}", [one, other])
    for name in _FIGURES:
        by_value: dict[float, list[Row]] = defaultdict(list)
        for row in rows:
            if _long(row, name, 3):
                by_value[row.value(name) or 0.0].append(row)
        for value, some in by_value.items():
            enough = 3 if significant(value) >= 4 else 4
            if len({_setting(r) for r in some}) >= enough and len({r.mean or r.median for r in some}) > 1:
                yield _repeated(f"{name} is {value:g} in each of {', '.join(r.name for r in some)}", some)


def _repeated(arithmetic: str, rows: list[Row]) -> Finding:
    return judge(REPEATED, "contradicted", arithmetic, claim=_INDEPENDENT, rows=tuple(r.name for r in rows))


def _exact(row: Row, file: AuditFile) -> bool:
    source = method_of(row, file).percentiles
    return source is None or (source.source == "samples" and source.digits is None)


def _long(row: Row, name: Statistic, digits: int) -> bool:
    value = row.value(name)
    return bool(value) and significant(value or 0.0) >= digits


def _setting(row: Row) -> tuple[object, ...]:
    return (row.protocol, row.placement, row.concurrency, row.batch, row.request_bytes, row.reply_bytes)


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
        yield judge(
            WINNERS,
            "supported" if one else "undetermined",
            f"{listed}: by p99 {by_p99.protocol}, by throughput {by_throughput.protocol}",
            claim=f"one protocol wins among {', '.join(r.name for r in rows)}",
            rows=tuple(r.name for r in rows),
            evidence={"by_p99": by_p99.protocol, "by_throughput": by_throughput.protocol},
        )


TABLE_RULES: tuple[TableRule, ...] = (tail_template, repeated_figures, winners)
