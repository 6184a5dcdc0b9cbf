"""What a run shows along its numeric axes: lines, differences to the reference with their crossing, and round trips."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import sqrt

import numpy as np

from orchestrator.analysis import words
from orchestrator.analysis.axes import AXES, DISTANCE, Axis
from orchestrator.analysis.cells import by_block
from orchestrator.analysis.checks.round_trips import round_trips_to_open
from orchestrator.analysis.crossing import crossing
from orchestrator.analysis.intervals import ALPHA, FEWEST_BLOCKS, t_quantile
from orchestrator.analysis.opening import STEPS
from orchestrator.analysis.round_trip_fit import fit
from orchestrator.analysis.series import (
    Crossing,
    Curves,
    Difference,
    Gap,
    Line,
    OpeningStep,
    Panel,
    Point,
    RoundTrips,
    Scale,
)
from orchestrator.analysis.summary import CellSummary, Comparison
from orchestrator.analysis.terms import Interval
from orchestrator.experiment.model.factors import phrases
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan

FEWEST_PLACES = 3  # two are a comparison, and no curve
_ALIKE = 1.5  # two differences along an axis within this factor: the larger stands for both

Floors = Mapping[str, Mapping[int, float]]
"""What ping measured, by placement and block, ms."""


@dataclass(frozen=True, kw_only=True)
class _Placed:
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
    found = []
    for axis in AXES:
        settings = _settings(plan, cells, invalid, axis)
        if settings:
            found.append(_of_axis(plan, axis, settings, comparisons))
    return tuple(found)


def round_trips(
    plan: Plan, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]
) -> tuple[RoundTrips, ...]:
    """Of every stack and way to call: the slope of latency over distance, where requests do not wait for one another."""
    axis = next(axis for axis in AXES if axis.name == DISTANCE)
    found = []
    for placed in _settings(plan, cells, invalid, axis).values():
        for members in _by_stack(placed):
            first = members[0]
            if first.cell.load.concurrency > 1 or first.cell.load.rate_per_s is not None:
                continue
            if first.cell.kind not in ("call", "task"):
                continue
            medians = {m.placement.id: by_block(m.summary.trials, "median") for m in members}
            fitted = fit(medians, floors)
            if fitted is None:
                continue
            stack = next(stack for stack in plan.stacks if stack.id == first.cell.stack)
            opening = round_trips_to_open(stack) + first.cell.handshakes
            opens = opening if first.cell.connection == "per-request" else 0
            found.append(
                RoundTrips(
                    stack=first.cell.stack,
                    label=first.summary.stack_label,
                    setting=" · ".join((first.operation.label, *phrases(first.cell.factors))),
                    connection=first.cell.connection,
                    distances=fitted.distances,
                    blocks=fitted.blocks,
                    round_trips=fitted.slope,
                    interval=fitted.interval,
                    at_zero=fitted.at_zero,
                    off_line=fitted.off_line,
                    implied=first.cell.in_a_row + opens,
                    steps=tuple(_steps(members, floors)),
                )
            )
    return tuple(found)


def _steps(members: Sequence[_Placed], floors: Floors) -> Iterator[OpeningStep]:
    """The slopes of what the library tells of opening a connection, over all distances of a stack."""
    for step in STEPS:
        found: dict[str, dict[int, float]] = {}
        for member in members:
            told = [(trial.block, getattr(trial.opening, step, None)) for trial in member.summary.trials]
            found[member.placement.id] = {block: value for block, value in told if value is not None}
        if fitted := fit(found, floors):
            yield OpeningStep(name=step, round_trips=fitted.slope, interval=fitted.interval)


def _settings(
    plan: Plan, cells: Sequence[CellSummary], invalid: Container[str], axis: Axis
) -> dict[tuple[object, ...], list[_Placed]]:
    """The measured cells of each setting in which some stack has places enough for a curve, by the setting."""
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    by_id = {cell.id: cell for cell in cells}
    operations = {operation.id: operation for operation in plan.operations}
    placements = {placement.id: placement for placement in plan.placements}
    has_call = _is_call_apart(plan)
    found: dict[tuple[object, ...], list[_Placed]] = {}
    for cell in plan.cells:
        summary = by_id.get(cell.id)
        median = summary.distribution.median if summary and summary.distribution else None
        if summary is None or median is None or cell.stack in controls or cell.id in invalid:
            continue
        if any("median" in trial.censored for trial in summary.trials):
            continue
        placement = placements[cell.placement]
        at = axis.at(cell, placement, summary)
        if at is not None:
            placed = _Placed(
                cell=cell,
                operation=operations[cell.operation],
                placement=placement,
                summary=summary,
                at=at,
                median=median,
            )
            found.setdefault(axis.setting(cell, placement, has_call=has_call), []).append(placed)
    return {
        setting: placed
        for setting, placed in found.items()
        if any(len({m.at for m in members}) >= FEWEST_PLACES for members in _by_stack(placed))
    }


def _is_call_apart(plan: Plan) -> bool:
    """Whether how requests are made is a part of the setting: not where every stack has one way of its own."""
    calls: dict[str, set[tuple[object, ...]]] = {}
    for cell in plan.cells:
        calls.setdefault(cell.stack, set()).add(phrases(cell.factors))
    return any(len(of_stack) > 1 for of_stack in calls.values()) or len(set().union(*calls.values())) == 1


def _by_stack(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """The cells of each stack in the order of the axis; one cell for a place."""
    found: dict[str, dict[float, _Placed]] = {}
    for member in placed:
        found.setdefault(member.cell.stack, {}).setdefault(member.at, member)
    return [[members[at] for at in sorted(members)] for members in found.values()]


def _of_axis(
    plan: Plan, axis: Axis, settings: Mapping[tuple[object, ...], list[_Placed]], comparisons: Sequence[Comparison]
) -> Curves:
    has_call = _is_call_apart(plan)
    scale = axis.scale(m.at for placed in settings.values() for m in placed)
    told = [axis.parts(p[0].cell, p[0].operation, p[0].placement, has_call=has_call) for p in settings.values()]
    alike = [len({parts[number] for parts in told}) == 1 for number in range(len(told[0]))]
    on_axis = {m.cell.id: m for placed in settings.values() for m in placed}
    panels = []
    for parts, placed in zip(told, settings.values(), strict=True):
        lines = [members for members in _by_stack(placed) if len(members) > 1]
        own = [part for part, same in zip(parts, alike, strict=True) if part and (len(told) == 1 or not same)]
        panels.append(
            Panel(
                title=" · ".join(own or [part for part in parts if part]),
                lines=tuple(_line(members) for members in lines),
                gaps=tuple(gap for members in lines for gap in _gaps(axis, scale, members, comparisons, on_axis)),
            )
        )
    return Curves(axis=axis.name, title=axis.title, unit=axis.unit, scale=scale, panels=tuple(panels))


def _line(members: Sequence[_Placed]) -> Line:
    return Line(
        stack=members[0].cell.stack,
        label=members[0].summary.stack_label,
        points=tuple(
            Point(
                cell=m.cell.id,
                at=m.at,
                median=m.median,
                interval=m.summary.median_interval,
                wanted=m.placement.link.rtt_ms,
            )
            for m in members
        ),
    )


def _gaps(
    axis: Axis,
    scale: Scale,
    members: Sequence[_Placed],
    comparisons: Sequence[Comparison],
    on_axis: Mapping[str, _Placed],
) -> Iterator[Gap]:
    """The differences of a line to each reference that the run compares it with, by anything but the axis itself."""
    mine = {m.cell.id: m for m in members}
    by_reference: dict[tuple[str, str, str], list[Comparison]] = {}
    for c in comparisons:
        is_along = c.factor in (axis.factor.name, *axis.factor.varies_with)
        if (
            c.statistic == "median"
            and not c.control
            and not is_along
            and c.cell in mine
            and c.reference_cell in on_axis
        ):
            by_reference.setdefault((c.factor, c.stack_label, c.reference_label), []).append(c)
    for (_, label, reference_label), rows in by_reference.items():
        ordered = sorted(rows, key=lambda row: mine[row.cell].at)
        measured = [(row, mine[row.cell].at, _by_block(mine[row.cell], on_axis[row.reference_cell])) for row in ordered]
        measured = [(row, at, of_block) for row, at, of_block in measured if of_block and row.ratio is not None]
        if len(measured) < FEWEST_PLACES:
            continue
        points = tuple(
            Difference(
                at=at,
                difference=float(np.mean(list(of_block.values()))),
                interval=_interval(list(of_block.values())),
                standing=row.standing,
            )
            for row, at, of_block in measured
        )
        crossed = _crossing(scale, [at for _, at, _ in measured], [of_block for _, _, of_block in measured])
        if crossed is not None and not _is_told_on_both_sides(points, crossed):
            crossed = None
        yield Gap(
            stack=members[0].cell.stack,
            label=label,
            reference_label=reference_label,
            points=points,
            crossing=crossed,
            said=_said(axis, label, reference_label, points, crossed),
        )


def _by_block(cell: _Placed, reference: _Placed) -> dict[int, float]:
    """The difference of the two medians in each block that holds both, ms."""
    mine, theirs = by_block(cell.summary.trials, "median"), by_block(reference.summary.trials, "median")
    return {block: mine[block] - theirs[block] for block in sorted(mine.keys() & theirs.keys())}


def _interval(differences: Sequence[float]) -> Interval | None:
    n = len(differences)
    if n < FEWEST_BLOCKS:
        return None
    half = t_quantile(1 - ALPHA / 2, n - 1) * float(np.std(differences, ddof=1)) / sqrt(n)
    mean = float(np.mean(differences))
    return mean - half, mean + half


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
    return any({"faster", "slower"} == {one, other} for one in below for other in above)


# ---- in words


def _said(axis: Axis, label: str, reference: str, points: Sequence[Difference], crossed: Crossing | None) -> str:
    """Where one of the two is ahead along the axis, and by how much; the standings are those of the comparisons."""
    clauses, start = [], 0
    for standing, group in groupby(points, key=lambda point: point.standing):
        size = len(list(group))
        members = points[start : start + size]
        where = _where(axis, points, start, start + size - 1)
        clauses.append(f"{where} {_found(axis, label, reference, standing, members)}")
        start += size
    if crossed is not None:
        interval = f"95 % interval {axis.text(crossed.low)} to {axis.text(crossed.high)}"
        clauses.append(f"the medians cross at {axis.text(crossed.at)} ({interval})")
    return f"{label} against {reference}: {'; '.join(clauses)}."


def _where(axis: Axis, points: Sequence[Difference], first: int, last: int) -> str:
    low, high = axis.text(points[first].at), axis.text(points[last].at)
    if first == last:
        return f"at {low}"
    if first == 0 and last == len(points) - 1:
        return f"from {low} to {high}"
    if first == 0:
        return f"up to {high}"
    return f"from {low} on" if last == len(points) - 1 else f"from {low} to {high}"


def _found(axis: Axis, label: str, reference: str, standing: str, members: Sequence[Difference]) -> str:
    if standing == "tie":
        return "there is nothing to choose"
    if standing not in ("faster", "slower"):
        return "they are not told apart"
    ahead = label if standing == "faster" else reference
    least, most = (pick(members, key=lambda point: abs(point.difference)) for pick in (min, max))
    is_one_size = abs(most.difference) < _ALIKE * abs(least.difference)
    shown = [most] if is_one_size else sorted((least, most), key=lambda point: point.at)
    if len(members) == 1:
        return f"{ahead} is ahead {_by(members[0])}"
    return f"{ahead} is ahead, {words.listed([f'{_by(point)} at {axis.text(point.at)}' for point in shown])}"


def _by(point: Difference) -> str:
    if point.interval is None or point.interval[0] <= 0 <= point.interval[1]:
        return f"by about {words.ms(abs(point.difference))}"
    least, largest = sorted(abs(bound) for bound in point.interval)
    return f"by {words.ms(least)} to {words.ms(largest)}"
