"""A run as a terminal shows it in full: what to know beside the answer, and a small table for each setting."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.cli.answer_tables import WHOLE_LIFE, beside, standing
from orchestrator.cli.table_lines import table_lines, tables_lines
from orchestrator.evidence import requester_hosts
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.wording.answer import answer
from orchestrator.wording.axis_tables import tables
from orchestrator.wording.notes import notes
from orchestrator.wording.phrasing import percentile_text
from orchestrator.wording.question_tables import tables as question_tables
from orchestrator.wording.settings import Setting, Settings
from orchestrator.wording.table import notes as notes_of
from orchestrator.wording.uncompared import why_uncompared

_HEADS = ("stack", "median, {unit}", "95 % interval, {unit}", "p99, {unit}", "{rate}", "against {reference}")
_ROWS_SHOWN = 40
_POOLED = "†"  # behind a percentile that some trial has too few requests for
_DASH = (
    "-: fewer than ten requests lie beyond a percentile, or there are fewer than three blocks for an interval, or nothing"
    " to compare with."
)


def answer_lines(summary: RunSummary, *, width: int = 100) -> Iterator[str]:
    """Yield the lines behind the answer, sentences wrapped at `width` columns; the report has the rows beyond forty."""
    for sentence in notes(summary):
        yield from wrapped(sentence, width)
    for sentence in prediction(summary):
        yield from wrapped(f"Prediction: {sentence}", width)
    along = tables(summary)
    for table in along:
        yield ""
        yield from table_lines(table, width)
    settings = Settings(summary)
    shown = () if CAPACITY.of(summary).rates else settings.every  # each rate tried: for report and JSON
    rows = 0
    for setting in shown:
        if rows >= _ROWS_SHOWN:
            break
        rows += len(setting.cells)
        texts = list(_beside(setting, settings, width))
        if not along:
            yield from _table(setting, settings)
        elif texts:
            yield from ("", setting.title)
        yield from texts
    yield from _notes(summary, [cell for setting in shown for cell in setting.cells], is_along=bool(along), width=width)
    if shown and len(summary.cells) > rows:
        yield f"... and {quantities.count(len(summary.cells) - rows, 'more row')} in the report"
    yield from tables_lines(question_tables(summary), width)


def prediction(summary: RunSummary) -> tuple[str, ...]:
    """Return what the decision maps come to, the broadest first; empty without a model, or where nothing is answered."""
    prediction = PREDICTION.of(summary)
    return () if prediction is None or answer(summary).cannot_answer else prediction.rules


def _table(setting: Setting, settings: Settings) -> Iterator[str]:
    """The table of one setting."""
    rate = quantities.per_second(cell.kind for cell in setting.cells).lower()
    values = {"reference": setting.reference or "reference", "unit": setting.unit.name, "rate": rate}
    yield ""
    yield setting.title
    yield from aligned(
        tuple(head.format(**values) for head in _HEADS), [_row(cell, setting, settings) for cell in setting.cells]
    )


def _beside(setting: Setting, settings: Settings, width: int) -> Iterator[str]:
    """What a setting has beside its latencies, and why a cell is not compared."""
    for cell in setting.cells:
        if cell.parts and cell.kind != "codec":
            yield from (
                f"  {line}" for line in wrapped(_parts(cell, settings.labels[cell.id], setting.unit), width - 2)
            )
    for heads, rows in beside(setting, settings):
        yield ""
        yield from aligned(heads, rows)
    reasons = {cell.id: why_uncompared(cell, settings.summary) for cell in setting.cells}
    for why in dict.fromkeys(filter(None, reasons.values())):
        labels = [settings.labels[cell.id] for cell in setting.cells if reasons[cell.id] == why]
        names = "" if len(labels) == len(setting.cells) else f" of {', '.join(labels)}"
        yield from (f"  {line}" for line in wrapped(f"no comparison{names}: {why}", width - 2))


def _notes(summary: RunSummary, shown: Sequence[CellSummary], *, is_along: bool, width: int) -> Iterator[str]:
    """What the marks and columns of the tables mean."""
    counted = [cost for cell in shown for cost in cell.costs.values()]
    texts = [
        *(notes_of(tables(summary)) if is_along else _notes_on_settings(shown)),
        *([requester_hosts.NOTE] if any(cell.requester_hosts for cell in shown) else []),
        *([quantities.COSTS] if counted else []),
        *([f"{WHOLE_LIFE}: {quantities.OF_WHOLE_LIFE}."] if any(cost.is_whole_life for cost in counted) else []),
        *([quantities.PRICES] if any("responder_usd" in cell.costs for cell in shown) else []),
    ]
    kinds = {cell.kind for cell in shown}
    text = " ".join(texts)
    yield from wrapped(quantities.of_samples(text, kinds.pop()) if len(kinds) == 1 else text, width)


def _notes_on_settings(shown: Sequence[CellSummary]) -> Iterator[str]:
    intervals = [cell.median_interval for cell in shown]
    if any(map(quantities.is_vague, (*intervals, *(cell.goodput_interval for cell in shown)))):
        yield f"*: {quantities.VAGUE}."
    if any(cell.distribution and {"median", "p99"} & {*cell.distribution.pooled} for cell in shown):
        yield f"{_POOLED}: of all requests pooled."
    if any(
        interval is None or not percentile_text(cell, "p99") for cell, interval in zip(shown, intervals, strict=True)
    ):
        yield _DASH
    if any(interval is not None for interval in intervals):
        yield quantities.INTERVALS
    if any(interval is not None for interval in intervals) and len(shown) > 1:
        yield quantities.RATIOS_AND_MEDIANS
    rated = [cell.kind for cell in shown if cell.throughput_per_s is not None and not cell.stream]
    if rated:
        yield quantities.throughput(rated)


def _parts(cell: CellSummary, label: str, unit: quantities.Unit) -> str:
    """The medians of a sample's parts: `each task with grpc: call 1 0.31, call 2 0.29 ms (medians)`."""
    shown = ", ".join(f"{part.name} {unit.text(part.median)}" for part in cell.parts[: quantities.PARTS_SHOWN])
    more = len(cell.parts) - quantities.PARTS_SHOWN
    return f"each {cell.kind} with {label}, medians in {unit.name}: {shown}{f', and {more} more' if more > 0 else ''}"


def wrapped(text: str, width: int) -> Iterator[str]:
    """A text in lines of so many columns, none of which ends between a number and its unit."""
    for line in textwrap.wrap(quantities.unbroken(text), width, break_long_words=False, break_on_hyphens=False):
        yield line.replace("\u00a0", " ")


def _row(cell: CellSummary, setting: Setting, settings: Settings) -> tuple[str, ...]:
    lost = [quantities.count(cell.failed, "error")] if cell.failed else []
    lost += [f"{cell.not_sent:,} not sent"] if cell.not_sent else []
    lost += ["percentiles of those sent"] if cell.is_of_those_sent else []
    return (
        settings.labels[cell.id],
        _percentile(cell, "median", setting.unit),
        _interval(cell, setting.unit),
        _percentile(cell, "p99", setting.unit),
        "-" if cell.throughput_per_s is None else quantities.rate(cell.throughput_per_s),
        _against(cell, setting, settings) + (f" ({', '.join(lost)})" if lost else ""),
    )


def _percentile(cell: CellSummary, name: str, unit: quantities.Unit) -> str:
    """The number in the column's unit, or a bound (`> 2 s`) where only that is known."""
    value = getattr(cell.distribution, name) if cell.distribution else None
    text = (percentile_text(cell, name) or "-") if value is None else unit.text(value)
    return text + _POOLED * bool(cell.distribution and name in cell.distribution.pooled)


def _interval(cell: CellSummary, unit: quantities.Unit) -> str:
    if cell.median_interval is None:
        return "-"
    return "*" if quantities.is_vague(cell.median_interval) else " to ".join(map(unit.text, cell.median_interval))


def _against(cell: CellSummary, setting: Setting, settings: Settings) -> str:
    """The standing of each comparison, with what it is compared with where that is not the table's reference."""
    if cell.id in settings.invalid:
        return f"invalid: {', '.join(settings.invalid[cell.id])} failed"
    texts = []
    for place, comparison in enumerate(settings.against(cell)):
        name = settings.reference(comparison)
        texts.append(
            standing(comparison) if not place and name == setting.reference else f"{name}: {standing(comparison)}"
        )
    return "; ".join(texts) or ("reference" if settings.is_reference(cell) else "-")


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
