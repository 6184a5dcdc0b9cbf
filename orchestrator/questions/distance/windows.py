"""How much of a body passes in a round trip, and whether that is the window which its cells set. Pure.

Under a window of W bytes a transfer of S bytes takes S / W round trips. So in each block a straight line is fitted (least
squares) to the medians of its trials over the sizes of the bodies; the round trip that ping measured in the block, divided
by the slope, is how many bytes pass in one. The blocks are the replicates, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from orchestrator.experiment.model.factors import phrases
from orchestrator.experiment.plan.cells import WINDOWS, window_of
from orchestrator.experiment.plan.plan import Cell, Operation, Placement, Plan
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.axes.find import Floors
from orchestrator.statistics.intervals import ALPHA, FEWEST_BLOCKS, t_quantile
from orchestrator.statistics.terms import Interval

Way = Literal["request", "reply", "both"]
Side = Literal["no window", "few blocks", "unknown", "more", "less", "as"]


@dataclass(frozen=True, kw_only=True)
class WindowFit:
    """How much of a body passes in a round trip: the round trip over the slope of median latency over the body's size.

    `window` is the smallest window that the cells set, in bytes, None of cells that set none and stand beside such. Sizes
    are those of bodies, in the direction (`way`) in which they differ. `per_round_trip` is in bytes, its `interval` the 95 %
    t-interval over blocks, None with fewer than three; `mb_per_s` what that is in a second, 10^6 bytes, `expected_mb_per_s`
    what the window would be, and `of_window` the ratio of both. `at_zero` and `off_line` are ms, as in `RoundTrips`.
    `side`: how the whole interval lies to what counts as the window; `is_free`: no more passes where no window is set.
    """

    stack: str  # id
    label: str
    setting: str
    placement: str
    way: Way
    window: int | None
    sizes: int
    blocks: int
    rtt: float  # ms, as ping measured it
    per_round_trip: float
    interval: Interval | None
    mb_per_s: float
    expected_mb_per_s: float | None
    of_window: float | None
    at_zero: float
    off_line: float
    side: Side
    is_free: bool = False

    @property
    def is_off(self) -> bool:
        """Whether more or less than the window passes."""
        return self.side in ("more", "less")


FEWEST_SIZES = 3
OFF = 0.1  # a share of the window: what passes is held to be the window as long as it is not off by more
_LEAST_RTT_MS = 1.0  # below it the hosts' own work outweighs the distance


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Bytes that pass in a round trip, with their interval; ms that no bytes take, and of a mean from the line at most."""

    per_round_trip: float
    interval: Interval | None
    at_zero: float
    off_line: float
    blocks: int


@dataclass(frozen=True, kw_only=True)
class _Sized:
    cell: Cell
    summary: CellSummary
    operation: Operation
    placement: Placement
    way: Way
    size: float  # bytes of the bodies that differ

    @property
    def place(self) -> tuple[str, ...]:
        return self.cell.stack, self.placement.id, self.operation.name, self.way

    @property
    def setting(self) -> tuple[object, ...]:
        return (*self.place, *phrases(self.cell.factors))

    @property
    def beside(self) -> tuple[object, ...]:
        """What it has in common with the setting that is the same but for its windows."""
        return (*self.place, *((name, of) for name, of in self.cell.factors.items() if name not in WINDOWS))


def window_fits(
    plan: Plan, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]
) -> tuple[WindowFit, ...]:
    """Of every stack and setting of a window with three sizes or more, one request in flight on a kept connection.

    Settings without a window stand beside them. Cells that are `invalid` (by id) are left out.
    """
    groups: dict[tuple[object, ...], list[_Sized]] = {}
    for sized in _sized(plan, cells, floors, invalid):
        groups.setdefault(sized.setting, []).append(sized)
    with_window = {m.place for members in groups.values() for m in members if window_of(m.cell.factors) is not None}
    fits = [_fitted(members, floors) for members in groups.values() if members[0].place in with_window]
    found = [each for each in fits if each is not None]
    free = {members[0].beside: of.per_round_trip for members, of in found if window_of(members[0].cell.factors) is None}
    return tuple(_window_fit(members, fit, floors, free.get(members[0].beside)) for members, fit in found)


def fit(sizes: Sequence[float], medians: Sequence[Mapping[int, float]], floor: Mapping[int, float]) -> Fit | None:
    """The fit over all blocks that hold every size; None with fewer than three sizes, or where time does not grow with size.

    `medians`: of each of `sizes` (bytes), by block; `floor`: the measured round trip by block; ms.
    """
    if len(set(sizes)) < FEWEST_SIZES:
        return None
    shared = sorted(set.intersection(set(floor), *(set(of_block) for of_block in medians)))
    if not shared:
        return None
    x = np.array(sizes)
    passing, at_zero, slopes, all_y = [], [], [], []
    for block in shared:
        y = np.array([of_block[block] for of_block in medians])
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
        if slope <= 0:
            return None
        passing.append(floor[block] / slope)
        at_zero.append(float(y.mean() - slope * x.mean()))
        slopes.append(slope)
        all_y.append(y)
    mean, n = float(np.mean(passing)), len(passing)
    interval = None
    if n >= FEWEST_BLOCKS:
        half = t_quantile(1 - ALPHA / 2, n - 1) * float(np.std(passing, ddof=1)) / sqrt(n)
        interval = (mean - half, mean + half)
    base = float(np.mean(at_zero))
    residuals = np.mean(all_y, axis=0) - (base + float(np.mean(slopes)) * x)
    return Fit(per_round_trip=mean, interval=interval, at_zero=base, off_line=float(np.abs(residuals).max()), blocks=n)


def _sized(plan: Plan, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]) -> list[_Sized]:
    """The measured cells over a distance whose bodies are known, but for controls."""
    by_id = {cell.id: cell for cell in cells}
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    operations = {operation.id: operation for operation in plan.operations}
    placements = {placement.id: placement for placement in plan.placements}
    found = []
    for cell in plan.cells:
        summary = by_id.get(cell.id)
        if summary is None or summary.body_bytes is None or cell.id in invalid or cell.stack in controls:
            continue
        if cell.kind != "call" or cell.mixed or cell.connection != "reuse":
            continue
        if cell.load.concurrency > 1 or cell.load.rate_per_s is not None:
            continue
        if any("median" in trial.censored for trial in summary.trials):
            continue
        floor = floors.get(cell.placement, {})
        if not floor or float(np.median(list(floor.values()))) < _LEAST_RTT_MS:
            continue
        way, size = _way(operations[cell.operation], summary.body_bytes)
        found.append(
            _Sized(
                cell=cell,
                summary=summary,
                operation=operations[cell.operation],
                placement=placements[cell.placement],
                way=way,
                size=size,
            )
        )
    return found


def _way(operation: Operation, body_bytes: Interval) -> tuple[Way, float]:
    """In which direction the bytes go, and how many."""
    if operation.request_bytes == operation.reply_bytes:
        return "both", sum(body_bytes)
    return ("request", body_bytes[0]) if operation.request_bytes > operation.reply_bytes else ("reply", body_bytes[1])


def _fitted(members: Sequence[_Sized], floors: Floors) -> tuple[list[_Sized], Fit] | None:
    ordered = sorted(members, key=lambda member: member.size)
    medians = [by_block(member.summary.trials, "median") for member in ordered]
    found = fit([member.size for member in ordered], medians, floors[ordered[0].placement.id])
    return None if found is None else (ordered, found)


def _window_fit(ordered: Sequence[_Sized], fitted: Fit, floors: Floors, free: float | None) -> WindowFit:
    """`free` is what passes where nothing but the window is left out; None where that was not measured."""
    first = ordered[0]
    window = window_of(first.cell.factors)
    rtt = float(np.median(list(floors[first.placement.id].values())))
    share = None if window is None else fitted.per_round_trip / window
    return WindowFit(
        stack=first.cell.stack,
        label=first.summary.stack_label,
        setting=" · ".join((first.operation.name, first.placement.name, *phrases(first.cell.factors))),
        placement=first.placement.name,
        way=first.way,
        window=window,
        sizes=len({member.size for member in ordered}),
        blocks=fitted.blocks,
        rtt=rtt,
        per_round_trip=fitted.per_round_trip,
        interval=fitted.interval,
        mb_per_s=fitted.per_round_trip / rtt / 1e3,
        expected_mb_per_s=None if window is None else window / rtt / 1e3,
        of_window=share,
        at_zero=fitted.at_zero,
        off_line=fitted.off_line,
        side=_side(fitted, window),
        is_free=window is not None and free is not None and free <= (1 + OFF) * fitted.per_round_trip,
    )


def _side(fitted: Fit, window: int | None) -> Side:
    """Whether the whole interval of what passes lies above, below or within what counts as the window."""
    if window is None:
        return "no window"
    if fitted.interval is None:
        return "few blocks"
    low, high = (bound / window for bound in fitted.interval)
    if low > 1 + OFF:
        return "more"
    if high < 1 - OFF:
        return "less"
    return "as" if low >= 1 - OFF and high <= 1 + OFF else "unknown"
