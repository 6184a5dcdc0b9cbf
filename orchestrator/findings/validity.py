"""Which cells' numbers are invalid, by the checks that failed: a failed cell does not invalidate the others.

A failed check of severity `note` invalidates nothing; one of the whole run (no cell) invalidates every cell.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.statistics.terms import ReasonKind, because


def invalid_cells(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> dict[str, tuple[str, ...]]:
    """The names of the checks that failed, by id of the cell that they invalidate, in the order of the cells."""
    failed = {cell.id: failed_in(cell.id, checks) for cell in cells}
    return {cell: names for cell, names in failed.items() if names}


def failed_in(cell: str, checks: Sequence[CheckResult]) -> tuple[str, ...]:
    """The names of the checks that invalidate one cell, by its id."""
    failed = (c for c in checks if c.verdict == "fail" and c.severity != "note" and c.cell in (None, cell))
    return tuple(dict.fromkeys(check.name for check in failed))


def withhold(comparisons: Sequence[Comparison], invalid: Mapping[str, Sequence[str]]) -> tuple[Comparison, ...]:
    """The comparisons; where one of the two cells is invalid, undecided and without a ratio."""
    return tuple(_withheld(comparison, invalid) for comparison in comparisons)


def _withheld(comparison: Comparison, invalid: Mapping[str, Sequence[str]]) -> Comparison:
    cells = tuple(cell for cell in (comparison.cell, comparison.reference_cell) if cell in invalid)
    if not cells or comparison.ratio is None:
        return comparison  # where there is no ratio, its own reason is nearer
    names = dict.fromkeys(name for cell in cells for name in invalid[cell])
    return replace(
        comparison,
        standing="cannot tell",
        reason=because(ReasonKind.INVALID, *names, cells=cells),
        ratio=None,
        interval=None,
        p_value=None,
        by_block=(),
        blocks=(),
    )


def is_everywhere(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> bool:
    """Return whether every measured cell is invalid."""
    return bool(invalid) and len(invalid) >= sum(1 for cell in cells if cell.distribution or cell.id in invalid)


LIMITS: Mapping[str, float] = {
    "steal": 0.05,  # CPUs that the hypervisor took
    "foreign": 0.25,  # CPUs that other programs used
    "throttled": 0.05,  # share of the time that a CPU quota stopped it
    "pressure": 0.20,  # share of the time that something waited for a CPU
}
"""From where on a counter may be why blocks differ."""


@dataclass(frozen=True)
class Disturbance:
    """A counter above its limit, by its name, and the most that it was: CPUs, or a share of the time; or `shared`."""

    kind: str
    most: float = 0.0


def disturbances(summary: RunSummary, compared: Container[str | None]) -> tuple[Disturbance, ...]:
    """Return what was loud in a third of the trials of a compared cell: a single trial makes no interval wide."""
    seen = [check.evidence for check in summary.checks if check.name == "noise" and check.cell in compared]
    loud = [Disturbance("shared")] if summary.run.shares_machine else []
    for kind, limit in LIMITS.items():
        often = [evidence for evidence in seen if evidence.get("in_a_third", {}).get(kind, 0.0) > limit]
        most = max((evidence.get(kind) or 0.0 for evidence in often), default=0.0)
        loud += [Disturbance(kind, most)] if most > limit else []
    return tuple(loud)
