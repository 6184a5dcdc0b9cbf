"""Cells of one setting by what they carry: latency, verified content a second and bytes on the wire, by size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, of_load, phrases
from orchestrator.findings.summary import CellSummary
from orchestrator.statistics.terms import Interval

FEWEST_SIZES = 3  # different ones: fewer are read off the tables of each


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Of one cell: its median (None: none that is known), verified content a second, bytes on the wire of a request."""

    cell: str
    median_ms: float | None
    goodput_mb_per_s: float | None
    goodput_interval: Interval | None
    wire_bytes: tuple[float, float] | None  # sent, received


@dataclass(frozen=True, kw_only=True)
class SizeRow:
    """What one operation carries, and each stack's figures in the order of `BySize.stacks`; None where it has no cell."""

    operation: str
    request_bytes: int
    reply_bytes: int
    cells: tuple[Figures | None, ...]


@dataclass(frozen=True, kw_only=True)
class BySize:
    """The cells of one placement, number of requests in flight or rate, and way of calling; rows as the plan has them.

    `stacks` are ids, `labels` what to call them.
    """

    setting: str
    stacks: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[SizeRow, ...]

    @property
    def has_vague(self) -> bool:
        """Whether some interval of goodput is too wide to be shown."""
        return any(quantities.is_vague(cell.goodput_interval) for row in self.rows for cell in row.cells if cell)


def by_size(cells: Iterable[CellSummary]) -> tuple[BySize, ...]:
    """A table for each setting in which some stack was asked with three sizes or more."""
    settings: dict[tuple[str, ...], list[CellSummary]] = {}
    for cell in cells:
        if cell.payload_bytes is not None:
            settings.setdefault(_setting(cell), []).append(cell)
    return tuple(
        _table(" · ".join(setting), found)
        for setting, found in settings.items()
        if len({cell.payload_bytes for cell in found}) >= FEWEST_SIZES
    )


def _setting(cell: CellSummary) -> tuple[str, ...]:
    """What its cells have in common: not the operation, nor how many requests it is asked with."""
    rate = cell.factors.get("rate")
    offered = [] if rate is None else [BY_NAME["rate"].text(rate)]
    flight = "" if cell.kind == "codec" else BY_NAME["concurrency"].text(cell.factors.get("concurrency"))
    kind = quantities.OF_KIND[cell.kind][1] if cell.kind != "call" else ""
    calls = cell.factors.get("calls")
    tasks = f"tasks of {calls} calls" if cell.kind == "task" else kind
    load = (*offered, flight, *of_load(cell.factors))
    return tuple(filter(None, (cell.placement, *phrases(cell.factors), *load, tasks)))


def _table(setting: str, cells: list[CellSummary]) -> BySize:
    stacks = {cell.stack: cell.stack_label for cell in cells}
    operations: dict[str, dict[str, CellSummary]] = {}
    for cell in cells:
        operations.setdefault(cell.operation_id, {})[cell.stack] = cell
    return BySize(
        setting=setting,
        stacks=tuple(stacks),
        labels=tuple(stacks.values()),
        rows=tuple(_row(of, stacks) for of in operations.values()),
    )


def _row(of: dict[str, CellSummary], stacks: Iterable[str]) -> SizeRow:
    first = next(iter(of.values()))
    request_bytes, reply_bytes = first.payload_bytes or (0, 0)
    return SizeRow(
        operation=first.operation,
        request_bytes=request_bytes,
        reply_bytes=reply_bytes,
        cells=tuple(_figures(of[stack]) if stack in of else None for stack in stacks),
    )


def _figures(cell: CellSummary) -> Figures:
    return Figures(
        cell=cell.id,
        median_ms=cell.distribution.median if cell.distribution else None,
        goodput_mb_per_s=cell.goodput_mb_per_s,
        goodput_interval=cell.goodput_interval,
        wire_bytes=cell.wire_bytes,
    )
