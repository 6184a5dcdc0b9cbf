"""Where the cost model predicts nothing, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.questions.prediction.shapes import MOST_MISSED, Fit, Judged
from orchestrator.statistics.terms import Interval, Reason, ReasonKind, because

BEYOND = 2.0
"""How many times the measured range a prediction may reach, to either side."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader's own place: ms, bytes, Mbit/s. None of a rate: that of the run's links. None of a connection: each."""

    rtt: float
    size: int
    rate_mbit: float | None = None
    connection: str | None = None


def refusals(fitted: Fit, judged: Judged | None, place: Reader) -> tuple[Reason, ...]:
    """Why nothing is predicted of a series there; empty where it is."""
    p90 = None if judged is None else judged.by_series.get(fitted.series.id)
    if p90 is None or p90 <= MOST_MISSED:
        return tuple(_beyond(fitted, place))
    return (*_beyond(fitted, place), because(ReasonKind.MISSED, p90=p90))


def rate_of(fitted: Fit, place: Reader) -> float | None:
    """The rate to predict at: the one asked for, else the run's own; None where the run knows none."""
    if place.rate_mbit is not None or fitted.rate_range is None:
        return place.rate_mbit
    return fitted.rate_range[0]


def _beyond(fitted: Fit, place: Reader) -> Iterator[Reason]:
    yield from _range("round trip", place.rtt, fitted.rtt_range)
    yield from _range("payload", float(place.size), fitted.size_range)
    if place.rate_mbit is not None and fitted.rate_range is None:
        yield because(ReasonKind.NO_RATE)
    elif place.rate_mbit is not None and fitted.rate_range is not None:
        yield from _range("link", place.rate_mbit, fitted.rate_range)
    elif fitted.rate_range is not None and fitted.rate_range[0] != fitted.rate_range[1]:
        low, high = fitted.rate_range
        yield because(ReasonKind.SEVERAL_RATES, "link", low=low, high=high)


def _range(what: str, value: float, measured: Interval) -> Iterator[Reason]:
    low, high = measured
    if not low / BEYOND <= value <= high * BEYOND:
        yield because(ReasonKind.BEYOND, what, value=value, low=low, high=high)
