"""How `orch run` ends: the short answer, and a small table of stack, median, difference and checks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from orchestrator.analysis import words
from orchestrator.analysis.answer import Answer, Row
from orchestrator.analysis.conclusion.shapes import Figure
from orchestrator.analysis.one_unit import units
from orchestrator.analysis.table import Table, leading, notes
from orchestrator.cli.answer import aligned, wrapped
from orchestrator.cli.table_lines import table_lines
from orchestrator.questions.capacity.find import FoundRate

_MOST_LINES = 14  # of the table, captions and heads among them
_MOST_ROWS = 14  # of tables along an axis
_MOST_WARNINGS = 2
_WIDEST = 10.0  # times the reference: an interval that reaches further says nothing


def short_lines(answer: Answer, *, width: int = 100, has_table: bool = True) -> Iterator[str]:
    """The sentences, a paragraph each, wrapped at `width` columns, and the table; what has no room is counted."""
    for sentence in answer.short():
        yield from wrapped(sentence, width)
    for sentence in answer.prediction[:1]:
        yield from wrapped(f"Prediction: {sentence}", width)
    if has_table:
        yield from _along(answer.axis_tables, width) if answer.axis_tables else _first(answer)
        yield ""
        yield "everything else: the report, or `orch report latest --full`; each check: `orch check`"


def _first(answer: Answer) -> Iterator[str]:
    """The first lines of the tables of rates or settings."""
    lines = list(_rates(answer.found_rates) if answer.found_rates else _tables(answer))
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"... and {words.count(len(lines) - _MOST_LINES, 'more line')}"


def _along(tables: Sequence[Table], width: int) -> Iterator[str]:
    """The first table of a run along an axis, and others as long as there is room."""
    shown = leading(tables, _MOST_ROWS)
    for table in shown:
        yield ""
        yield from table_lines(table, width)
    yield from wrapped(" ".join(notes(shown)), width)
    if len(tables) > len(shown):
        yield f"... and {words.count(len(tables) - len(shown), 'more table')}"


def _tables(answer: Answer) -> Iterator[str]:
    """One for each setting, in the unit of its full table."""
    figures: dict[str, Figure] = {}
    for figure in answer.figures:
        figures.setdefault(figure.cell, figure)
    tables = [list(of) for _, of in groupby(answer.table, key=lambda row: row.setting)]
    found = units([{row.cell: row.median_ms for row in rows} for rows in tables], [])
    for rows, known in zip(tables, found, strict=True):
        unit = known or words.unit_for(())
        yield ""
        yield rows[0].setting
        beside = {row.reference_cell for row in rows}  # it may be compared by another factor, in another table
        heads = ("stack", f"median, {unit.name}", f"difference, {unit.name} (95 % interval)", "checks")
        yield from aligned(
            heads,
            [(row.label, _median(row, unit), _difference(row, figures, unit, beside), _checks(row)) for row in rows],
        )


def _median(row: Row, unit: words.Unit) -> str:
    return (row.median_text or "-") if row.median_ms is None else unit.text(row.median_ms)


def _difference(row: Row, figures: Mapping[str, Figure], unit: words.Unit, references: Collection[str]) -> str:
    """To the reference, with its sign and interval, or why there is none."""
    figure = figures.get(row.cell)
    if row.failed_checks:
        return "-"
    if figure is None:
        return "reference" if row.cell in references else row.verdict or "-"
    if figure.difference is None:
        return figure.standing
    text = _signed(figure.difference, unit)
    base = figure.reference_median or 0.0
    if figure.interval is not None and figure.interval[1] < _WIDEST * base:
        text += f" ({_signed(figure.interval[0], unit)} to {_signed(figure.interval[1], unit)})"
    return text if figure.standing in ("faster", "slower") else f"{text}, {figure.standing}"


def _signed(milliseconds: float, unit: words.Unit) -> str:
    return f"{'+' if milliseconds > 0 else ''}{unit.text(milliseconds)}"


def _checks(row: Row) -> str:
    """Which failed, which warn."""
    if row.failed_checks:
        return f"failed: {', '.join(row.failed_checks)}"
    if row.warned_checks:
        more = len(row.warned_checks) - _MOST_WARNINGS
        return f"warn: {', '.join(row.warned_checks[:_MOST_WARNINGS])}{f' and {more} more' if more > 0 else ''}"
    return "ok"


def _rates(found: Sequence[FoundRate]) -> Iterator[str]:
    for setting, of in groupby(found, key=lambda one: (one.setting, one.goals)):
        yield ""
        yield " · ".join(setting)
        yield from aligned(
            ("stack", "highest rate, per second", "95 % interval", "checks"),
            [
                (
                    one.stack_label,
                    "-" if one.rate_per_s is None else f"{one.side} {words.rate(one.rate_per_s)}".strip(),
                    _bounds(one),
                    f"failed: {', '.join(one.invalid)}" if one.invalid else "ok",
                )
                for one in of
            ],
        )


def _bounds(found: FoundRate) -> str:
    if found.interval is None:
        return "-"
    return " to ".join(words.rate(bound) for bound in found.interval)
