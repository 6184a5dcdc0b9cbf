"""The tables of a run along an axis: one for each operation, the stacks as rows, the values of the axis as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator import quantities
from orchestrator.findings.grid import Panel, Place, Sweep, sweep
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.findings.validity import invalid_cells
from orchestrator.quantities import Unit
from orchestrator.statistics.terms import Interval
from orchestrator.wording import axis_names
from orchestrator.wording.phrasing import percentile_text
from orchestrator.wording.table import Column, Entry, Row, Table

_CELLS = "A cell holds the median and its 95 % interval."
_TRIPS = "RTT: how many of the column's round trips, as ping measured them, the median takes."
_FEW = "Fewer than three blocks give no interval."
_VAGUE = f"*: {quantities.VAGUE}."


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """A table for each operation, and for each value of further axes; empty of a run without an axis."""
    along = sweep(summary)
    if along is None:
        return ()
    invalid = invalid_cells(summary.cells, summary.checks)
    return tuple(_table(along, panel, invalid) for panel in along.panels)


def _table(along: Sweep, panel: Panel, invalid: Mapping[str, Sequence[str]]) -> Table:
    cells = [cell for line in panel.lines for cell in line.cells if cell is not None]
    unit = axis_names.unit(along)
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
        rows=(*_stacks(panel, unit, invalid), *_floors(panel, unit)),
        notes=tuple(_notes(panel, cells)),
    )


def _stacks(panel: Panel, unit: Unit, invalid: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    for line in panel.lines:
        yield Row(
            label=line.first.stack_label,
            detail=axis_names.detail(panel, line),
            kind="stack",
            series=line.stack,
            entries=tuple(
                _of_cell(cell, place, unit, is_invalid=cell is not None and cell.id in invalid)
                for cell, place in zip(line.cells, panel.places, strict=True)
            ),
        )


def _of_cell(cell: CellSummary | None, place: Place, unit: Unit, *, is_invalid: bool) -> Entry:
    if cell is None:
        return Entry(text="")
    flags = (*(["invalid"] if is_invalid else []), *([quantities.count(cell.failed, "error")] if cell.failed else []))
    flags += (f"{cell.not_sent:,} not sent",) if cell.not_sent else ()
    median = cell.distribution.median if cell.distribution else None
    if median is None:
        return Entry(text=percentile_text(cell, "median") or "-", flags=flags)
    return _entry(median, cell.median_interval, place.rtt, unit, flags)


def _entry(
    median: float, interval: Interval | None, rtt: float | None, unit: Unit, flags: tuple[str, ...] = ()
) -> Entry:
    details = [_interval(interval, unit)] if interval else []
    details += [f"{quantities.number(median / rtt, 1)} RTT"] if rtt else []
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
    return _entry(floor.distribution.median, None, place.rtt if floor.kind == "tcp" else None, unit)


def _notes(panel: Panel, cells: Sequence[CellSummary]) -> Iterator[str]:
    yield _CELLS
    if any(place.rtt for place in panel.places):
        yield _TRIPS
    if any(quantities.is_vague(cell.median_interval) for cell in cells):
        yield _VAGUE
    if all(cell.median_interval is None for cell in cells):
        yield _FEW
