"""Stacks that did not carry the planned rate, taken from the checks."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis.check_result import CheckResult, Overloaded
from orchestrator.analysis.summary import CellSummary

_UNITS = {"stream": "events/s", "task": "tasks/s"}  # everything else is requests


def overloads(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> tuple[Overloaded, ...]:
    """Return the overloaded cells in the order of the cells."""
    failures: dict[str | None, list[CheckResult]] = {}
    for check in checks:
        if check.verdict == "fail" and check.severity != "note":
            failures.setdefault(check.cell, []).append(check)
    if None in failures:
        return ()
    return tuple(
        Overloaded(
            cell=cell.id,
            stack_label=cell.stack_label,
            unit=_UNITS.get(cell.kind, "requests/s"),
            overload=min(known, key=lambda overload: overload.delivered_per_s is None),
        )
        for cell in cells
        if (known := [check.overload for check in failures.get(cell.id, ()) if check.overload])
        and len(known) == len(failures[cell.id])
    )
