"""How many round trips a request takes: the slope of its latency over the round trip that was measured. Pure.

In each block a straight line is fitted (least squares) to the medians of its trials over the round trips that ping
measured beside them; the slopes of the blocks are the replicates, and their mean has a t-interval.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.evidence.run_evidence import round_trips_to_open
from orchestrator.experiment.model.factors import phrases
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.block_values import by_block
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.axes.axis import AXES, DISTANCE
from orchestrator.questions.axes.find import Floors, by_stack, settings
from orchestrator.questions.base import Basis, Question
from orchestrator.questions.distance.links import Delivered, delivered, floors_by_block
from orchestrator.statistics.intervals import mean_interval
from orchestrator.statistics.terms import Interval

MOST_OFF = 0.15  # round trips between a slope and a whole number: what makes either end slower with the distance


FEWEST_DISTANCES = 3
_LEAST_RANGE_MS = 1.0  # between the nearest and the farthest: below it the hosts' own work outweighs the distance


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Round trips with the 95 % t-interval over the blocks' slopes; None with fewer than three blocks.

    `at_zero` is what the line says of a round trip of 0 ms, `off_line` the largest distance between it and a measured mean,
    in ms: where that is large, latency is not round trips and a constant.
    """

    round_trips: float
    interval: Interval | None
    at_zero: float
    off_line: float
    distances: int
    blocks: int


@dataclass(frozen=True, kw_only=True)
class RoundTrips(Fit):
    """How many round trips a request takes, and how many the connection policy implies at least (`implied`)."""

    stack: str  # id
    label: str
    setting: str
    connection: str
    implied: int

    @property
    def nearest(self) -> int:
        """The whole number that is nearest to the slope."""
        return round(self.round_trips)

    @property
    def is_as_implied(self) -> bool:
        """Whether that is the number implied, and the slope no further from it than a measurement may be."""
        return self.nearest == self.implied and abs(self.round_trips - self.implied) <= MOST_OFF


def fit(medians: Mapping[str, Mapping[int, float]], floors: Mapping[str, Mapping[int, float]]) -> Fit | None:
    """The fit over all blocks that hold every distance; None with fewer than three distances, or none 1 ms apart.

    `medians` and `floors`: by placement and block, ms.
    """
    names = [name for name in medians if medians[name] and floors.get(name)]
    if len(names) < FEWEST_DISTANCES:
        return None
    shared = set.intersection(*(set(medians[name]) & set(floors[name]) for name in names))
    if not shared:
        return None
    x, y = (np.array([[by[name][block] for name in names] for block in sorted(shared)]) for by in (floors, medians))
    if np.ptp(x, axis=1).min() < _LEAST_RANGE_MS:
        return None
    middle = x - x.mean(axis=1, keepdims=True)
    slopes = (middle * (y - y.mean(axis=1, keepdims=True))).sum(axis=1) / (middle**2).sum(axis=1)
    mean, base = float(slopes.mean()), float((y.mean(axis=1) - slopes * x.mean(axis=1)).mean())
    residuals = y.mean(axis=0) - (base + mean * x.mean(axis=0))
    return Fit(
        round_trips=mean,
        interval=mean_interval(slopes),
        at_zero=base,
        off_line=float(np.abs(residuals).max()),
        distances=len(names),
        blocks=slopes.size,
    )


def round_trips(
    plan: Plan, cells: Sequence[CellSummary], floors: Floors, invalid: Container[str]
) -> tuple[RoundTrips, ...]:
    """Of every stack and way to call: the slope of latency over distance, where requests do not wait for one another."""
    axis = next(axis for axis in AXES if axis.name == DISTANCE)
    results = []
    for placed in settings(plan, cells, invalid, axis).values():
        for members in by_stack(placed):
            first = members[0]
            load, is_called = first.cell.load, first.cell.kind in ("call", "task")
            medians = {m.placement.id: by_block(m.summary.trials, "median") for m in members}
            if not is_called or load.concurrency > 1 or load.rate_per_s is not None:
                continue
            if (fitted := fit(medians, floors)) is None:
                continue
            stack = next(stack for stack in plan.stacks if stack.id == first.cell.stack)
            opening = round_trips_to_open(stack) + first.cell.handshakes
            opens = opening if first.cell.connection == "per-request" else 0
            results.append(
                RoundTrips(
                    **vars(fitted),
                    stack=first.cell.stack,
                    label=first.summary.stack_label,
                    setting=" · ".join((first.operation.label, *phrases(first.cell.factors))),
                    connection=first.cell.connection,
                    implied=first.cell.in_a_row + opens,
                )
            )
    return tuple(results)


@dataclass(frozen=True, kw_only=True)
class Distance:
    """How many round trips requests take, and what the links between hosts were."""

    round_trips: tuple[RoundTrips, ...] = ()
    links: tuple[Delivered, ...] = ()


def _find(basis: Basis) -> Distance:
    """Return what a run says of its distances."""
    plan, cells, readings = basis.plan, basis.summary.cells, basis.evidence.readings
    floors = floors_by_block(readings)
    return Distance(round_trips=round_trips(plan, cells, floors, basis.invalid), links=delivered(plan, readings))


QUESTION = Question(name="distance", type=Distance, empty=Distance(), find=_find)
