"""Curves made by hand: two panels over distance, one over sizes with a crossing; and a run that shows them."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.crossing import Crossing
from orchestrator.questions.axes.find import Curves, Difference, Gap, Line, Panel, Point
from orchestrator.questions.distance.find import Delivered
from orchestrator.statistics.terms import Interval
from tests.support.summaries import a_run

COLOURS = {"grpc": 0, "rest-fastapi": 1}
RTTS = (1.1, 5.2, 20.1, 50.2, 100.1)


def _around(value: float, by: float = 0.02) -> Interval:
    return value - abs(value) * by, value + abs(value) * by


def _line(stack: str, label: str, places: tuple[float, ...], medians: list[float], *, is_far: bool) -> Line:
    return Line(
        stack=stack,
        label=label,
        points=tuple(
            Point(
                cell=f"{stack}-{at:g}", at=at, median=m, interval=_around(m), wanted=float(int(at)) if is_far else None
            )
            for at, m in zip(places, medians, strict=True)
        ),
    )


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


def _over_distance(title: str, trips: float) -> Panel:
    grpc, rest = [0.3 + trips * rtt for rtt in RTTS], [0.6 + trips * rtt for rtt in RTTS]
    return Panel(
        title=title,
        lines=(
            _line("rest-fastapi", "rest (fastapi)", RTTS, rest, is_far=True),
            _line("grpc", "grpc", RTTS, grpc, is_far=True),
        ),
        gaps=(_gap(RTTS, [-0.3] * len(RTTS), None),),
    )


DISTANCE = Curves(
    axis="distance",
    title="measured round trip",
    unit="ms",
    scale="linear",
    panels=(_over_distance("connections kept open", 1.0), _over_distance("a new connection for each request", 3.0)),
)

_BYTES = (100.0, 1_000.0, 10_000.0, 100_000.0)
SIZES = Curves(
    axis="bytes",
    title="payload",
    unit="B",
    scale="log",
    panels=(
        Panel(
            title="echo",
            lines=(
                _line("rest-fastapi", "rest (fastapi)", _BYTES, [0.30, 0.40, 0.9, 6.0], is_far=False),
                _line("grpc", "grpc", _BYTES, [0.35, 0.41, 0.7, 3.0], is_far=False),
            ),
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
        why_not="",
    ),
)


def a_run_with_curves() -> RunSummary:
    """A run that shows both axes and links."""
    return replace(a_run(stacks=2), findings={"axes": (DISTANCE, SIZES), "distance": LINKS})
