"""Rules that examine what a publication claims in words, by recomputing it from the publication's own table."""

from __future__ import annotations

import json
import math
from typing import Any

from orchestrator.analysis.audit.figures import round_trips
from orchestrator.analysis.audit.finding import AuditVerdict, Finding
from orchestrator.analysis.audit.model import (
    AuditFile,
    Claim,
    Connections,
    DeliversAll,
    Faster,
    LargerEffect,
    Lowest,
    Multiple,
    Peak,
    Row,
    Size,
    Statistic,
    Test,
    Times,
    rows_of,
)

# Claims are rounded: "40 %" means 37.5 to 42.5, "ten times" 9 to 11.
PERCENT_SLACK = 2.5
FACTOR_SLACK = 0.10


def check_claim(claim: Claim, test: Test, file: AuditFile) -> Finding:
    """What the table says of one test of a claim, the soundness of the figures it reads left aside."""
    match test:
        case Faster():
            verdict, rule, arithmetic = _faster(test, file)
        case Times():
            verdict, rule, arithmetic = _times(test, file)
        case Lowest():
            verdict, rule, arithmetic = _lowest(test, file)
        case Size():
            verdict, rule, arithmetic = _size(test)
        case DeliversAll():
            verdict, rule, arithmetic = _delivers_all(test, file)
        case Peak():
            verdict, rule, arithmetic = _peak(test, file)
        case LargerEffect():
            verdict, rule, arithmetic = _larger_effect(test, file)
        case Multiple():
            verdict, rule, arithmetic = _multiple(test, file)
        case Connections():
            verdict, rule, arithmetic = _connections(test, file)
    return Finding(claim=claim.text, verdict=verdict, rule=rule, arithmetic=arithmetic, rows=rows_of(test))


_Outcome = tuple[AuditVerdict, str, str]


def _figure(file: AuditFile, name: str, statistic: Statistic) -> float | None:
    return file.row(name).value(statistic)


def _missing(file: AuditFile, names: tuple[str, ...], statistic: Statistic) -> str:
    lacking = [n for n in names if _figure(file, n, statistic) is None]
    reasons = [f"{n} ({file.row(n).missing})" if file.row(n).missing else n for n in lacking]
    return f"no {statistic} is published for {', '.join(reasons)}" if lacking else ""


def _in_words(percent: float, name: str) -> str:
    """A difference as people say it: `91.9 % less time`, and from twice on `12.3 times the speed`."""
    if percent >= 100:
        return f"{percent / 100 + 1:.1f} times the {name.split()[-1]}"
    return f"{abs(percent):.1f} % {name if percent >= 0 else _OPPOSITE[name]}"


_OPPOSITE = {"less time": "more time", "more speed": "less speed", "more throughput": "less throughput"}


def _faster(test: Faster, file: AuditFile) -> _Outcome:
    rule = "percentages recomputed" if test.percent else "order recomputed"
    names = tuple(name for pair in test.pairs for name in pair)
    if lacking := _missing(file, names, test.statistic):
        return "cannot-tell", rule, lacking
    words, holds = [], []
    for left, right in test.pairs:
        a, b = (_figure(file, n, test.statistic) or math.nan for n in (left, right))
        if test.statistic == "throughput_per_s":
            readings = {"more throughput": (a / b - 1) * 100}
        else:
            readings = {"less time": (1 - a / b) * 100, "more speed": (b / a - 1) * 100}
        said = ", ".join(_in_words(value, name) for name, value in readings.items())
        words.append(f"{left} {a:g} against {right} {b:g}: {said}")
        holds.append(_within(test.percent, list(readings.values())))
    return ("supported" if all(holds) else "contradicted"), rule, "; ".join(words)


def _within(percent: tuple[float, float] | None, readings: list[float]) -> bool:
    """Whether any reading of "x % faster" fits: time saved, or speed gained; a claim is given the reading that suits it."""
    if percent is None:
        return all(value > 0 for value in readings)
    low, high = percent
    return any(low - PERCENT_SLACK <= value <= high + PERCENT_SLACK for value in readings)


def _times(test: Times, file: AuditFile) -> _Outcome:
    rule = "factors recomputed"
    if lacking := _missing(file, (test.row, test.of), test.statistic):
        return "cannot-tell", rule, lacking
    a, b = (_figure(file, n, test.statistic) or math.nan for n in (test.row, test.of))
    fits = abs(a / b / test.factor - 1) <= FACTOR_SLACK
    return ("supported" if fits else "contradicted"), rule, f"{a:g} / {b:g} = {a / b:.1f}; claimed {test.factor:g}"


def _lowest(test: Lowest, file: AuditFile) -> _Outcome:
    values = {r.name: v for r in file.results if (v := r.value(test.statistic)) is not None}
    if test.row not in values:
        return "cannot-tell", "SD against CV", _missing(file, (test.row,), test.statistic)
    best = min(values, key=lambda name: values[name])
    arithmetic = f"{test.statistic}: {', '.join(f'{n} {v:.3g}' for n, v in sorted(values.items(), key=lambda i: i[1]))}"
    if best == test.row:
        return "supported", "SD against CV", arithmetic
    if test.other is not None:
        others = {r.name: v for r in file.results if (v := r.value(test.other)) is not None}
        lowest = min(others, key=lambda name: others[name])
        arithmetic += f"; by {test.other} the lowest is {lowest} at {others[lowest]:.3g}"
    return "contradicted", "SD against CV", arithmetic


def _size(test: Size) -> _Outcome:
    content = _text_bytes(test.message)
    sizes = _encoded_sizes(test.codec, test.message)
    exact = ", ".join(f"{name}: {size} bytes" for name, size in sizes.items())
    arithmetic = f"its texts alone are {content} bytes; {exact}; claimed {test.bytes}"
    if test.bytes < content:
        return "impossible", "encoded size against content", arithmetic
    near = any(abs(test.bytes - size) <= 1 for size in sizes.values())
    return ("supported" if near else "contradicted"), "encoded size against content", arithmetic


def _text_bytes(value: Any) -> int:
    """Bytes of all keys and texts of a message: no self-describing codec can take less without knowing them beforehand."""
    if isinstance(value, dict):
        return sum(_text_bytes(k) + _text_bytes(v) for k, v in value.items())
    if isinstance(value, list):
        return sum(_text_bytes(v) for v in value)
    return len(value.encode()) if isinstance(value, str) else 0


def _encoded_sizes(codec: str, message: dict[str, Any]) -> dict[str, int]:
    if codec == "json":
        spaced, compact = json.dumps(message), json.dumps(message, separators=(",", ":"))
        return {"JSON with spaces": len(spaced.encode()), "compact JSON": len(compact.encode())}
    if codec == "cbor":
        import cbor2

        return {"CBOR": len(cbor2.dumps(message))}
    import msgpack

    return {"MessagePack": len(msgpack.packb(message))}


def _delivers_all(test: DeliversAll, file: AuditFile) -> _Outcome:
    words, verdicts = [], set[AuditVerdict]()
    for row in (file.row(name) for name in test.rows):
        if not (row.offered_per_s and row.delivered_per_s):
            verdicts.add("cannot-tell")
            words.append(f"{row.name}: no rates published")
            continue
        lost = 1 - row.delivered_per_s / row.offered_per_s
        verdicts.add("contradicted" if lost > 0.001 else "supported")
        words.append(f"{row.name}: {row.delivered_per_s:,g} of {row.offered_per_s:,g} per s, {lost:.1%} missing")
    order: tuple[AuditVerdict, ...] = ("contradicted", "cannot-tell", "supported")
    return next(v for v in order if v in verdicts), "delivered against offered", "; ".join(words)


def _peak(test: Peak, file: AuditFile) -> _Outcome:
    words, holds = [], []
    for group in test.groups:
        best: Row = max((file.row(n) for n in group), key=lambda r: r.throughput_per_s or 0)
        reached = best.throughput_per_s or 0
        holds.append(abs(reached / test.throughput_per_s - 1) <= FACTOR_SLACK)
        words.append(f"{best.name} {reached:,g}/s ({reached / test.throughput_per_s - 1:+.1%})")
    arithmetic = f"highest of each: {'; '.join(words)}; claimed near {test.throughput_per_s:,g}/s"
    return ("supported" if all(holds) else "contradicted"), "peak throughput", arithmetic


def _larger_effect(test: LargerEffect, file: AuditFile) -> _Outcome:
    names = (*test.first, *test.second)
    if lacking := _missing(file, names, test.statistic):
        return "cannot-tell", "sizes of effects", lacking
    a, b, c, d = (_figure(file, n, test.statistic) or math.nan for n in names)
    first, second = max(a / b, b / a), max(c / d, d / c)
    arithmetic = (
        f"{test.first[0]} / {test.first[1]}: factor {first:.2f}; {test.second[0]} / {test.second[1]}: {second:.2f}"
    )
    return ("supported" if first > second else "contradicted"), "sizes of effects", arithmetic


def _multiple(test: Multiple, file: AuditFile) -> _Outcome:
    if lacking := _missing(file, (test.row,), test.statistic):
        return "cannot-tell", "sums recomputed", lacking
    figure = _figure(file, test.row, test.statistic) or math.nan
    product = test.factor * figure
    fits = abs(product / test.equals - 1) <= 0.05
    arithmetic = f"{test.factor:g} x {figure:g} = {product:.3g} ms; claimed {test.equals:g} ms"
    return ("supported" if fits else "contradicted"), "sums recomputed", arithmetic


def _connections(test: Connections, file: AuditFile) -> _Outcome:
    findings = []
    for name in test.rows:
        row = file.row(name).model_copy(update={"connection": test.policy})
        finding = round_trips(row, file)
        if finding is not None:
            findings.append(finding)
    if not findings:
        return "cannot-tell", "round trips", "no row gives both a distance and the same call on one host"
    words = "; ".join(f"{f.rows[0]}: {f.arithmetic}" for f in findings)
    if any(f.verdict == "impossible" for f in findings):
        return "cannot-tell", "round trips", f"{words}: figures quicker than a round trip say nothing of connections"
    kinds = {f.verdict for f in findings}
    order: tuple[AuditVerdict, ...] = ("contradicted", "supported", "cannot-tell")
    return next(v for v in order if v in kinds), "round trips", words
