"""The tables of a result: one for each setting, its rows the stacks from the fastest on, the floor last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.questions.capacity import words as capacity_words
from orchestrator.wording.phrasing import WIDER, change, percentile_text, ratio_span
from orchestrator.wording.tables import axis_names, axis_tables
from orchestrator.wording.tables.settings import Setting, Settings
from orchestrator.wording.tables.table import Column, Entry, Row, Table

_LONGEST = 20  # name of a reference in a head
_POOLED = "p99 is of all requests together where one repeat has too few."
_PAIRED = "Differences are paired by block, so they are not the ratio of the medians shown."
_VISIBLE = 0.01  # how far such a difference is from that ratio before the table says so
_TOO_FEW = "p99 needs 1,000 {}s or more."


def tables(summary: RunSummary, *, mark: str = "", is_full: bool = False) -> tuple[Table, ...]:
    """Return the tables along an axis, those of found rates, or one for each setting.

    `mark` stands in every title. `is_full` adds the interval of the median, throughput and errors.
    """
    every = capacity_words.tables(summary)
    if not every:
        settings, along = Settings(summary), axis_tables.cells_of(summary)
        rest = [setting for setting in settings.every if not along.issuperset(cell.id for cell in setting.cells)]
        every = (*axis_tables.tables(summary), *(_table(setting, settings, is_full=is_full) for setting in rest))
    return tuple(replace(table, title=f"{mark}: {table.title}") if mark else table for table in every)


def _table(setting: Setting, settings: Settings, *, is_full: bool) -> Table:
    unit = setting.unit
    name = setting.reference
    against = f"vs {name if len(name) <= _LONGEST else 'reference'}" if name else "difference"
    metric = settings.metric
    columns = [
        Column(head="server ← client", is_text=True),
        Column(head=f"median, {unit.name}"),
        Column(head=against if metric == "median" else f"{metric} {against}"),
        *([] if setting.reference else [Column(head="against", is_text=True)]),
        Column(head="95 % interval"),
        Column(head=f"p99, {unit.name}"),
    ]
    if is_full:
        columns.append(Column(head=f"median's 95 % interval, {unit.name}"))
    if is_full or metric == "throughput":
        columns.append(Column(head=quantities.per_second(cell.kind for cell in setting.cells)))
    if is_full:
        columns.append(Column(head="errors"))
    return Table(
        title=setting.title,
        columns=tuple(columns),
        rows=(
            *(_row(cell, setting, settings, is_full=is_full) for cell in setting.cells),
            *(_floor(floor, setting, columns) for floor in floors_beside(settings.summary, setting.cells)),
        ),
        notes=tuple(_notes(setting, settings)),
    )


def _row(cell: CellSummary, setting: Setting, settings: Settings, *, is_full: bool) -> Row:
    failed = settings.invalid.get(cell.id, ())
    difference, interval = _difference(cell, settings)
    entries = [
        Entry(text=axis_names.ends(cell)),
        _latency(cell, "median", setting),
        difference,
        *([] if setting.reference else [Entry(text=_against(cell, settings))]),
        interval,
        _latency(cell, "p99", setting),
    ]
    if is_full:
        entries.append(Entry(text=_interval(cell, setting)))
    if is_full or settings.metric == "throughput":
        rate = cell.throughput_per_s
        entries.append(Entry(text="-" if rate is None else quantities.rate(rate), value=rate))
    if is_full:
        entries.append(Entry(text=f"{cell.counts.failed:,}", value=cell.counts.failed))
    details = [f"invalid: {', '.join(failed)} failed"] if failed else []
    details += [quantities.count(cell.counts.failed, "error")] if cell.counts.failed and not is_full else []
    details += [f"{cell.counts.not_sent:,} not sent"] if cell.counts.not_sent else []
    return Row(label=settings.labels[cell.id], detail=", ".join(details), series=cell.stack, entries=tuple(entries))


def _latency(cell: CellSummary, name: str, setting: Setting) -> Entry:
    value = getattr(cell.distribution, name) if cell.distribution else None
    return Entry(text=(percentile_text(cell, name) or "-") if value is None else setting.unit.text(value), value=value)


def _interval(cell: CellSummary, setting: Setting) -> str:
    bounds = cell.median_interval
    if bounds is None:
        return "-"
    return WIDER if quantities.is_vague(bounds) else " to ".join(map(setting.unit.text, bounds))


def _difference(cell: CellSummary, settings: Settings) -> tuple[Entry, Entry]:
    comparisons = settings.against(cell)
    if cell.id in settings.invalid or not comparisons:
        is_reference = cell.id not in settings.invalid and settings.is_reference(cell)
        return Entry(text="reference" if is_reference else "-"), Entry(text="-")
    comparison = comparisons[0]
    ratio = comparison.measured_ratio
    if ratio is None:
        return Entry(text="insufficient data"), Entry(text="-")
    return Entry(text=change(ratio), value=ratio - 1), Entry(text=ratio_span(comparison.measured_interval))


def _against(cell: CellSummary, settings: Settings) -> str:
    """What the difference is to: a stack, or a factor's value."""
    comparison = next(iter(settings.against(cell)), None)
    return comparison.compared_with if comparison else ""


def floors_beside(summary: RunSummary, cells: Sequence[CellSummary]) -> Iterator[FloorSummary]:
    """Return the tcp floors beside these cells; ping where there is none."""
    ids, placements = {cell.id for cell in cells}, {cell.placement for cell in cells}
    beside = [
        floor
        for floor in summary.floors
        if floor.placement_id in placements
        and floor.distribution
        and (not floor.cells or ids.intersection(floor.cells))
    ]
    yield from [floor for floor in beside if floor.kind == "tcp"] or beside


def _floor(floor: FloorSummary, setting: Setting, columns: Sequence[Column]) -> Row:
    entries = {}
    for name in ("median", "p99"):
        value = getattr(floor.distribution, name) if floor.distribution else None
        text = "" if value is None else setting.unit.text(value)
        entries[f"{name}, {setting.unit.name}"] = Entry(text=text, value=value)
    policy = f", {axis_names.connection(floor.policy)}" if floor.kind == "tcp" and floor.policy != "reuse" else ""
    sizes = (
        f"{quantities.size(floor.send_bytes)} out, {quantities.size(floor.receive_bytes)} back"
        if floor.send_bytes
        else ""
    )
    return Row(
        label=f"{floor.kind} floor{policy}",
        kind="floor",
        series=floor.kind,
        entries=(Entry(text=sizes), *(entries.get(column.head, Entry(text="")) for column in columns[1:])),
    )


def _notes(setting: Setting, settings: Settings) -> Iterator[str]:
    cells = setting.cells
    medians = {cell.id: cell.distribution.median for cell in cells if cell.distribution and cell.distribution.median}
    compared = [c for cell in cells for c in settings.against(cell)[:1] if c.statistic == "median" and c.ratio]
    known = [c for c in compared if {c.cell, c.reference_cell} <= medians.keys()]
    if any(abs(c.ratio * medians[c.reference_cell] / medians[c.cell] - 1) > _VISIBLE for c in known if c.ratio):
        yield _PAIRED
    if any(cell.distribution and "p99" in cell.distribution.pooled for cell in cells):
        yield _POOLED
    if any(cell.distribution and cell.distribution.n and not percentile_text(cell, "p99") for cell in cells):
        yield _TOO_FEW.format(quantities.OF_SAMPLE[cells[0].kind])
