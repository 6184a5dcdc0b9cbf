"""The answer of a run as a terminal shows it: a sentence, and a small table for each setting."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from orchestrator.analysis import requester_hosts, words
from orchestrator.analysis.answer import Against, Answer, Row, common_reference
from orchestrator.analysis.one_unit import units
from orchestrator.analysis.table import notes
from orchestrator.cli.answer_tables import (
    by_size_lines,
)
from orchestrator.cli.costs import WHOLE_LIFE, costs_of
from orchestrator.cli.requester_hosts import requester_hosts_of
from orchestrator.cli.table_lines import table_lines, tables_lines

_HEADS = ("stack", "median, {unit}", "95 % interval, {unit}", "p99, {unit}", "{rate}", "against {reference}")
_ROWS_SHOWN = 40
_PACKET_BYTES = 1448  # of a body that fills one: larger ones take more time
_FAR_APART = 1.05  # how many times as large a body is that a table of bytes is worth reading for
_POOLED = "†"  # behind a percentile that some trial has too few requests for
_DASH = (
    "-: fewer than ten requests lie beyond a percentile, or there are fewer than three blocks for an interval, or nothing"
    " to compare with."
)


def answer_lines(answer: Answer, *, width: int = 100) -> Iterator[str]:
    """The lines, the sentences wrapped at `width` columns; the report has the rows beyond the first forty."""
    for sentence in answer.headline():
        yield from wrapped(sentence, width)
    for sentence in answer.prediction:
        yield from wrapped(f"Prediction: {sentence}", width)
    shown = () if answer.found_rates else answer.table[:_ROWS_SHOWN]  # each rate tried: for report and JSON
    for table in answer.axis_tables:
        yield ""
        yield from table_lines(table, width)
    tables = [list(of_setting) for _, of_setting in groupby(shown, key=lambda row: row.setting)]
    for rows, unit in zip(tables, _units(tables), strict=True):
        beside = list(_beside(rows, unit, answer, width))
        if not answer.axis_tables:
            yield from _setting(rows, unit)
        elif beside:
            yield from ("", rows[0].setting)
        yield from beside
    yield from by_size_lines(answer.by_size, aligned)
    yield from _notes(shown, answer, width)
    if len(answer.table) > len(shown) and not answer.found_rates:
        yield f"... and {words.count(len(answer.table) - len(shown), 'more row')} in the report"
    yield from tables_lines(answer.question_tables, width)


def _setting(rows: Sequence[Row], unit: words.Unit) -> Iterator[str]:
    """The table of one setting."""
    rate = words.per_second(row.kind for row in rows).lower()
    reference = common_reference(rows)
    yield ""
    yield rows[0].setting
    yield from aligned(
        tuple(head.format(reference=reference or "reference", unit=unit.name, rate=rate) for head in _HEADS),
        [_cells(row, unit, reference) for row in rows],
    )


def _beside(rows: Sequence[Row], unit: words.Unit, answer: Answer, width: int) -> Iterator[str]:
    """What a setting has beside its latencies: parts, events, bytes, a mix, hosts, spreads, costs, what is not compared."""
    codecs = [row for row in rows if row.kind == "codec" and row.parts]
    if codecs:
        yield ""
        yield from _codecs(codecs, unit)
    for row in rows:
        if row.parts and row.kind != "codec":
            yield from (f"  {line}" for line in wrapped(_parts(row, unit), width - 2))
    yield from _bytes(rows, is_asked=bool(answer.sizes))
    for table in (requester_hosts_of(rows, unit), costs_of(rows)):
        if table is not None:
            yield ""
            yield from aligned(*table)
    for why in dict.fromkeys(row.uncompared for row in rows if row.uncompared):
        of = [row.label for row in rows if row.uncompared == why]
        of_whom = "" if len(of) == len(rows) else f" of {', '.join(of)}"
        yield from (f"  {line}" for line in wrapped(f"no comparison{of_whom}: {why}", width - 2))


def _notes(shown: Sequence[Row], answer: Answer, width: int) -> Iterator[str]:
    """What the marks and columns of the tables mean."""
    texts = list(notes(answer.axis_tables)) if answer.axis_tables else list(_notes_on_settings(shown))
    texts += [words.GOODPUT] if answer.by_size else []
    texts += [requester_hosts.NOTE] if any(row.requester_hosts for row in shown) else []
    counted = [cost for row in shown for cost in row.costs.values()]
    texts += [words.COSTS] if counted else []
    texts += [f"{WHOLE_LIFE}: {words.OF_WHOLE_LIFE}."] if any(cost.is_whole_life for cost in counted) else []
    texts += [words.PRICES] if any("responder_usd" in row.costs for row in shown) else []
    kinds = {row.kind for row in shown}
    about = " ".join(texts)
    yield from wrapped(words.of_samples(about, kinds.pop()) if len(kinds) == 1 else about, width)


def _notes_on_settings(shown: Sequence[Row]) -> Iterator[str]:
    if any(_has_star(row) for row in shown):
        yield f"*: {words.VAGUE}."
    if any(row.pooled for row in shown):
        yield f"{_POOLED}: of all requests pooled."
    if any(_has_dash(row) for row in shown):
        yield _DASH
    if any(row.median_interval_ms is not None for row in shown):
        yield words.INTERVALS
    if any(row.ratio is not None for row in shown):
        yield words.RATIOS_AND_MEDIANS
    rated = [row.kind for row in shown if row.requests_per_s is not None and not row.stream]
    if rated:
        yield words.throughput(rated)


def _units(tables: Sequence[Sequence[Row]]) -> list[words.Unit]:
    pairs = [
        (row.cell, other)
        for rows in tables
        for row in rows
        for other in (row.reference_cell, *(against.reference_cell for against in row.others))
    ]
    found = units([{row.cell: row.median_ms for row in rows} for rows in tables], pairs)
    return [unit or words.unit_for(()) for unit in found]


def _bytes(rows: Sequence[Row], *, is_asked: bool) -> Iterator[str]:
    """How many bytes were sent and received, where bodies differ and that was asked or they fill a packet."""
    of = [(row, row.body_bytes) for row in rows if row.body_bytes is not None and row.kind in ("call", "task")]
    totals = [sum(body) for _, body in of]
    if not totals or max(totals) <= _FAR_APART * min(totals) or not (is_asked or max(totals) > _PACKET_BYTES):
        return
    yield ""
    yield from aligned(
        ("stack", "request body, bytes", "reply body, bytes", "sent on the wire", "received on the wire", ""),
        [(row.label, *_two(body), *_two(row.wire_bytes), "") for row, body in of],
    )


def _two(sizes: tuple[float, float] | None) -> tuple[str, str]:
    sent, received = ("-", "-") if sizes is None else (words.number(size, 1) for size in sizes)
    return sent, received


def _codecs(rows: Sequence[Row], unit: words.Unit) -> Iterator[str]:
    """What codecs alone took to encode and to decode, and how large messages became."""
    parts = [f"{part.name}, {unit.name}" for part in rows[0].parts]
    yield from aligned(
        (
            "stack",
            *parts,
            "request, bytes",
            "reply, bytes",
            "what came of it" if any(row.outcome for row in rows) else "",
        ),
        [
            (
                row.label,
                *(unit.text(part.median) for part in row.parts),
                *_two(row.encoded_bytes),
                row.outcome,
            )
            for row in rows
        ],
    )


def _parts(row: Row, unit: words.Unit) -> str:
    """The medians of a sample's parts: `each task with grpc: call 1 0.31, call 2 0.29 ms (medians)`."""
    shown = ", ".join(f"{part.name} {unit.text(part.median)}" for part in row.parts[: words.PARTS_SHOWN])
    more = len(row.parts) - words.PARTS_SHOWN
    return (
        f"each {row.kind} with {row.label}, medians in {unit.name}: {shown}{f', and {more} more' if more > 0 else ''}"
    )


def wrapped(text: str, width: int) -> Iterator[str]:
    """A text in lines of so many columns, none of which ends between a number and its unit."""
    for line in textwrap.wrap(words.unbroken(text), width, break_long_words=False, break_on_hyphens=False):
        yield line.replace("\u00a0", " ")


def _cells(row: Row, unit: words.Unit, reference: str) -> tuple[str, ...]:
    lost = [words.count(row.errors, "error")] if row.errors else []
    lost += [f"{row.not_sent:,} not sent"] if row.not_sent else []
    lost += ["percentiles of those sent"] if row.is_of_those_sent else []
    errors = f" ({', '.join(lost)})" if lost else ""
    return (
        row.label,
        _in(unit, row.median_ms, row.median_text) + _POOLED * ("median" in row.pooled),
        _interval(row, unit),
        _in(unit, row.p99_ms, row.p99_text) + _POOLED * ("p99" in row.pooled),
        "-" if row.requests_per_s is None else words.rate(row.requests_per_s),
        _verdict(row, reference) + errors,
    )


def _has_star(row: Row) -> bool:
    return row.is_interval_vague or words.is_vague(row.goodput_interval)


def _has_dash(row: Row) -> bool:
    figures = ((row.median_ms, row.median_text), (row.p99_ms, row.p99_text))
    return any(value is None and not text for value, text in figures) or row.median_interval_ms is None


def _in(unit: words.Unit, milliseconds: float | None, text: str) -> str:
    """The number in the column's unit, or a bound (`> 2 s`) where only that is known."""
    return text or "-" if milliseconds is None else unit.text(milliseconds)


def _interval(row: Row, unit: words.Unit) -> str:
    if row.median_interval_ms is None:
        return "-"
    return "*" if row.is_interval_vague else " to ".join(unit.text(bound) for bound in row.median_interval_ms)


def _verdict(row: Row, reference: str) -> str:
    """The standing of each comparison, with what it is compared with where that is not `reference`."""
    if row.failed_checks:
        return f"invalid: {', '.join(row.failed_checks)} failed"
    if not row.verdict:
        return "-"
    standing = _standing(row)
    if row.reference not in ("", reference):
        standing = f"{row.reference}: {standing}"
    return "; ".join((standing, *(f"{other.reference}: {_standing(other)}" for other in row.others)))


def _standing(against: Row | Against) -> str:
    if against.ratio is None:
        return against.verdict
    bounds = against.ratio_interval
    low_high = "" if bounds is None else " ({} to {})".format(*words.bounds(bounds))
    return f"{against.verdict}, {words.factor(against.ratio)}×{low_high}"


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """First and last column to the left, figures to the right, each head as its column."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    last = len(heads) - 1
    for row in (heads, *rows):
        cells = (
            text.ljust(width) if place in (0, last) else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()
