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
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, STACK, phrases
from orchestrator.findings import naming, validity
from orchestrator.findings.block_values import ranked
from orchestrator.findings.naming import units
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import CellSummary, Comparison, FloorSummary, RunSummary
from orchestrator.quantities import Unit, is_vague, per_second, sample, unit_for
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.find import FoundRate
from orchestrator.questions.stability.find import QUESTION as STABILITY
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

    contrasted: tuple[Comparison, ...] = ()  # what its cells are compared with by factors
    spreads: tuple[Comparison, ...] = ()  # of every two of its stacks by how far latencies spread, where that is asked
    metric: str = "median"  # what the result is about
    references: frozenset[str] = frozenset()  # ids of the cells that any is compared with
    in_labels: tuple[str, ...] = ()  # the factors of the call that labels of its cells name
    given: tuple[str, ...] = ()  # labels of stacks whose responders orch did not start, where a tcp floor is shown

    @property
    def has_mixed_calls(self) -> bool:
        """Whether requests of its stacks are made in different ways that no label says, so that each row must say how."""
        left = [factor for factor in OF_THE_CALL if factor.name not in self.in_labels]
        return len({tuple(cell.factors.get(factor.name, factor.default) for factor in left) for cell in self.cells}) > 1

    @property
    def is_stream(self) -> bool:
        """Whether its cells are streams of events."""
        return any(cell.stream is not None for cell in self.cells)

    @property
    def rate_head(self) -> str:
        """How the column of its rates is headed."""
        return per_second(cell.kind for cell in self.cells)

    @property
    def sample(self) -> str:
        """What one sample is called: `request`, `task`."""
        return sample(cell.kind for cell in self.cells)

    @property
    def samples(self) -> str:
        """What several samples are called: `requests`, `requests or tasks`."""
        return sample((cell.kind for cell in self.cells), "s")

    @property
    def measured(self) -> tuple[CellSummary, ...]:
        """The cells that have at least one good sample."""
        return tuple(cell for cell in self.cells if cell.distribution is not None)

    @property
    def has_vague_intervals(self) -> bool:
        """Whether the table shows a star in the place of a median's interval, which then is explained below it."""
        return any(is_vague(cell.median_interval) for cell in self.measured)

    def against_reference(self, cell: CellSummary, statistic: str = "median") -> Comparison | None:
        """The comparison of this cell by a statistic, if there is one."""
        return next((c for c in self.comparisons if c.cell == cell.id and c.statistic == statistic), None)

    def compared_by(self, statistic: str) -> tuple[Comparison, ...]:
        """The comparisons of one statistic: median, p99 or throughput."""
        return tuple(comparison for comparison in self.comparisons if comparison.statistic == statistic)

    def is_reference(self, cell: CellSummary) -> bool:
        """Whether other cells are compared with this one."""
        return cell.id in self.references

    def by_factors(self, cell: CellSummary) -> tuple[Comparison, ...]:
        """The comparisons of this cell's median beside the first by the stack: by factors, or with further references."""
        first = self.against_reference(cell)
        beside = (c for c in (*self.comparisons, *self.contrasted) if c.cell == cell.id and c.statistic == "median")
        return tuple(c for c in beside if c is not first)


def groups(summary: RunSummary) -> tuple[Group, ...]:
    """The summary's cells, grouped, in the order in which the plan names the first of each; compared cells share a unit."""
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
    made = [
        _group(
            f"g{number}", title if titles.count(title) == 1 else f"{title} · {key[-1]}", tuple(cells), summary, called
        )
        for number, (title, (key, cells)) in enumerate(zip(titles, found.items(), strict=True), start=1)
    ]
    medians = [{cell.id: cell.distribution.median for cell in group.measured if cell.distribution} for group in made]
    alike = units(medians, [(c.cell, c.reference_cell) for c in summary.comparisons])
    return tuple(replace(group, unit=unit or group.unit) for group, unit in zip(made, alike, strict=True))


def compared(found: Sequence[Group], summary: RunSummary) -> tuple[Group, ...]:
    """What stands in one picture: comparisons with one reference, by the stack in a group's cells or by a factor elsewhere.

    Such a group by a factor has no cells of its own: both of its sides stand in tables.
    """
    apart: list[Group] = []
    for group in found:
        references = list(dict.fromkeys(c.reference_label for c in group.comparisons if not c.control))
        for number, reference in enumerate(references):
            rows = tuple(c for c in group.comparisons if c.control or c.reference_label == reference)
            several = len(references) > 1
            slug, title = f"{group.slug}-{number}" if number else group.slug, f"{group.title}, against {reference}"
            apart.append(replace(group, slug=slug, title=title if several else group.title, comparisons=rows))
        if group.comparisons and not references:
            apart.append(group)
    of_factors: dict[tuple[str, str, str], list[Comparison]] = {}
    for c in summary.comparisons:
        if c.factor != STACK:
            of_factors.setdefault((c.factor, c.compared_with, c.group), []).append(c)
    for number, ((factor, reference, where), rows_of) in enumerate(of_factors.items(), start=1):
        apart.append(
            Group(
                slug=f"f{number}",
                title=f"{BY_NAME[factor].title}, against {reference}: {where}",
                load="",
                cells=(),
                floors=(),
                comparisons=tuple(rows_of),
                unit=unit_for([]),
            )
        )
    return tuple(apart)


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


def floors_beside(found: Sequence[Group]) -> dict[str, tuple[tuple[FloorSummary, ...], tuple[Group, ...]]]:
    """By a group's slug, the floors that its table shows, and the earlier groups in whose tables its others stand.

    A floor is measured for a placement and a size, not for a load: it is shown in the first table that it stands beside.
    """
    shown: dict[int, Group] = {}
    beside = {}
    for group in found:
        new = tuple(floor for floor in group.floors if id(floor) not in shown)
        earlier = dict.fromkeys(shown[id(floor)].slug for floor in group.floors if id(floor) in shown)
        beside[group.slug] = (new, tuple(g for g in found if g.slug in earlier))
        shown |= {id(floor): group for floor in new}
    return beside


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
    is_floor_shown = any(floor.kind == "tcp" for floor in floors)
    running = (
        stack for stack in summary.plan.get("stacks", ()) if (stack.get("external") or {"start": {}})["start"] is None
    )
    externals = {stack["id"] for stack in running}
    given = dict.fromkeys(cell.stack_label for cell in ordered if is_floor_shown and cell.stack in externals)
    medians = [of.median for cell in cells if (of := cell.distribution) and of.median is not None]
    return Group(
        slug=slug,
        title=title,
        load=cells[0].load,
        cells=tuple(shown),
        floors=tuple(sorted(floors, key=lambda floor: (floor.kind != "ping", floor.send_bytes, floor.receive_bytes))),
        comparisons=tuple(_with_labels(c, called) for c in summary.comparisons if c.cell in ids and c.factor == STACK),
        contrasted=tuple(c for c in summary.comparisons if c.cell in ids and c.factor != STACK),
        spreads=tuple(_with_labels(c, called) for c in STABILITY.of(summary) if c.cell in ids and c.factor == STACK),
        metric=metric,
        references=frozenset(c.reference_cell for c in summary.comparisons),
        in_labels=tuple(factor.name for factor in naming.compared_calls(summary.comparisons)),
        given=tuple(given),
        unit=unit_for(medians or [m for floor in floors if floor.distribution and (m := floor.distribution.median)]),
    )


def slowest_reply(cell: CellSummary) -> float:
    """In milliseconds; 0 without a reply."""
    of = cell.replies or cell.distribution
    return (of.maximum if of else None) or 0.0


def _beside(floor: FloorSummary, cells: set[str]) -> bool:
    """Ping stands beside every cell of its placement, a tcp floor beside those whose bytes it carried."""
    return floor.kind == "ping" or not floor.cells or bool(cells.intersection(floor.cells))
