"""The answer of a run as a terminal shows it: a sentence, and a small table for each setting."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from orchestrator.analysis import words
from orchestrator.analysis.answer import Answer, Row

_HEADS = ("stack", "median", "95 % interval", "p99", "req/s", "against {reference}")
_ROWS_SHOWN = 40


def answer_lines(answer: Answer, *, width: int = 100) -> Iterator[str]:
    """The lines, the sentences wrapped at `width` columns; the report has the rows beyond the first forty."""
    for sentence in answer.headline():
        yield from textwrap.wrap(sentence, width, break_long_words=False, break_on_hyphens=False)
    shown = answer.table[:_ROWS_SHOWN]
    for setting, rows in groupby(shown, key=lambda row: row.setting):
        yield ""
        yield setting
        yield from _table(
            tuple(head.format(reference=answer.reference or "reference") for head in _HEADS),
            [_cells(row) for row in rows],
        )
    notes = [words.INTERVALS] if any(row.median_interval_ms is not None for row in shown) else []
    notes += [words.RATIOS_AND_MEDIANS] if any(row.ratio is not None for row in shown) else []
    notes += [words.THROUGHPUT] if any(row.requests_per_s is not None for row in shown) else []
    yield from textwrap.wrap(" ".join(notes), width)
    if len(answer.table) > len(shown):
        yield f"... and {len(answer.table) - len(shown):,} more rows in the report"


def _cells(row: Row) -> tuple[str, ...]:
    interval = row.median_interval_ms
    lost = [words.count(row.errors, "error")] if row.errors else []
    lost += [f"{row.not_sent:,} not sent"] if row.not_sent else []
    lost += ["percentiles of those sent"] if row.is_of_those_sent else []
    errors = f" ({', '.join(lost)})" if lost else ""
    return (
        row.stack,
        row.median_text or "-",
        "-" if interval is None else f"{words.ms(interval[0])} to {words.ms(interval[1])}",
        row.p99_text or "-",
        "-" if row.requests_per_s is None else f"{row.requests_per_s:,.{0 if row.requests_per_s >= 10 else 2}f}",
        _verdict(row) + errors,
    )


def _verdict(row: Row) -> str:
    if row.failed_checks:
        return f"invalid: {', '.join(row.failed_checks)} failed"
    if row.ratio is None:
        return row.verdict or "-"
    low_high = "" if row.ratio_interval is None else " ({} to {})".format(*words.bounds(row.ratio_interval))
    return f"{row.verdict}, {words.factor(row.ratio)}×{low_high}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """First and last column to the left, figures to the right, each head as its column."""
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    last = len(heads) - 1
    for row in (heads, *rows):
        cells = (
            text.ljust(width) if place in (0, last) else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(cells)}".rstrip()
