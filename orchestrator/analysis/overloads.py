"""Stacks that did not carry the planned rate: the finding, taken from the checks, and the one place that words it."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.check_result import CheckResult, Overloaded
from orchestrator.analysis.summary import CellSummary

_MOST_STACKS, _MOST_RATES = 3, 3
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


def clause(found: Sequence[Overloaded]) -> str:
    """Return `graphqlws does not keep up with 5,000 events/s here (3,650 delivered)`, a clause for each of a few stacks."""
    by_stack: dict[str, list[Overloaded]] = {}
    for cell in found:
        by_stack.setdefault(cell.stack_label, []).append(cell)
    if len(by_stack) > _MOST_STACKS:
        return f"{len(by_stack)} stacks do not keep up with {_rates(found)}"
    return "; ".join(f"{label} does not keep up with {_rates(cells)}" for label, cells in by_stack.items())


def _rates(found: Sequence[Overloaded]) -> str:
    """The planned rates, and what was delivered of a single one."""
    rates = sorted({cell.overload.planned_per_s for cell in found})
    unit = found[0].unit
    if len(found) == 1 and (delivered := found[0].overload.delivered_per_s) is not None:
        return f"{words.rate(rates[0])} {unit} here ({words.rate(delivered)} delivered)"
    if len(rates) > _MOST_RATES:
        return f"{words.rate(rates[0])} to {words.rate(rates[-1])} {unit} here"
    return f"{words.listed([words.rate(rate) for rate in rates])} {unit} here"
