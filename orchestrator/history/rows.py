"""Records as rows of the index, and back."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import RowMapping

from orchestrator.analysis.terms import Interval
from orchestrator.history.record import CellRecord, Evidence, Listed, Note, RunRecord, Seen

_INT64 = (1 << 63) - 1
_INTERVALS = ("median", "p99", "throughput")
_LISTS = ("hosts", "stacks", "placements")
_LISTED = [field.name for field in fields(Listed) if field.name not in (*_LISTS, "is_ours", "tags", "notes")]
_CELL = [
    field.name
    for field in fields(CellRecord)
    if field.name not in ("factors", "failed_checks", "evidence") and not field.name.endswith("_interval")
]


def of_run(record: RunRecord) -> dict[str, Any]:
    """The row of a run, but for where it lies."""
    left_out = ("conditions", "settings", "cells")
    values = {name: _bounded(value) for name, value in vars(record).items() if name not in left_out}
    placements = dict.fromkeys(cell.placement for cell in record.cells)
    stacks = dict.fromkeys(cell.stack_label for cell in record.cells)
    lists = {"hosts": list(record.hosts), "stacks": list(stacks), "placements": list(placements)}
    return {**values, **{name: json.dumps(value) for name, value in lists.items()}}


def of_environment(record: RunRecord) -> dict[str, Any]:
    """The row of what a run was made under."""
    told = {"conditions": record.conditions, "settings": record.settings}
    return {"run": record.id, **{name: json.dumps(value, default=str) for name, value in told.items()}}


def of_cell(run: str, cell: CellRecord) -> dict[str, Any]:
    """The row of a cell."""
    values: dict[str, Any] = {name: _bounded(getattr(cell, name)) for name in _CELL}
    for name in _INTERVALS:
        interval: Interval | None = getattr(cell, f"{name}_interval")
        values[f"{name}_low"], values[f"{name}_high"] = interval or (None, None)
    told = {"factors": cell.factors, "failed_checks": cell.failed_checks, "evidence": asdict(cell.evidence)}
    as_json = {name: json.dumps(value, default=str) for name, value in told.items()}
    return {"run": run, **values, **as_json}


def listed(row: RowMapping, tags: tuple[str, ...], notes: tuple[Note, ...]) -> Listed:
    """A run as a listing shows it."""
    lists: dict[str, Any] = {name: tuple(json.loads(row[name])) for name in _LISTS}
    plain = {name: row[name] for name in _LISTED}
    return Listed(**plain, **lists, is_ours=row["is_ours"], tags=tags, notes=notes)


def seen(row: RowMapping) -> Seen:
    """A cell in one run."""
    return Seen(
        run=row["run"],
        started=row["started"],
        state=row["state"],
        is_ours=row["is_ours"],
        matters=row["matters"],
        conditions=tuple((name, value) for name, value in json.loads(row["conditions"])),
        settings=json.loads(row["settings"]),
        cell=_cell(row),
    )


def _bounded(value: Any) -> Any:
    """A whole number that has room: what a folder from elsewhere says may be any."""
    return max(-_INT64, min(_INT64, value)) if type(value) is int else value


def _cell(row: RowMapping) -> CellRecord:
    told = json.loads(row["evidence"])
    evidence = Evidence(
        means={name: (int(n), mean, se) for name, (n, mean, se) in told["means"].items()},
        above_ping=told["above_ping"],
        floors={kind: tuple(readings) for kind, readings in told["floors"].items()},
        noise=told["noise"],
    )
    bounds: dict[str, Any] = {
        f"{name}_interval": None if row[f"{name}_low"] is None else (row[f"{name}_low"], row[f"{name}_high"])
        for name in _INTERVALS
    }
    plain = {name: row[name] for name in _CELL}
    failed = tuple(json.loads(row["failed_checks"]))
    return CellRecord(**plain, **bounds, factors=json.loads(row["factors"]), failed_checks=failed, evidence=evidence)
