"""What a published figure may honestly be off by: its rounding, and where its percentiles come from."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from orchestrator.audit.claim_forms import Statistic
from orchestrator.audit.method import method_of
from orchestrator.audit.model import AuditFile, Percentiles, Row

# The share of requests at or below each figure.
SHARES: dict[Statistic, float] = {
    "p10": 0.10, "p25": 0.25, "median": 0.50, "p75": 0.75, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999,
    "p9999": 0.9999,
}  # fmt: skip
LADDER: tuple[Statistic, ...] = ("min", *SHARES, "max")

# Prometheus's and OpenTelemetry's default buckets begin with 0 to 5 ms, widen by 2.5 at the most, and end at 10 s.
FIRST_BUCKET_MS, BUCKET_STEP, LAST_BUCKET_MS = 5.0, 2.5, 10_000.0
SKETCH_ERROR = 0.01


@dataclass(frozen=True)
class Bounds:
    """What a figure truly may be, in its own unit, given how it was rounded and estimated."""

    low: float
    high: float


@lru_cache(maxsize=4096)
def half_digit(value: float) -> float:
    """By how much a published figure may be off: half of its last digit that is not a zero.

    Zeros at its end are lost in reading (1.40), or a tool's rounding to significant digits (150 for 147); two
    are kept at the least.
    """
    _, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    power = int(exponent)
    if power > 0 and len(digits) < 2:
        power -= 1
    return 0.5 * 10.0**power if value else 0.5


def bounds(row: Row, file: AuditFile, statistic: Statistic) -> Bounds | None:
    """What that figure of the row may be; None where it was not published."""
    value = row.value(statistic)
    if value is None:
        return None
    off = half_digit(value)
    method = method_of(row, file)
    if method.resolution_ms and statistic != "throughput_per_s":
        off = max(off, method.resolution_ms)  # cut off, or rounded
    source = method.percentiles if statistic in SHARES else None
    low, high = _estimated(value, source) if source else (value, value)
    if source and source.digits and value:
        off = max(off, 0.5 * 10.0 ** (math.floor(math.log10(value)) - source.digits + 1))
    return Bounds(max(low - off, 0.0), high + off)


def _estimated(value: float, source: Percentiles) -> tuple[float, float]:
    if source.source == "sketch":
        error = source.relative_error or SKETCH_ERROR
        return value / (1 + error), value * (1 + error)
    if source.source in ("samples", "averaged"):
        return value, value
    if source.buckets_ms:
        edges = (0.0, *source.buckets_ms)
        above = bisect_left(edges, value)
        beyond = above >= len(edges) - 1 and value >= edges[-1]
        return edges[max(above - 1, 0)], math.inf if beyond else edges[above]
    low = 0.0 if value <= FIRST_BUCKET_MS else value / BUCKET_STEP
    return low, math.inf if value >= LAST_BUCKET_MS else max(value * BUCKET_STEP, FIRST_BUCKET_MS)


def exceeds(value: float, other: float) -> bool:
    """Whether a figure is above another beyond rounding, which keeps the order of figures with as many digits."""
    first, second = half_digit(value), half_digit(other)
    return value - other > ((first + second) * (1 + 1e-9) if first != second else 0)


def blanks(row: Row) -> frozenset[Statistic]:
    """Figures printed as 0 above a positive one: a tool's word for none (wrk prints a p99 of 0.00us now and then)."""
    values = [(name, value) for name in LADDER if (value := row.value(name)) is not None]
    return frozenset(name for i, (name, value) in enumerate(values) if not value and any(v for _, v in values[:i]))


def mean_bounds(row: Row, file: AuditFile) -> Bounds:
    """The means that a row's minimum, percentiles and maximum leave possible; (0, inf) where none is published.

    Between two neighbouring figures lies a known share of all requests, each no less than the lower and no more than the
    upper one.
    """
    at = {name: possible for name in LADDER if name not in blanks(row) and (possible := bounds(row, file, name))}
    known = [(share, at[name]) for name, share in SHARES.items() if name in at]
    lowest, highest = at.get("min"), at.get("max")
    steps = [(0.0, lowest or Bounds(0.0, 0.0)), *known, (1.0, highest or Bounds(0.0, math.inf))]
    low = sum((steps[i + 1][0] - steps[i][0]) * steps[i][1].low for i in range(len(steps) - 1))
    high = sum((steps[i + 1][0] - steps[i][0]) * steps[i + 1][1].high for i in range(len(steps) - 1))
    return Bounds(low, high)
