"""Recomputes "x % faster" and its relatives, in either direction, for latencies and for throughput."""

from __future__ import annotations

import math
from collections.abc import Mapping

from orchestrator.audit.assessment import AuditVerdict, gravest
from orchestrator.audit.claim_forms import Compared, Statistic
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.precision import Bounds, bounds, half_digit

HIGHER_IS_BETTER: frozenset[Statistic] = frozenset({"throughput_per_s"})

Interval = tuple[float, float]

# The verdict on one pair of figures, in words.
_HOLDS: Mapping[AuditVerdict, str] = {
    "supported": "holds",
    "contradicted": "does not hold",
    "impossible": "does not hold",
    "undetermined": "undecided",
}


def percent_slack(percent: float) -> float:
    """By how many points a figure may miss a claimed percentage: "40 %" is 37.5 to 42.5, "1 %" is 0.5 to 1.5."""
    if percent < 10:
        return max(0.5, percent / 4)
    return max(2.5, 0.05 * percent)


def overlap(first: Interval, other: Interval) -> bool:
    """Whether two intervals share a point."""
    return first[0] <= other[1] and other[0] <= first[1]


def check_compared(test: Compared, file: AuditFile) -> tuple[AuditVerdict, str]:
    """All pairs of a test; the gravest verdict, and the arithmetic of each."""
    words, verdicts = [], []
    for left, right in test.pairs:
        verdict, text = _pair(test, file.row(left), file.row(right), file)
        verdicts.append(verdict)
        words.append(f"{text} ({_HOLDS[verdict]})")
    return gravest(verdicts), "; ".join(words)


def _pair(test: Compared, left: Row, right: Row, file: AuditFile) -> tuple[AuditVerdict, str]:
    a, b = left.value(test.statistic), right.value(test.statistic)
    around = bounds(left, file, test.statistic), bounds(right, file, test.statistic)
    if a is None or b is None or None in around:
        lacking = [r.name for r, v in ((left, a), (right, b)) if v is None]
        return "undetermined", f"no {test.statistic} is published for {', '.join(lacking)}"
    first, second = (bounds or Bounds(0, math.inf) for bounds in around)
    if not (a and b and first.low and second.low):
        return "undetermined", f"{left.name} {a:g} against {right.name} {b:g}: too few digits to compare"
    readings = _readings(test, a, b)
    changes = ", ".join(_in_words(value, name) for name, value in readings.items())
    unit = "/s" if test.statistic == "throughput_per_s" else " ms"
    text = f"{left.name} {a:g}{unit} against {right.name} {b:g}{unit}: {changes}"
    # Where each figure lies at the end of its rounding that favours the other one, and the reverse.
    corners = [_readings(test, x, y) for x, y in ((first.low, second.high), (first.high, second.low))]
    ranges = {name: (min(c[name] for c in corners), max(c[name] for c in corners)) for name in readings}
    is_left_higher = (test.statistic in HIGHER_IS_BETTER) == (test.kind == "faster")  # by the claim
    difference = a - b if is_left_higher else b - a
    if test.percent is None:
        if difference > 0:
            return "supported", text
        may = any(high > 0 for _, high in ranges.values())
        return ("undetermined", f"{text}: equal as far as the digits go") if may else ("contradicted", text)
    return _percent(test.percent, readings, ranges, text)


def _percent(
    percent: Interval, readings: dict[str, float], ranges: dict[str, Interval], text: str
) -> tuple[AuditVerdict, str]:
    """Whether any reading of "x % faster" fits: time saved, or speed gained; a claim is given the reading that suits it."""
    low, high = percent
    wide = (low - percent_slack(low), high + percent_slack(high))
    if any(value > 0 and wide[0] <= value <= wide[1] for value in readings.values()):
        return "supported", text
    exact = (max(low - half_digit(low), 1e-9), high + half_digit(high))
    if any(overlap(interval, exact) for interval in ranges.values()):
        return "undetermined", f"{text}; the published digits allow the claim"
    return "contradicted", text


def _readings(test: Compared, a: float, b: float) -> dict[str, float]:
    """What "x % faster" or "slower" may mean, each in per cent, positive where the claim's direction holds."""
    if test.statistic in HIGHER_IS_BETTER:
        if test.kind == "faster":
            return {"more throughput": (a / b - 1) * 100}
        return {"less throughput": (1 - a / b) * 100}
    if test.kind == "faster":
        return {"less time": (1 - a / b) * 100, "more speed": (b / a - 1) * 100}
    return {"more time": (a / b - 1) * 100, "less speed": (1 - b / a) * 100}


def _in_words(percent: float, name: str) -> str:
    """A difference as people say it: `91.9 % less time`, and from twice on `12.3 times the speed`."""
    way, quantity = name.split()
    if percent >= 100:
        return f"{percent / 100 + 1:.1f} times the {quantity}"
    if percent < 0:
        way = "less" if way == "more" else "more"
    return f"{abs(percent):.1f} % {way} {quantity}"
