"""How `orch run` ends: the answer, and a small table of stack, median, difference and checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from orchestrator import quantities
from orchestrator.cli.answer import aligned, prediction, wrapped
from orchestrator.cli.table_lines import table_lines
from orchestrator.findings.ranking import Figure
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate
from orchestrator.wording.answer import answer
from orchestrator.wording.axis_tables import tables
from orchestrator.wording.phrasing import percentile_text
from orchestrator.wording.settings import Setting, Settings
from orchestrator.wording.table import Table, leading, notes

_MOST_LINES = 14  # of the table, captions and heads among them
_MOST_ROWS = 14  # of tables along an axis
_MOST_WARNINGS = 2
_WIDEST = 10.0  # times the reference: an interval that reaches further says nothing


def short_lines(summary: RunSummary, *, width: int = 100, has_table: bool = True) -> Iterator[str]:
    """Yield the sentences, a paragraph each, wrapped at `width` columns, and the table; what has no room is counted."""
    found = answer(summary)
    for sentence in found.sentences:
        yield from wrapped(sentence, width)
    for sentence in prediction(summary)[:1]:
        yield from wrapped(f"Prediction: {sentence}", width)
    if has_table:
        along = tables(summary)
        yield from _along(along, width) if along else _first(summary, found.figures)
        yield ""
        yield "everything else: the report, or `orch runs show latest --full`; each check: `orch runs check`"


def _first(summary: RunSummary, figures: Sequence[Figure]) -> Iterator[str]:
    """The first lines of the tables of rates or settings."""
    rates = CAPACITY.of(summary).rates
    lines = list(_rates(rates) if rates else _tables(summary, figures))
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"... and {quantities.count(len(lines) - _MOST_LINES, 'more line')}"


def _along(along: Sequence[Table], width: int) -> Iterator[str]:
    """The first table of a run along an axis, and others as long as there is room."""
    shown = leading(along, _MOST_ROWS)
    for table in shown:
        yield ""
        yield from table_lines(table, width)
    yield from wrapped(" ".join(notes(shown)), width)
    if len(along) > len(shown):
        yield f"... and {quantities.count(len(along) - len(shown), 'more table')}"


def _tables(summary: RunSummary, figures: Sequence[Figure]) -> Iterator[str]:
    """One for each setting."""
    settings = Settings(summary)
    by_cell = {figure.cell: figure for figure in reversed(figures)}
    for setting in settings.every:
        heads = ("stack", f"median, {setting.unit.name}", f"difference, {setting.unit.name} (95 % interval)", "checks")
        yield ""
        yield setting.title
        yield from aligned(
            heads,
            [
                (
                    settings.labels[cell.id],
                    _median(cell, setting.unit),
                    _difference(cell, by_cell, setting, settings),
                    _checks(cell, settings),
                )
                for cell in setting.cells
            ],
        )


def _median(cell: CellSummary, unit: quantities.Unit) -> str:
    median = cell.distribution.median if cell.distribution else None
    return (percentile_text(cell, "median") or "-") if median is None else unit.text(median)


def _difference(cell: CellSummary, figures: Mapping[str, Figure], setting: Setting, settings: Settings) -> str:
    """To the reference, with its sign and interval, or why there is none."""
    if cell.id in settings.invalid:
        return "-"
    figure = figures.get(cell.id)
    if figure is None:
        return "reference" if settings.is_reference(cell) else "-"
    if figure.difference is None:
        return figure.standing
    text = _signed(figure.difference, setting.unit)
    if figure.interval is not None and figure.interval[1] < _WIDEST * (figure.reference_median or 0.0):
        low, high = (_signed(bound, setting.unit) for bound in figure.interval)
        text += f" ({low} to {high})"
    return text if figure.standing in ("faster", "slower") else f"{text}, {figure.standing}"


def _signed(milliseconds: float, unit: quantities.Unit) -> str:
    return f"{'+' if milliseconds > 0 else ''}{unit.text(milliseconds)}"


def _checks(cell: CellSummary, settings: Settings) -> str:
    """Which failed, which warn."""
    if cell.id in settings.invalid:
        return f"failed: {', '.join(settings.invalid[cell.id])}"
    warned = settings.warned(cell)
    more = len(warned) - _MOST_WARNINGS
    if not warned:
        return "ok"
    return f"warn: {', '.join(warned[:_MOST_WARNINGS])}{f' and {more} more' if more > 0 else ''}"


def _rates(found: Sequence[FoundRate]) -> Iterator[str]:
    for setting, of in groupby(found, key=lambda one: (one.setting, one.goals)):
        yield ""
        yield " · ".join(setting)
        yield from aligned(
            ("stack", "highest rate, per second", "95 % interval", "checks"),
            [
                (
                    one.stack_label,
                    "-" if one.rate_per_s is None else f"{one.side} {quantities.rate(one.rate_per_s)}".strip(),
                    _bounds(one),
                    f"failed: {', '.join(one.invalid)}" if one.invalid else "ok",
                )
                for one in of
            ],
        )


def _bounds(found: FoundRate) -> str:
    if found.interval is None:
        return "-"
    return " to ".join(quantities.rate(bound) for bound in found.interval)
