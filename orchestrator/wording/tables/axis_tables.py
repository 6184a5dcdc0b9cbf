"""The tables of a run along an axis: one for each operation, the stacks as rows, the values of the axis as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator import quantities
from orchestrator.findings.block_values import value_of
from orchestrator.findings.grid import Panel, Place, Sweep, sweep
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.quantities import Unit
from orchestrator.statistics.terms import Interval
from orchestrator.wording.phrasing import change, percentile_text, ratio_span
from orchestrator.wording.tables import axis_names
from orchestrator.wording.tables.settings import Settings
from orchestrator.wording.tables.table import Column, Entry, Row, Table

_CELLS = "A cell holds the {}; below it the difference to the reference with the 95 % interval, else its own interval."
_TRIPS = "RTT: how many of the column's round trips, as ping measured them, the median takes."
_FEW = "Fewer than three blocks give no interval."
_VAGUE = f"*: {quantities.VAGUE}."


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """A table for each operation that has several values of the axis, and for each value of further axes."""
    along = sweep(summary)
    if along is None:
        return ()
    settings = Settings(summary)
    return tuple(_table(along, panel, settings) for panel in along.panels if len(panel.places) > 1)


def cells_of(summary: RunSummary) -> frozenset[str]:
    """Return the ids of the cells in these tables."""
    along = sweep(summary)
    panels = [panel for panel in along.panels if len(panel.places) > 1] if along else []
    return frozenset(cell.id for panel in panels for line in panel.lines for cell in line.cells if cell is not None)


def _table(along: Sweep, panel: Panel, settings: Settings) -> Table:
    cells = [cell for line in panel.lines for cell in line.cells if cell is not None]
    unit = axis_names.unit(along, settings.metric)
    return Table(
        title=axis_names.title(panel),
        unit=unit.name,
        columns=tuple(
            Column(
                head=axis_names.head(along, panel, place),
                detail=f"{quantities.ms(place.rtt)} round trip" if place.rtt else "",
            )
            for place in panel.places
        ),
        rows=(*_stacks(panel, unit, settings), *(() if settings.metric == "throughput" else _floors(panel, unit))),
        notes=tuple(_notes(panel, cells, settings.metric)),
    )


def _stacks(panel: Panel, unit: Unit, settings: Settings) -> Iterator[Row]:
    for line in panel.lines:
        yield Row(
            label=line.first.labels.stack,
            detail=axis_names.detail(panel, line),
            kind="stack",
            series=line.stack,
            entries=tuple(
                _of_cell(cell, place, unit, settings) for cell, place in zip(line.cells, panel.places, strict=True)
            ),
        )


def _of_cell(cell: CellSummary | None, place: Place, unit: Unit, settings: Settings) -> Entry:
    if cell is None:
        return Entry(text="")
    flags = (*(["invalid"] if cell.id in settings.invalid else []),)
    flags += (quantities.count(cell.counts.failed, "error"),) if cell.counts.failed else ()
    flags += (f"{cell.counts.not_sent:,} not sent",) if cell.counts.not_sent else ()
    value = value_of(cell, settings.metric)
    if value is None:
        return Entry(text=percentile_text(cell, settings.metric) or "-", flags=flags)
    is_median = settings.metric == "median"
    comparison = next((c for c in settings.against(cell) if c.ratio is not None and not c.control), None)
    detail = _interval(cell.median_interval, unit) if cell.median_interval and is_median else ""
    if comparison is not None and comparison.measured_ratio is not None:
        detail = f"{change(comparison.measured_ratio)} ({ratio_span(comparison.measured_interval, 'no interval')})"
    if settings.metric == "throughput":
        return Entry(text=quantities.rate(value), detail=detail, value=value, flags=flags)
    return _entry(value, detail, place.rtt if is_median else None, unit, flags)


def _entry(median: float, detail: str, rtt: float | None, unit: Unit, flags: tuple[str, ...] = ()) -> Entry:
    details = [*filter(None, (detail,)), *([f"{quantities.number(median / rtt, 1)} RTT"] if rtt else [])]
    return Entry(text=_number(median, unit), detail=", ".join(details), value=median, flags=flags)


def _interval(interval: Interval, unit: Unit) -> str:
    return "*" if quantities.is_vague(interval) else " to ".join(_number(bound, unit) for bound in interval)


def _number(milliseconds: float, unit: Unit) -> str:
    return quantities.digits(milliseconds * unit.per_ms)


def _floors(panel: Panel, unit: Unit) -> Iterator[Row]:
    several = len({line.policy for line in panel.floors if line.policy}) > 1
    for line in panel.floors:
        policy = f", {axis_names.connection(line.policy)}" if line.policy and several else ""
        yield Row(
            label=line.kind,
            detail=f"floor{policy}",
            kind="floor",
            series=line.kind,
            entries=tuple(
                _of_floor(floor, place, unit) for floor, place in zip(line.floors, panel.places, strict=True)
            ),
        )


def _of_floor(floor: FloorSummary | None, place: Place, unit: Unit) -> Entry:
    if floor is None or floor.distribution is None or floor.distribution.median is None:
        return Entry(text="")
    return _entry(floor.distribution.median, "", place.rtt if floor.kind == "tcp" else None, unit)


def _notes(panel: Panel, cells: Sequence[CellSummary], metric: str) -> Iterator[str]:
    yield _CELLS.format(metric)
    if metric == "median" and any(place.rtt for place in panel.places):
        yield _TRIPS
    if any(quantities.is_vague(cell.median_interval) for cell in cells):
        yield _VAGUE
    if all(cell.median_interval is None for cell in cells):
        yield _FEW
