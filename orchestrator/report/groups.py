"""Cells that stand in one table: the same operation, placement and load, and requests made in the same way.

Cells that are compared by how requests are made stand in one table, too, and their rows say how. Where every stack has a
way of its own (REST opens a connection per call, gRPC keeps one), that is part of the stack, and
the stacks stand side by side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.findings import naming, validity
from orchestrator.findings.block_values import ranked
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import CellSummary, Comparison, FloorSummary, RunSummary
from orchestrator.quantities import Unit, per_second, unit_for
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate
from orchestrator.report import palette


@dataclass(frozen=True, kw_only=True)
class Group:
    """One table and one set of charts. Cells stand in the order of the result, those without samples last."""

    slug: str
    title: str
    load: str
    cells: tuple[CellSummary, ...]
    floors: tuple[FloorSummary, ...]
    comparisons: tuple[Comparison, ...]
    unit: Unit

    @property
    def caption(self) -> str:
        """The title and the load, said once."""
        return self.title if self.title.endswith(self.load) else f"{self.title} · {self.load}"

    metric: str = "median"  # what the result is about
    references: frozenset[str] = frozenset()  # ids of the cells that any is compared with

    @property
    def rate_head(self) -> str:
        """How the column of its rates is headed."""
        return per_second(cell.kind for cell in self.cells)

    @property
    def measured(self) -> tuple[CellSummary, ...]:
        """The cells that have at least one good sample."""
        return tuple(cell for cell in self.cells if cell.distribution is not None)

    def against_reference(self, cell: CellSummary, statistic: str = "median") -> Comparison | None:
        """The comparison of this cell by a statistic, if there is one."""
        return next((c for c in self.comparisons if c.cell == cell.id and c.statistic == statistic), None)

    def is_reference(self, cell: CellSummary) -> bool:
        """Whether other cells are compared with this one."""
        return cell.id in self.references


def groups(summary: RunSummary) -> tuple[Group, ...]:
    """The summary's cells, grouped, in the order in which the plan names the first of each."""
    calls: dict[str, set[tuple[Value, ...]]] = {}
    for cell in summary.cells:
        calls.setdefault(cell.stack, set()).add(cell.call)
    apart = dict.fromkeys(factor.name for factor in naming.compared_calls(summary.comparisons))
    belongs_to_stack = all(len(of_stack) == 1 for of_stack in calls.values()) and len(set().union(*calls.values())) > 1
    found: dict[tuple[str, ...], list[CellSummary]] = {}
    for cell in summary.cells:
        call = () if belongs_to_stack else phrases({**cell.factors, **apart})
        found.setdefault((cell.operation, cell.placement, *call, cell.load), []).append(cell)
    called = _called(summary)
    titles = [_title(key) for key in found]
    return tuple(
        _group(
            f"g{number}", title if titles.count(title) == 1 else f"{title} · {key[-1]}", tuple(cells), summary, called
        )
        for number, (title, (key, cells)) in enumerate(zip(titles, found.items(), strict=True), start=1)
    )


def rate_groups(summary: RunSummary) -> list[tuple[str, str, list[FoundRate]]]:
    """Rates that were searched by what they have in common: the setting and the goals."""
    key = attrgetter("setting", "goals")
    return [(*names, list(of)) for names, of in groupby(CAPACITY.of(summary).rates, key=key)]


def kin(group: Group, found: Sequence[Group]) -> tuple[Group, ...]:
    """The other groups that ask the same between the same hosts, in the same unit: their pictures share scales."""
    if not group.cells:
        return ()
    own = (group.cells[0].operation_id, group.cells[0].placement_id, group.unit)
    return tuple(
        other
        for other in found
        if other is not group and own == (other.cells[0].operation_id, other.cells[0].placement_id, other.unit)
    )


def cell_names(found: Sequence[Group], *, in_full: bool = False) -> dict[str, str]:
    """What to call each cell, by id: its stack, and its group where there are several; `in_full`: always, with the load."""
    return {
        cell.id: " · ".join(
            (cell.stack_label, *([group.caption] if in_full else [group.title] if len(found) > 1 else []))
        )
        for group in found
        for cell in group.cells
    }


def cell_colours(found: Sequence[Group], summary: RunSummary) -> dict[str, int]:
    """`stack_colours`, and the numbers of what stands in groups: a stack's cells that are told apart have its colour.

    Their line styles differ, in the order in which the plan names them.
    """
    numbers = stack_colours(summary)
    rounds = palette.SERIES * (max(numbers.values(), default=0) // palette.SERIES + 1)
    shown = {cell.id: cell.stack for group in found for cell in group.cells}
    looks: dict[str, dict[str, None]] = {}
    for cell in summary.cells:
        looks.setdefault(cell.stack, {}).setdefault(shown.get(cell.id, cell.stack))
    return numbers | {
        look: numbers[stack] + rounds * place for stack, of in looks.items() for place, look in enumerate(of)
    }


def stack_colours(summary: RunSummary) -> dict[str, int]:
    """Each stack's number, by id, in order of first appearance: its colour and line style in every chart.

    A control has its original's colour with another line style, two rounds of colours further on.
    """
    originals = {stack["id"]: stack.get("control_of") for stack in summary.plan.get("stacks", ())}
    order = dict.fromkeys(cell.stack for cell in summary.cells)
    found: dict[str, int] = {}
    for stack in sorted(order, key=lambda stack: originals.get(stack) is not None):
        original = found.get(originals.get(stack) or "")
        if original is None:
            found[stack] = len(found)
        else:
            found[stack] = original + palette.SERIES * (
                2 + sum(originals.get(other) == originals[stack] for other in found)
            )
    return {stack: found[stack] for stack in order}


def anchor(text: str) -> str:
    """A text as a fragment identifier."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


def _title(key: tuple[str, ...]) -> str:
    return " · ".join(key[:-1])


def _called(summary: RunSummary) -> dict[str, tuple[str, str]]:
    """What stands for each cell's stack and its label, by id: the same where no two cells of a stack share a table."""
    labels = naming.in_tables(summary)
    return {
        cell.id: (cell.stack, cell.stack_label)
        if labels[cell.id] == cell.stack_label
        else (f"{cell.stack} {labels[cell.id]}", labels[cell.id])
        for cell in summary.cells
    }


def _with_labels(comparison: Comparison, called: Mapping[str, tuple[str, str]]) -> Comparison:
    stack, label = called[comparison.cell]
    return replace(comparison, stack=stack, stack_label=label, reference_label=called[comparison.reference_cell][1])


def _group(
    slug: str,
    title: str,
    cells: tuple[CellSummary, ...],
    summary: RunSummary,
    called: Mapping[str, tuple[str, str]],
) -> Group:
    ids = {cell.id for cell in cells}
    placements = {cell.placement_id for cell in cells}
    floors = tuple(floor for floor in summary.floors if floor.placement_id in placements and _beside(floor, ids))
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    metric = ranked_by(summary)
    ordered = ranked(cells, invalid, metric)
    shown = [replace(cell, stack=called[cell.id][0], stack_label=called[cell.id][1]) for cell in ordered]
    medians = [of.median for cell in cells if (of := cell.distribution) and of.median is not None]
    return Group(
        slug=slug,
        title=title,
        load=cells[0].load,
        cells=tuple(shown),
        floors=tuple(sorted(floors, key=lambda floor: (floor.kind != "ping", floor.send_bytes, floor.receive_bytes))),
        comparisons=tuple(_with_labels(c, called) for c in summary.comparisons if c.cell in ids and c.factor == STACK),
        metric=metric,
        references=frozenset(c.reference_cell for c in summary.comparisons),
        unit=unit_for(medians or [m for floor in floors if floor.distribution and (m := floor.distribution.median)]),
    )


def slowest_reply(cell: CellSummary) -> float:
    """In milliseconds; 0 without a reply."""
    of = cell.replies or cell.distribution
    return (of.maximum if of else None) or 0.0


def _beside(floor: FloorSummary, cells: set[str]) -> bool:
    """Ping stands beside every cell of its placement, a tcp floor beside those whose bytes it carried."""
    return floor.kind == "ping" or not floor.cells or bool(cells.intersection(floor.cells))
