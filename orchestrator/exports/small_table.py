"""The few columns of a run's cells that people read in a document: for Markdown, and for a page of several runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.experiment.model.factors import FACTORS, OF_THE_LOAD
from orchestrator.exports.cell_columns import BETWEEN
from orchestrator.exports.findings import JudgedRun
from orchestrator.exports.typed_table import Value
from orchestrator.findings.summary import CellSummary
from orchestrator.quantities import Unit

_DASH = "–"
# Factors that a stack's label, the operation's, the placement's name or the load in words say already.
_SAID = {
    *("protocol", "responder", "client", "operation", "payload", "placement"),
    *("bytes", "reply_bytes", "records", "per_second", "schema_change"),
    *(factor.name for factor in OF_THE_LOAD),
}


@dataclass(frozen=True, kw_only=True)
class SmallTable:
    """Heads, and rows of as many texts; `figures` says which columns hold numbers. `notes` are sentences to stand below."""

    heads: tuple[str, ...]
    figures: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Line:
    run: str
    cell: CellSummary
    row: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class _Shown:
    head: str
    text: Callable[[_Line], str]
    is_figure: bool = True


def small_table(runs: Sequence[JudgedRun]) -> SmallTable:
    """A row for each cell of each run; latencies in one unit, and of the factors those that differ."""
    lines = [
        _Line(run=run.summary.run_id, cell=cell, row=row)
        for run in runs
        for cell, row in zip(run.summary.cells, run.cells(), strict=True)
    ]
    of = [line.cell.distribution for line in lines]
    unit = quantities.unit_for(d.median for d in of if d is not None and d.median is not None)
    rate = quantities.per_second(line.cell.kind for line in lines)
    shown = [
        *_settings(lines, has_runs=len(runs) > 1),
        *_figures(unit, rate),
        _Shown(head="valid", text=_valid, is_figure=False),
    ]
    return SmallTable(
        heads=tuple(column.head for column in shown),
        figures=tuple(column.is_figure for column in shown),
        rows=tuple(tuple(column.text(line) for column in shown) for line in lines),
        notes=tuple(_notes(lines)),
    )


def _settings(lines: Sequence[_Line], *, has_runs: bool) -> list[_Shown]:
    """What is measured: the stack, what it is asked and where, and every factor in which cells differ."""
    found = [_Shown(head="run", text=lambda line: line.run, is_figure=False)] if has_runs else []
    found += [
        _Shown(head="stack", text=lambda line: line.cell.stack_label, is_figure=False),
        _Shown(head="operation", text=lambda line: line.cell.operation, is_figure=False),
        _Shown(head="placement", text=lambda line: line.cell.placement, is_figure=False),
    ]
    if any(line.row["emulated_rtt_ms"] is not None for line in lines):
        found.append(_Shown(head="emulated round trip, ms", text=_of_row("emulated_rtt_ms")))
    for factor in FACTORS:
        if factor.name not in _SAID and len({line.row[factor.name] for line in lines}) > 1:
            found.append(_Shown(head=factor.title, text=_of_row(factor.name), is_figure=False))
    return [*found, _Shown(head="load", text=lambda line: line.cell.load, is_figure=False)]


def _figures(unit: Unit, rate: str) -> list[_Shown]:
    def latency(name: str) -> Callable[[_Line], str]:
        return lambda line: _latency(line.cell, name, unit)

    return [
        _Shown(head="requests", text=lambda line: quantities.number(line.cell.requests)),
        _Shown(head="errors", text=lambda line: quantities.number(line.cell.failed)),
        _Shown(head=f"median, {unit.name}", text=latency("median")),
        _Shown(head=f"95 % interval, {unit.name}", text=lambda line: _interval(line.cell, unit)),
        _Shown(head=f"p99, {unit.name}", text=latency("p99")),
        _Shown(head=rate, text=lambda line: _optional(line.cell.throughput_per_s, quantities.rate)),
        _Shown(head="responder CPU, s per 1,000", text=_cpu),
        _Shown(head=f"tcp floor, {unit.name}", text=lambda line: _optional(line.cell.tcp_floor, unit.text)),
    ]


def _of_row(name: str) -> Callable[[_Line], str]:
    return lambda line: _DASH if line.row[name] is None else str(line.row[name])


def _optional(value: float | None, text: Callable[[float], str]) -> str:
    return _DASH if value is None else text(value)


def _latency(cell: CellSummary, name: str, unit: Unit) -> str:
    of = cell.distribution
    if of is None:
        return _DASH
    if name in of.censored:
        return quantities.no_right_reply(of.limit, of.ended)
    return _optional(getattr(of, name), unit.text)


def _interval(cell: CellSummary, unit: Unit) -> str:
    of = cell.median_interval
    if of is None:
        return _DASH
    return quantities.VAGUE if quantities.is_vague(of) else f"{unit.text(of[0])} to {unit.text(of[1])}"


def _cpu(line: _Line) -> str:
    cost = line.cell.costs.get("responder_cpu")
    return _DASH if cost is None else f"{quantities.significant(cost.value, 3):g}"


def _valid(line: _Line) -> str:
    return "yes" if line.row["valid"] else f"NO: {line.row['failed_checks']}".replace(BETWEEN, ", ")


def _notes(lines: Sequence[_Line]) -> list[str]:
    kinds = [line.cell.kind for line in lines]
    notes = [quantities.INTERVALS] if any(line.cell.median_interval for line in lines) else []
    notes += [quantities.throughput(kinds)] if any(line.cell.throughput_per_s for line in lines) else []
    timed = {line.cell.stream.timed for line in lines if line.cell.stream}
    notes += [f"Latencies of streams are those of an event's {how}." for how in sorted(timed)]
    return notes
