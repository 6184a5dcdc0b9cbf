"""Which cells' numbers are invalid, by the checks that failed: a failed cell does not invalidate the others.

A failed check of severity `note` invalidates nothing; one of the whole run (no cell) invalidates every cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.summary import CellSummary, Comparison

_MOST_NAMED = 3


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
    sides = (comparison.cell, comparison.stack_label), (comparison.reference_cell, comparison.reference_label)
    why = [f"{label} failed {', '.join(invalid[cell])}" for cell, label in sides if cell in invalid]
    if not why or comparison.ratio is None:
        return comparison  # where there is no ratio, its own reason is nearer
    return replace(
        comparison,
        standing="cannot tell",
        why="; ".join(why),
        ratio=None,
        interval=None,
        p_value=None,
        by_block=(),
        blocks=(),
    )


def is_everywhere(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> bool:
    """Whether every cell that was measured is invalid."""
    return bool(invalid) and len(invalid) >= len(_measured(cells, invalid))


def _measured(cells: Sequence[CellSummary], invalid: Mapping[str, Sequence[str]]) -> list[CellSummary]:
    return [cell for cell in cells if cell.distribution or cell.id in invalid]


def sentence(cells: Sequence[CellSummary], checks: Sequence[CheckResult]) -> str:
    """What failed checks mean for the numbers; nothing where none failed.

    Which cells are invalid is said only where others stand: their stacks, settings and the check that each failed.
    """
    invalid = invalid_cells(cells, checks)
    names = ", ".join(dict.fromkeys(check.name for check in checks if check.verdict == "fail"))
    if not names:
        return ""
    measured = _measured(cells, invalid)
    if not invalid or is_everywhere(cells, invalid):
        return f"These numbers are invalid: {names} failed (see the checks)."
    which = [f"{_name(cell)} ({', '.join(invalid[cell.id])} failed)" for cell in cells if cell.id in invalid]
    more = [f"and {len(which) - _MOST_NAMED} more"] if len(which) > _MOST_NAMED else []
    return (
        f"The numbers of {len(invalid)} of {len(measured)} cells are invalid: "
        f"{'; '.join(which[:_MOST_NAMED] + more)}. The other cells are valid."
    )


def _name(cell: CellSummary) -> str:
    return f"{cell.stack_label}, {cell.setting}"
