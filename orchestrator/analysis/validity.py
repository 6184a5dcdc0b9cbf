"""Which cells' numbers are invalid, by the checks that failed: a failed cell does not invalidate the others.

A failed check of severity `note` invalidates nothing; one of the whole run (no cell) invalidates every cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.summary import CellSummary, Comparison
from orchestrator.analysis.terms import Reason, ReasonKind


def invalid_cells(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> dict[str, tuple[str, ...]]:
    """The names of the checks that failed, by id of the cell that they invalidate, in the order of the cells."""
    found = {cell.id: failed_in(cell.id, checks) for cell in cells}
    return {cell: names for cell, names in found.items() if names}


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
    return replace(
        comparison,
        standing="cannot tell",
        reason=Reason(
            kind=ReasonKind.INVALID,
            cells=cells,
            names=tuple(dict.fromkeys(name for cell in cells for name in invalid[cell])),
        ),
        ratio=None,
        interval=None,
        p_value=None,
        by_block=(),
        blocks=(),
    )


def is_everywhere(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> bool:
    """Whether every cell that was measured is invalid."""
    return bool(invalid) and len(invalid) >= sum(1 for cell in cells if cell.distribution or cell.id in invalid)
