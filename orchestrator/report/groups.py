"""The settings of a run as the pictures show them: each with its floors, its comparisons, and the colours of its stacks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.summary import CellSummary, Comparison, FloorSummary, RunSummary
from orchestrator.quantities import Unit
from orchestrator.report import palette
from orchestrator.wording.tables.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Group:
    """One setting and its pictures; its cells have the stacks and labels that they have in tables.

    `title` is the setting's name, `caption` has its load, too. `metric` is what the result is about, `references` are the
    ids of the cells that any is compared with.
    """

    slug: str
    title: str
    caption: str
    cells: tuple[CellSummary, ...]
    floors: tuple[FloorSummary, ...]
    comparisons: tuple[Comparison, ...]
    unit: Unit
    metric: str = "median"
    references: frozenset[str] = frozenset()

    @property
    def measured(self) -> tuple[CellSummary, ...]:
        """The cells that have at least one good sample."""
        return tuple(cell for cell in self.cells if cell.distribution is not None)

    def against_reference(self, cell: CellSummary, statistic: str = "median") -> Comparison | None:
        """The comparison of this cell by a statistic, if there is one."""
        return next((c for c in self.comparisons if c.cell == cell.id and c.statistic == statistic), None)


def groups(summary: RunSummary) -> tuple[Group, ...]:
    """Return the settings of a run, in the order in which the plan names the first cell of each."""
    settings = Settings(summary)
    looks = _looks(summary, settings.labels)
    references = frozenset(c.reference_cell for c in summary.comparisons)
    return tuple(
        Group(
            slug=f"g{number}",
            title=setting.name,
            caption=setting.title,
            cells=tuple(
                replace(cell, stack=looks[cell.id][0], labels=replace(cell.labels, stack=looks[cell.id][1]))
                for cell in setting.cells
            ),
            floors=_floors(summary, setting.cells),
            comparisons=tuple(
                c for c in summary.comparisons if c.factor == STACK and c.cell in {cell.id for cell in setting.cells}
            ),
            unit=setting.unit,
            metric=settings.metric,
            references=references,
        )
        for number, setting in enumerate(settings.every, start=1)
    )


def kin(group: Group, every: Sequence[Group]) -> tuple[Group, ...]:
    """The other groups that ask the same between the same hosts, in the same unit: their pictures share scales."""
    if not group.cells:
        return ()
    own = (group.cells[0].operation, group.cells[0].placement, group.unit)
    return tuple(
        other
        for other in every
        if other is not group and own == (other.cells[0].operation, other.cells[0].placement, other.unit)
    )


def cell_names(every: Sequence[Group], *, in_full: bool = False) -> dict[str, str]:
    """What to call each cell, by id: its stack, and its group where there are several; `in_full`: always, with the load."""
    names = {group.slug: [group.caption] if in_full else [group.title] if len(every) > 1 else [] for group in every}
    return {cell.id: " · ".join((cell.labels.stack, *names[group.slug])) for group in every for cell in group.cells}


def cell_colours(every: Sequence[Group], summary: RunSummary) -> dict[str, int]:
    """`stack_colours`, and the numbers of what stands in groups: a stack's cells that are told apart have its colour.

    Their line styles differ, in the order in which the plan names them.
    """
    numbers = stack_colours(summary)
    rounds = palette.SERIES * (max(numbers.values(), default=0) // palette.SERIES + 1)
    shown = {cell.id: cell.stack for group in every for cell in group.cells}
    looks: dict[str, dict[str, None]] = {}
    for cell in summary.cells:
        looks.setdefault(cell.stack, {}).setdefault(shown.get(cell.id, cell.stack))
    return numbers | {
        look: numbers[stack] + rounds * place for stack, names in looks.items() for place, look in enumerate(names)
    }


def stack_colours(summary: RunSummary) -> dict[str, int]:
    """Each stack's number, by id, in order of first appearance: its colour and line style in every chart.

    A control has its original's colour with another line style, two rounds of colours further on.
    """
    originals = {stack.id: stack.control_of for stack in summary.plan.stacks}
    order = dict.fromkeys(cell.stack for cell in summary.cells)
    numbers: dict[str, int] = {}
    for stack in sorted(order, key=lambda stack: originals.get(stack) is not None):
        original = numbers.get(originals.get(stack) or "")
        if original is None:
            numbers[stack] = len(numbers)
        else:
            numbers[stack] = original + palette.SERIES * (
                2 + sum(originals.get(other) == originals[stack] for other in numbers)
            )
    return {stack: numbers[stack] for stack in order}


def anchor(text: str) -> str:
    """A text as a fragment identifier."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def _looks(summary: RunSummary, labels: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """What is drawn for each cell's stack, and its label, by id: the same where no two cells of a stack share a table."""
    return {
        cell.id: (cell.stack, cell.labels.stack)
        if labels[cell.id] == cell.labels.stack
        else (f"{cell.stack} {labels[cell.id]}", labels[cell.id])
        for cell in summary.cells
    }


def _floors(summary: RunSummary, cells: Sequence[CellSummary]) -> tuple[FloorSummary, ...]:
    """Ping is beside every cell of its placement, a tcp floor beside those whose bytes it carried."""
    ids, placements = {cell.id for cell in cells}, {cell.placement for cell in cells}
    floors = [
        floor
        for floor in summary.floors
        if floor.placement_id in placements
        and (floor.kind == "ping" or not floor.cells or ids.intersection(floor.cells))
    ]
    return tuple(sorted(floors, key=lambda floor: (floor.kind != "ping", floor.send_bytes, floor.receive_bytes)))
