"""The table of the first part: what an answer needs, in so few rows that it stays on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis.summary import CellSummary
from orchestrator.report.groups import Group

MOST_ROWS = 24
_MOST_COLUMNS = 7


@dataclass(frozen=True, kw_only=True)
class Row:
    """A setting of the matrix: what each stack came to in it, None where it was not measured."""

    group: Group
    cells: tuple[CellSummary | None, ...]


@dataclass(frozen=True, kw_only=True)
class Short:
    """Groups with a row for each cell; or, of many settings, a row for each, and a column for each stack."""

    listed: tuple[Group, ...] = ()
    has_floors: bool = False
    stacks: tuple[tuple[str, str], ...] = ()  # look, label
    rows: tuple[Row, ...] = ()
    left_out: int = 0  # settings that stand in the details alone

    @property
    def unit(self) -> str:
        """The unit of every latency in it, where all have the same; else empty."""
        names = {group.unit.name for group in self.listed}
        return names.pop() if len(names) == 1 else ""


def short(found: Sequence[Group]) -> Short:
    """Whatever fits: all cells with their floors, all cells, a matrix of settings, or the first settings."""
    cells, floors = sum(len(group.cells) for group in found), sum(len(group.floors) for group in found)
    heads = len(found) if len(found) > 1 else 0
    if cells + heads <= MOST_ROWS:
        return Short(listed=tuple(found), has_floors=cells + heads + floors <= MOST_ROWS)
    stacks = {cell.stack: cell.stack_label for group in found for cell in group.cells}
    if len(found) > 1 and 1 < len(stacks) <= _MOST_COLUMNS:
        rows = tuple(
            Row(group=group, cells=tuple(_of(group, stack) for stack in stacks)) for group in found[:MOST_ROWS]
        )
        return Short(stacks=tuple(stacks.items()), rows=rows, left_out=len(found) - len(rows))
    fitting: list[Group] = []
    for group in found:
        if fitting and sum(len(each.cells) + 1 for each in (*fitting, group)) > MOST_ROWS:
            break
        fitting.append(group)
    return Short(listed=tuple(fitting), left_out=len(found) - len(fitting))


def _of(group: Group, stack: str) -> CellSummary | None:
    return next((cell for cell in group.cells if cell.stack == stack), None)
