"""What a run shows along its numeric axes: differences to the reference, and their crossing."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.experiment.model.factors import phrases
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary, Comparison
from orchestrator.questions.axes.axis import AXES, Axis
from orchestrator.questions.axes.crossing import Crossing, Scale, crossing
from orchestrator.questions.base import Question
from orchestrator.statistics.intervals import FEWEST_BLOCKS, mean_interval
from orchestrator.statistics.terms import Interval


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A cell's median less its reference's, at one place of the axis.

    `interval` is the 95 % t-interval over the blocks' own differences, of this place alone; None with fewer than three
    blocks. `standing` is that of the run's comparison of the two by the median.
    """

    at: float
    difference: float
    interval: Interval | None
    standing: str


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A stack's difference to a reference along the axis."""

    stack: str  # id
    label: str
    reference_label: str
    points: tuple[Difference, ...]
    crossing: Crossing | None


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What is compared along the axis within one setting: everything but the axis and the stack."""

    title: str
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All that a run shows along one axis. `axis` is its name, `title` says what it is."""

    axis: str
    title: str
    panels: tuple[Panel, ...]


FEWEST_PLACES = 3  # two are a comparison, and no curve


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A cell with its parts, and its place on the axis."""

    cell: Cell
    operation: Operation
    placement: Placement
    summary: CellSummary
    at: float
    median: float


def curves(
    plan: Plan, cells: Sequence[CellSummary], comparisons: Sequence[Comparison], invalid: Container[str]
) -> tuple[Curves, ...]:
    """Every axis along which at least three cells differ in nothing else; cells that are `invalid` (by id) are left out."""
    by_axis = ((axis, settings(plan, cells, invalid, axis)) for axis in AXES)
    return tuple(_of_axis(plan, axis, on_axis, comparisons) for axis, on_axis in by_axis if on_axis)


def settings(
    plan: Plan, cells: Sequence[CellSummary], invalid: Container[str], axis: Axis
) -> dict[tuple[object, ...], list[Placed]]:
    """The measured cells of each setting in which some stack has places enough for a curve, by the setting."""
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    by_id = {cell.id: cell for cell in cells}
    operations = {operation.id: operation for operation in plan.operations}
    placements = {placement.id: placement for placement in plan.placements}
    has_call = _is_call_apart(plan)
    by_setting: dict[tuple[object, ...], list[Placed]] = {}
    for cell in plan.cells:
        summary = by_id.get(cell.id)
        median = summary.distribution.median if summary and summary.distribution else None
        if summary is None or median is None or cell.stack in controls or cell.id in invalid:
            continue
        if any("median" in trial.censored for trial in summary.trials):
            continue
        placement = placements[cell.placement]
        if (at := axis.at(cell, placement, summary)) is not None:
            operation = operations[cell.operation]
            placed = Placed(cell=cell, operation=operation, placement=placement, summary=summary, at=at, median=median)
            by_setting.setdefault(axis.setting(cell, placement, has_call=has_call), []).append(placed)
    return {
        setting: placed
        for setting, placed in by_setting.items()
        if any(len({m.at for m in members}) >= FEWEST_PLACES for members in by_stack(placed))
    }


def _is_call_apart(plan: Plan) -> bool:
    """Whether how requests are made is a part of the setting: not where every stack has one way of its own."""
    calls: dict[str, set[tuple[object, ...]]] = {}
    for cell in plan.cells:
        calls.setdefault(cell.stack, set()).add(phrases(cell.factors))
    return any(len(of_stack) > 1 for of_stack in calls.values()) or len(set().union(*calls.values())) == 1


def by_stack(placed: Sequence[Placed]) -> list[list[Placed]]:
    """The cells of each stack in the order of the axis; one cell for a place."""
    lines: dict[str, dict[float, Placed]] = {}
    for member in placed:
        lines.setdefault(member.cell.stack, {}).setdefault(member.at, member)
    return [[members[at] for at in sorted(members)] for members in lines.values()]


def _of_axis(
    plan: Plan, axis: Axis, settings: Mapping[tuple[object, ...], list[Placed]], comparisons: Sequence[Comparison]
) -> Curves:
    has_call = _is_call_apart(plan)
    scale = axis.scale(m.at for placed in settings.values() for m in placed)
    known = [axis.parts(p[0].cell, p[0].operation, p[0].placement, has_call=has_call) for p in settings.values()]
    alike = [len({parts[number] for parts in known}) == 1 for number in range(len(known[0]))]
    on_axis = {m.cell.id: m for placed in settings.values() for m in placed}
    panels = []
    for parts, placed in zip(known, settings.values(), strict=True):
        lines = [members for members in by_stack(placed) if len(members) > 1]
        own = [part for part, same in zip(parts, alike, strict=True) if part and (len(known) == 1 or not same)]
        panels.append(
            Panel(
                title=" · ".join(own or [part for part in parts if part]),
                gaps=tuple(gap for members in lines for gap in _gaps(axis, scale, members, comparisons, on_axis)),
            )
        )
    return Curves(axis=axis.name, title=axis.title, panels=tuple(panels))


def _gaps(
    axis: Axis,
    scale: Scale,
    members: Sequence[Placed],
    comparisons: Sequence[Comparison],
    on_axis: Mapping[str, Placed],
) -> Iterator[Gap]:
    """The differences of a line to each reference that the run compares it with, by anything but the axis itself."""
    mine = {m.cell.id: m for m in members}
    by_reference: dict[tuple[str, str, str], list[Comparison]] = {}
    for c in comparisons:
        is_compared = c.statistic == "median" and not c.control
        is_along = c.factor in (axis.factor.name, *axis.factor.varies_with)
        if is_compared and not is_along and c.cell in mine and c.reference_cell in on_axis:
            by_reference.setdefault((c.factor, c.stack_label, c.reference_label), []).append(c)
    for (_, label, reference_label), rows in by_reference.items():
        ordered = sorted(rows, key=lambda row: mine[row.cell].at)
        measured = []
        for row in ordered:
            sides = (mine[row.cell], on_axis[row.reference_cell])
            own, theirs = (by_block(side.summary.trials, "median") for side in sides)
            of_block = {block: own[block] - theirs[block] for block in sorted(own.keys() & theirs.keys())}  # ms
            if of_block and row.ratio is not None:
                measured.append((row, mine[row.cell].at, of_block))
        if len(measured) < FEWEST_PLACES:
            continue
        points = tuple(
            Difference(
                at=at,
                difference=float(np.mean(list(of_block.values()))),
                interval=mean_interval(list(of_block.values())),
                standing=row.standing,
            )
            for row, at, of_block in measured
        )
        crossed = _crossing(scale, [at for _, at, _ in measured], [of_block for _, _, of_block in measured])
        if crossed is not None and not _is_told_on_both_sides(points, crossed):
            crossed = None
        stack = members[0].cell.stack
        yield Gap(stack=stack, label=label, reference_label=reference_label, points=points, crossing=crossed)


def _crossing(scale: Scale, places: Sequence[float], by_places: Sequence[Mapping[int, float]]) -> Crossing | None:
    shared = sorted(set.intersection(*(set(of_block) for of_block in by_places)))
    if len(shared) < FEWEST_BLOCKS:
        return None
    rows = np.array([[of_block[block] for of_block in by_places] for block in shared])
    return crossing(places, rows, scale)


def _is_told_on_both_sides(points: Sequence[Difference], crossed: Crossing) -> bool:
    """Whether one is ahead below the crossing and the other above it by the comparisons, corrected for all of the run.

    By each place's own interval alone a run with many settings would name crossings where there are none.
    """
    below = {point.standing for point in points if point.at <= crossed.at}
    above = {point.standing for point in points if point.at > crossed.at}
    return any({"faster", "slower"} == {lower, upper} for lower in below for upper in above)


QUESTION: Question[tuple[Curves, ...]] = Question(
    name="axes",
    type=tuple[Curves, ...],
    empty=(),
    find=lambda basis: curves(basis.plan, basis.summary.cells, basis.summary.comparisons, basis.invalid),
)
