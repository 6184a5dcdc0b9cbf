"""Rules on the shape of one row's distribution: what its figures force on one another."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import fmean

from orchestrator.audit.assessment import Assessment, AuditVerdict, Outcome, Rule, judge
from orchestrator.audit.claim_forms import Statistic
from orchestrator.audit.method import corrected_apart, method_of, of_several_runs
from orchestrator.audit.model import AuditFile, Percentiles, Row
from orchestrator.audit.precision import LADDER, SHARES, blanks, bounds, exceeds, half_digit, mean_bounds

_SAMPLES = Percentiles()

ORDER = Rule(
    "order of percentiles",
    "half of each figure's last digit; a histogram's bucket, a sketch's error, where percentiles come from one",
    "the figures are of different sets of requests, or percentiles were estimated in a way that is not stated",
)
SPREAD = Rule(
    "SD within its bounds",
    "2 % and rounding (5 % for percentiles); only where the SD is not stated to be over runs",
    "the SD is of runs' means, of a trimmed set, or of other requests than the extremes",
)
MEAN = Rule(
    "mean within its percentiles",
    "2 % and rounding, and the percentiles' own error; not judged below 100 requests, or over runs",
    "mean and percentiles are of different sets of requests (errors left out of one), or one of them was trimmed",
)
RAMP = Rule(
    "uniform ramp",
    "3 % for each figure; two of mean, median, SD and upper percentiles must fit, and none may miss",
    "requests waited for a timer of a fixed period, or arrived faster than they were served (an overloaded open loop)",
)


def order(row: Row, file: AuditFile) -> Outcome | None:
    """The minimum <= percentiles in their order <= max, and the mean between min and max."""
    empty, source = blanks(row), method_of(row, file).percentiles or _SAMPLES
    exact = source.source == "samples" and source.digits is None
    known = [(name, value) for name in LADDER if (value := row.value(name)) is not None and name not in empty]
    wrong = []
    for (a, x), (b, y) in combinations(known, 2):
        alike = exact or not {"min", "max"} & {a, b}  # estimated in one way, which keeps their order
        low, high = bounds(row, file, a), bounds(row, file, b)
        # An average of percentiles may lie anywhere beside extremes that were put together in another way.
        apart = low is not None and high is not None and low.low > high.high and source.source != "averaged"
        if exceeds(x, y) and (apart or alike) and _beyond_digits(row, file, x, y):
            wrong.append(f"{a} {x:g} > {b} {y:g}")
    low, high = bounds(row, file, "min"), bounds(row, file, "max")
    mean = row.mean
    if mean is not None and ((low and mean < low.low and exceeds(row.min or 0, mean)) or (
        high and "max" not in empty and mean > high.high and exceeds(mean, row.max or 0)
    )):  # fmt: skip
        wrong.append(f"mean {mean:g} outside {row.min or 0:g} to {row.max or math.inf:g}")
    if len(known) < 2 and not wrong:
        return None
    if wrong:
        return "impossible", "; ".join(wrong[:4])
    steps = " <= ".join(f"{name} {value:g}" for name, value in known)
    if empty:
        return ("undetermined", f"{steps}; {', '.join(sorted(empty))} printed as 0, a tool's blank and no figure")
    return "supported", steps


def _beyond_digits(row: Row, file: AuditFile, value: float, other: float) -> bool:
    """Whether figures differ by more than the significant digits that their tool keeps."""
    source = method_of(row, file).percentiles
    if source is None or source.digits is None or not value:
        return True
    return value - other > 10.0 ** (math.floor(math.log10(value)) - source.digits + 1)


def spread(row: Row, file: AuditFile) -> Outcome | None:
    """The least SD that other figures force, and the most, half the range (Popoviciu 1935).

    One extreme of n requests forces (extreme - mean) / sqrt(n); a percentile p forces (p - mean) sqrt((1 - p) / p), as a
    share 1 - p of all requests lies that far out (Cantelli 1929); the median alone |median - mean|.
    """
    if row.sd is None or row.mean is None:
        return None
    off = half_digit(row.sd) + half_digit(row.mean)
    forced: dict[str, float] = {}
    for name, value in (("max", row.max), ("min", row.min)):
        if value is not None and row.samples and name not in blanks(row):
            forced[name] = (abs(value - row.mean) - half_digit(value)) / math.sqrt(row.samples) * 0.98
    for name, share in SHARES.items():
        possible = bounds(row, file, name)
        if possible and name not in blanks(row) and (row.samples or 1_000) * min(share, 1 - share) >= 10:
            up = (possible.low - row.mean) * math.sqrt((1 - share) / share)
            down = (row.mean - possible.high) * math.sqrt(share / (1 - share))
            forced[name] = max(up, down) * 0.95
    most = math.inf
    if row.min is not None and row.max is not None and row.samples:
        most = (row.max - row.min) / 2 * math.sqrt(row.samples / max(row.samples - 1, 1)) * 1.02
        off += (half_digit(row.min) + half_digit(row.max)) / 2
    if not forced:
        return None
    by = max(forced, key=lambda name: forced[name])
    least = max(forced[by], 0.0)
    half = "" if math.isinf(most) else f", half the range at most {most:.3g}"
    arithmetic = f"SD {row.sd:g}; the {by} forces at least {least:.3g}{half}"
    if row.sd > most + off:
        return "impossible", arithmetic
    if row.sd < least - off:
        if of_several_runs(row, file) or corrected_apart(row, file):
            return "undetermined", f"{arithmetic}: too small for requests, which an SD over runs would explain"
        return "impossible", arithmetic
    return "supported", arithmetic


def mean_in_percentiles(row: Row, file: AuditFile) -> Outcome | None:
    """A mean is no further out than the shares of requests between its percentiles let it be."""
    percentiles = [name for name in SHARES if row.value(name) is not None and name not in blanks(row)]
    if row.mean is None or not percentiles or (row.samples or 1_000) < 100:
        return None
    possible, off = mean_bounds(row, file), half_digit(row.mean)
    arithmetic = f"mean {row.mean:g}; {', '.join(percentiles)} allow {possible.low:.3g} to {possible.high:.3g}"
    if possible.low * 0.98 - off <= row.mean <= possible.high * 1.02 + off:
        return "supported", arithmetic
    if row.mean > possible.high and row.concurrency and row.throughput_per_s:
        divided = row.concurrency * 1000 / row.throughput_per_s
        if abs(row.mean / divided - 1) < 0.005:
            words = f"{arithmetic}; {row.concurrency} / {row.throughput_per_s:,g} per s = {divided:.4g} ms"
            return "undetermined", f"{words}: wall time divided by requests (ab), no mean of latencies"
    if of_several_runs(row, file) or corrected_apart(row, file):
        return (
            "undetermined",
            f"{arithmetic}: outside, which figures put together over runs, or corrected ones, may explain",
        )
    return "impossible", arithmetic


def uniform_ramp(row: Row, file: AuditFile) -> Outcome | None:
    """Queue positions recorded as latencies are uniform: mean (min + max) / 2, SD (max - min) / sqrt(12).

    Without the SD, the median and the percentiles show it as well: each lies at its share of the way from min to max.
    """
    if row.min is None or not row.max or row.max < 10 * row.min or row.measures == "gap":
        return None
    reach = row.max - row.min
    expected: dict[Statistic, float] = {"mean": row.min + reach / 2, "sd": reach / math.sqrt(12)}
    expected |= {name: row.min + share * reach for name, share in SHARES.items()}
    published = {name: value for name in expected if (value := row.value(name)) is not None and name not in blanks(row)}
    if len(published) < 2:
        return None
    off = {name: abs(value - expected[name]) for name, value in published.items()}
    fits = all(
        gap <= 0.03 * (expected[name] if name in ("mean", "sd") else reach) + half_digit(published[name])
        for name, gap in off.items()
    )
    forms = ", ".join(f"{name} {expected[name]:.2f}" for name in published)
    figures = ", ".join(f"{name} {value:g}" for name, value in published.items())
    arithmetic = f"uniform from {row.min:g} to {row.max:g} has {forms}; published: {figures}"
    if not fits:
        return "supported", f"{arithmetic}: no ramp"
    words = f"{arithmetic}: the shape of places in a queue, or of waiting for a timer, not of a call's own time"
    verdict: AuditVerdict = "contradicted"
    if file.stated.mode == "open loop":
        verdict, words = "undetermined", f"{words}; an overloaded open loop queues like this"
    elif (method_of(row, file).percentiles or _SAMPLES).source == "histogram":
        verdict, words = "undetermined", f"{words}; a single bucket interpolated looks like this"
    return verdict, words


def is_ramp(row: Row, file: AuditFile) -> bool:
    """Whether the row's figures are those of a uniform ramp, honest or not."""
    ramp = uniform_ramp(row, file)
    return ramp is not None and ramp[0] != "supported"


# ---- several rows together: a shape that real measurements do not share

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
