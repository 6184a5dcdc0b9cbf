"""Rules that examine what a publication claims in words, by recomputing it from the publication's own table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from orchestrator.audit import claim_forms as forms
from orchestrator.audit.assessment import Assessment, Outcome, Rule, gravest, judge
from orchestrator.audit.compared import HIGHER_IS_BETTER, check_compared, overlap
from orchestrator.audit.load_rules import arrival_noise, surplus
from orchestrator.audit.method import method_of
from orchestrator.audit.model import AuditFile, Row
from orchestrator.audit.network_rules import ROUND_TRIPS, round_trips
from orchestrator.audit.precision import bounds, half_digit
from orchestrator.quantities import change

# Claims are rounded: "ten times" is 9 to 11, but never the other way round.
FACTOR_SLACK = 0.10

PERCENTAGES = Rule(
    "percentages recomputed",
    "2.5 points from 10 to 50 %, a twentieth above, a quarter (0.5 points at the least) below; the sign must agree",
    "the sentence is about other figures than the table's, or another statistic",
)
ORDERED = Rule("order recomputed", "the figures' rounding", "the sentence is about other figures than the table's")
FACTORS = Rule(
    "factors recomputed",
    "a tenth of the factor, half of its distance from 1 at the most",
    "the sentence is about other figures than the table's",
)
EXTREME = Rule(
    "extreme recomputed",
    "the figures' rounding; rows of the same operation, placement and load, or those named",
    "the sentence is about other rows, or another statistic, than the test says",
)
SIZE = Rule(
    "encoded size against content",
    "one byte; any of the codec's usual variants",
    "the size is after compression, or texts are known to both ends beforehand, or the message is another one",
)
LOSS = Rule(
    "all delivered",
    "0.1 % either way, and four standard deviations of a Poisson count where arrivals are random",
    "another number was offered than the table says",
)
FIGURE = Rule(
    "figure recomputed", "a tenth, and the figure's rounding", "the sentence is about other rows, or another statistic"
)
EFFECTS = Rule(
    "sizes of effects",
    "the figures' rounding; an effect for the worse is none",
    "the sentence is about other rows than those named",
)


class _Undecided(Exception):
    """The table has too few figures, or digits, for a test."""


def check_claim(claim: forms.Claim, test: forms.Test, file: AuditFile) -> Assessment:
    """What the table says of one test of a claim, the soundness of the figures it reads left aside."""
    rule, check = _CHECKS[type(test)]
    if isinstance(test, forms.Compared) and not test.percent:
        rule = ORDERED
    try:
        verdict, arithmetic = check(test, file)
    except _Undecided as error:
        verdict, arithmetic = "undetermined", str(error)
    return judge(rule, verdict, arithmetic, claim=claim.text, rows=forms.rows_of(test))


def _values(file: AuditFile, names: Sequence[str], statistic: forms.Statistic) -> dict[str, float]:
    """That figure of each row by name. _Undecided where one was not published."""
    values = {name: file.row(name).value(statistic) for name in names}
    lacking = [name for name, value in values.items() if value is None]
    if lacking:
        raise _Undecided(f"no {statistic} is published for {', '.join(lacking)}")
    return {name: value or 0.0 for name, value in values.items()}


def _ratio(file: AuditFile, left: str, right: str, statistic: forms.Statistic) -> tuple[float, float, float]:
    """Least, published and largest ratio of two figures. _Undecided where either may be 0 for all that is published."""
    values = _values(file, (left, right), statistic)
    first, second = (bounds(file.row(name), file, statistic) for name in (left, right))
    if first is None or second is None or not (first.low and second.low):
        raise _Undecided(f"{statistic} is published as 0, or nearly: too few digits for a ratio")
    return first.low / second.high, values[left] / values[right], first.high / second.low


def _times(test: forms.Times, file: AuditFile) -> Outcome:
    values = _values(file, (test.row, test.of), test.statistic)
    least, ratio, most = _ratio(file, test.row, test.of, test.statistic)
    a, b = values[test.row], values[test.of]
    arithmetic = f"{a:g} / {b:g} = {ratio:{'.1f' if ratio >= 2 else '.3g'}}; claimed {test.factor:g}"
    distance = abs(test.factor - 1)
    slack = min(FACTOR_SLACK * test.factor, distance / 2) if distance > 1e-9 else 0.05
    if abs(ratio - test.factor) <= slack + 1e-12:
        return "supported", arithmetic
    digit = min(half_digit(test.factor), distance / 2)
    if overlap((least, most), (test.factor - digit, test.factor + digit)):
        return "undetermined", f"{arithmetic}; with its digits the table allows {least:.3g} to {most:.3g}"
    return "contradicted", arithmetic


# What rows that were measured in the same setting have in common, so that one may be called lower than the other.
_SETTING = attrgetter("operation", "placement", "concurrency", "offered_per_s", "measures")


def _alike(first: Row, other: Row) -> bool:
    return _SETTING(first) == _SETTING(other) and (first.batch or 1) == (other.batch or 1)


def _extreme(test: forms.Extreme, file: AuditFile) -> Outcome:
    _values(file, (test.row,), test.statistic)
    named = file.row(test.row)
    rows = [r for r in file.results if (r.name in test.among if test.among else _alike(r, named)) or r is named]
    values = {r.name: v for r in rows if (v := r.value(test.statistic)) is not None}
    lowest = test.kind == "lowest"
    ranked = sorted(values.items(), key=lambda item: item[1], reverse=not lowest)
    arithmetic = f"{test.statistic}: {', '.join(f'{n} {v:.3g}' for n, v in ranked)}"
    if len(values) == 1:
        return "undetermined", f"{arithmetic}: no other row was measured alike"
    own = bounds(named, file, test.statistic)
    others = [other for r in rows if r is not named and (other := bounds(r, file, test.statistic))]
    best = ranked[0][1]
    if values[test.row] == best and [v for _, v in ranked].count(best) == 1:
        return "supported", arithmetic
    if own is None or all((own.low <= o.high) if lowest else (own.high >= o.low) for o in others):
        return "undetermined", f"{arithmetic}: equal as far as the published digits go"
    return "contradicted", arithmetic


def _size(test: forms.Size, _: AuditFile) -> Outcome:
    content, sizes = text_bytes(test.message), encoded_sizes(test.codec, test.message)
    exact = ", ".join(f"{name}: {size} bytes" for name, size in sizes.items() if "indent" not in name)
    arithmetic = f"its texts alone are {content} bytes; {exact}; claimed {test.bytes}"
    if any(abs(test.bytes - size) <= 1 for size in sizes.values()):
        return "supported", arithmetic
    if test.compressed:
        return "undetermined", f"{arithmetic} compressed, which is not recomputed"
    return ("impossible" if test.bytes < content else "contradicted"), arithmetic


def _of_rows(names: Sequence[str], check: Callable[[Row], Outcome], file: AuditFile) -> Outcome:
    outcomes = [(name, *check(file.row(name))) for name in names]
    return gravest([verdict for _, verdict, _ in outcomes]), "; ".join(f"{name}: {text}" for name, _, text in outcomes)


def _delivers_all(test: forms.DeliversAll, file: AuditFile) -> Outcome:
    def check(row: Row) -> Outcome:
        if not row.offered_per_s or row.delivered_per_s is None:
            return "undetermined", "no rates published"
        method = method_of(row, file)
        lost = 1 - row.delivered_per_s / row.offered_per_s
        random = method.arrivals == "poisson" or file.stated.mode == "open loop"
        noise = arrival_noise(row, file) if random else 0.0
        off = f"{lost:.1%} missing" if lost >= 0 else surplus(1 - lost)
        text = f"{row.delivered_per_s:,g} of {row.offered_per_s:,g} per s, {off}"
        is_repeated = lost <= 0 and method.delivery == "at-least-once"
        if abs(lost) > 0.001 + noise and not is_repeated:
            return "contradicted", text
        if abs(lost) > 0.001 and not is_repeated:
            return "undetermined", f"{text}, where random arrivals vary by {noise:.1%}"
        if method.delivery == "at-least-once":
            return "undetermined", f"{text}, where an event counted twice hides one that was lost"
        return "supported", text

    return _of_rows(test.rows, check, file)


def _figure(test: forms.Figure, file: AuditFile) -> Outcome:
    words, holds = [], []
    choose = max if test.statistic in HIGHER_IS_BETTER else min
    for group in test.groups:
        values = {name: value for name in group if (value := file.row(name).value(test.statistic)) is not None}
        name = choose(values or _values(file, group, test.statistic), key=lambda name: values[name])
        value = test.factor * values[name]
        off = test.factor * half_digit(values[name]) if not values[name] else 0.0
        holds.append(abs(value - test.equals) <= FACTOR_SLACK * test.equals + off)
        product = f"{test.factor:g} x {values[name]:,g} = " if test.factor != 1 else ""
        words.append(f"{name} {product}{value:,g} ({change(value / test.equals - 1, 1)})")
    best = "highest" if choose is max else "lowest"
    arithmetic = f"{test.statistic}, {best} of each: {'; '.join(words)}; claimed near {test.equals:,g}"
    return ("supported" if all(holds) else "contradicted"), arithmetic


def _larger_effect(test: forms.LargerEffect, file: AuditFile) -> Outcome:
    first, second = (_ratio(file, *pair, test.statistic) for pair in (test.first, test.second))
    better = first if test.statistic in HIGHER_IS_BETTER else _inverted(first)
    (low, gain, high), (below, other, above) = better, second if second[1] >= 1 else _inverted(second)
    arithmetic = f"{test.first[0]} is {gain:.2f} times as good as {test.first[1]}; "
    arithmetic += f"{' and '.join(test.second)} differ by a factor of {other:.2f}"
    if gain > other:
        return "supported", arithmetic
    if overlap((low, high), (below, above)):
        return "undetermined", f"{arithmetic}: equal as far as the published digits go"
    return "contradicted", arithmetic


def _inverted(ratios: tuple[float, float, float]) -> tuple[float, float, float]:
    low, ratio, high = ratios
    return 1 / high, 1 / ratio, 1 / low


def _connections(test: forms.Connections, file: AuditFile) -> Outcome:
    def check(row: Row) -> Outcome:
        outcome = _with_policy(row, test.policy, file)
        if outcome is None:
            return "undetermined", "no distance is given, or not the same call on one host"
        if outcome[0] == "impossible":
            return "undetermined", f"{outcome[1]}: figures faster than a round trip say nothing about connections"
        return outcome

    return _of_rows(test.rows, check, file)


def _with_policy(row: Row, policy: forms.Policy, file: AuditFile) -> Outcome | None:
    """Judge the row by its round trips as if `policy` were its own; one too quick for new connections kept its own."""
    outcome = round_trips(row.model_copy(update={"connection": policy}), file)
    if policy == "reuse" and (outcome is None or outcome[0] == "undetermined"):
        opened = round_trips(row.model_copy(update={"connection": "per-request"}), file)
        if opened is not None and opened[0] == "contradicted":
            return "supported", opened[1]
    return outcome


_CHECKS: Mapping[type, tuple[Rule, Callable[[Any, AuditFile], Outcome]]] = {
    forms.Compared: (PERCENTAGES, check_compared),
    forms.Times: (FACTORS, _times),
    forms.Extreme: (EXTREME, _extreme),
    forms.Size: (SIZE, _size),
    forms.DeliversAll: (LOSS, _delivers_all),
    forms.Figure: (FIGURE, _figure),
    forms.LargerEffect: (EFFECTS, _larger_effect),
    forms.Connections: (ROUND_TRIPS, _connections),
}


def text_bytes(value: Any) -> int:
    """Return the bytes of all different keys and texts of a message: no codec takes less without knowing them beforehand."""
    return sum(len(text.encode()) for text in set(_texts(value)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def encoded_sizes(codec: str, message: Any) -> dict[str, int]:
    """Return the size in bytes of the message by variant of the codec, the first name of each size."""
    variants: dict[str, int] = {}
    for number, values in (("", message), (" and whole numbers as integers", _whole(message))):
        for name, size in _variants(codec, values):
            if size not in variants.values():
                variants[name + number] = size
    return variants


def _variants(codec: str, message: Any) -> Iterator[tuple[str, int]]:
    """Text beyond ASCII is UTF-8 to most JSON encoders, and escapes to some."""
    if codec == "json":
        for text, ascii_only in (("", False), (" with escapes", True)):
            for name, form in _JSON_FORMS.items():
                yield name + text, len(json.dumps(message, ensure_ascii=ascii_only, **form).encode())
    elif codec == "cbor":
        import cbor2

        yield "CBOR", len(cbor2.dumps(message))
        yield "canonical CBOR", len(cbor2.dumps(message, canonical=True))
        yield "CBOR with string references", len(cbor2.dumps(message, string_referencing=True))
    else:
        import msgpack

        yield "MessagePack", len(msgpack.packb(message))
        yield "MessagePack in single precision", len(msgpack.packb(message, use_single_float=True))


_JSON_FORMS: dict[str, dict[str, Any]] = {
    "JSON with spaces": {},
    "compact JSON": {"separators": (",", ":")},
    "JSON with indent 2": {"indent": 2},
    "JSON with indent 4": {"indent": 4},
}


def _whole(value: Any) -> Any:
    """Return the message with 1.0 as 1: encoders of JavaScript and Go know no difference, and others shorten numbers."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
