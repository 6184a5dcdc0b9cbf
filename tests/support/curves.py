"""Curves made by hand: two panels over distance, one over sizes with a crossing; and a run that shows them."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.crossing import Crossing
from orchestrator.questions.axes.find import Curves, Difference, Gap, Panel
from orchestrator.questions.distance.find import Delivered
from orchestrator.statistics.terms import Interval
from tests.support.summaries import a_run

RTTS = (1.1, 5.2, 20.1, 50.2, 100.1)


def _around(value: float, by: float = 0.02) -> Interval:
    return value - abs(value) * by, value + abs(value) * by


def _gap(places: tuple[float, ...], differences: list[float], crossing: Crossing | None) -> Gap:
    return Gap(
        stack="grpc",
        label="grpc",
        reference_label="rest (fastapi)",
        points=tuple(
            Difference(at=at, difference=d, interval=_around(d, 0.3), standing="faster" if d < 0 else "slower")
            for at, d in zip(places, differences, strict=True)
        ),
        crossing=crossing,
    )


def _over_distance(title: str) -> Panel:
    return Panel(title=title, gaps=(_gap(RTTS, [-0.3] * len(RTTS), None),))


DISTANCE = Curves(
    axis="distance",
    title="measured round trip",
    panels=(_over_distance("connections kept open"), _over_distance("a new connection for each request")),
)

_BYTES = (100.0, 1_000.0, 10_000.0, 100_000.0)
SIZES = Curves(
    axis="bytes",
    title="payload",
    panels=(
        Panel(
            title="echo",
            gaps=(_gap(_BYTES, [0.05, 0.01, -0.2, -3.0], Crossing(at=1_110.0, low=700.0, high=1_900.0)),),
        ),
    ),
)

LINKS = (
    Delivered(
        placement="distance-20ms",
        wanted=20.0,
        jitter=0.0,
        rate_mbit=1000.0,
        loss=0.0,
        measured=20.1,
        low=20.05,
        high=20.4,
        lost=0.0,
        pings=980,
        why_not=(),
    ),
)


def a_run_with_curves() -> RunSummary:
    """A run that shows both axes and links."""
    return replace(a_run(stacks=2), findings={"axes": (DISTANCE, SIZES), "distance": LINKS})
