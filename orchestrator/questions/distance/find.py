"""What each link was asked for, and what ping measured of it during the run. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median
from typing import Literal, TypeAlias

from orchestrator.evidence.run_evidence import BaselineReading
from orchestrator.experiment.plan.plan import Link, Placement, Plan
from orchestrator.questions.base import Question

Deviation: TypeAlias = Literal["no ping", "round trip", "loss"]


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What the link of a placement was asked for, and what ping measured of it during the run; ms, Mbit/s, shares.

    `measured` is the median of all pings, `low` and `high` the smallest and the largest median of a reading; `lost` the
    share of pings without an answer. `why_not` lists how it differs from the configured link.
    """

    placement: str
    wanted: float | None
    jitter: float
    rate_mbit: float | None
    loss: float
    measured: float | None
    low: float | None
    high: float | None
    lost: float | None
    pings: int
    why_not: tuple[Deviation, ...]


_MOST_SIGMAS = 4.0  # of the number of pings lost, beside what the link was asked to lose: by chance once in 16,000


def delivered(plan: Plan, readings: Sequence[BaselineReading]) -> tuple[Delivered, ...]:
    """Every placement between two hosts, in the plan's order; those without a ping say so."""
    return tuple(
        _of(placement, [r for r in readings if r.record.kind == "ping" and r.record.placement == placement.id])
        for placement in plan.placements
        if placement.kind in ("same-zone", "cross-region")
    )


def floors_by_block(readings: Sequence[BaselineReading]) -> dict[str, dict[int, float]]:
    """The round trip that ping measured, by placement and block: the median of the block's readings, ms."""
    every: dict[str, dict[int, list[float]]] = {}
    for reading in readings:
        if reading.record.kind == "ping" and reading.median_ns is not None:
            of_block = every.setdefault(reading.record.placement, {}).setdefault(reading.record.block, [])
            of_block.append(reading.median_ns / 1e6)
    return {place: {block: median(medians) for block, medians in blocks.items()} for place, blocks in every.items()}


def _of(placement: Placement, readings: Sequence[BaselineReading]) -> Delivered:
    medians = [reading.median_ns / 1e6 for reading in readings if reading.median_ns is not None]
    answered, lost = sum(reading.n for reading in readings), sum(reading.lost for reading in readings)
    measured = median(medians) if medians else None
    link = placement.link
    return Delivered(
        placement=placement.name,
        wanted=link.rtt_ms,
        jitter=link.jitter_ms,
        rate_mbit=link.rate_mbit,
        loss=link.loss,
        measured=measured,
        low=min(medians, default=None),
        high=max(medians, default=None),
        lost=lost / (answered + lost) if answered + lost else None,
        pings=answered + lost,
        why_not=tuple(_deviations(link, measured, lost, answered + lost)),
    )


def _deviations(link: Link, measured: float | None, lost: int, pings: int) -> Iterator[Deviation]:
    if link.rtt_ms is None:
        return
    if measured is None:
        yield "no ping"
    elif abs(measured - link.rtt_ms) > link.slack_ms:
        yield "round trip"
    share = 1 - (1 - link.loss) ** 2  # there and back
    if pings and abs(lost - share * pings) > _MOST_SIGMAS * sqrt(pings * share * (1 - share)) + 1:
        yield "loss"


QUESTION: Question[tuple[Delivered, ...]] = Question(
    name="distance",
    type=tuple[Delivered, ...],
    empty=(),
    find=lambda basis: delivered(basis.plan, basis.evidence.readings),
)
