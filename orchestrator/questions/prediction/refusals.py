"""Where the cost model predicts nothing, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.questions.prediction.shapes import MOST_MISSED, Fit, Judged

BEYOND = 2.0
"""How many times the measured range a prediction may reach, to either side."""


@dataclass(frozen=True, kw_only=True)
class Reader:
    """A reader's own place: ms, bytes, Mbit/s. None of a rate: that of the run's links. None of a connection: each."""

    rtt: float
    size: int
    rate_mbit: float | None = None
    connection: str | None = None


def refusals(fitted: Fit, judged: Judged | None, place: Reader) -> tuple[str, ...]:
    """Why nothing is predicted of a series there, a clause each; empty where it is."""
    p90 = None if judged is None else judged.by_series.get(fitted.series.id)
    if p90 is None or p90 <= MOST_MISSED:
        return tuple(_beyond(fitted, place))
    missed = f"missed by {quantities.off(p90)} at p90, more than {quantities.margin(MOST_MISSED)}"
    return (*_beyond(fitted, place), f"its sealed cells were {missed}")


def rate_of(fitted: Fit, place: Reader) -> float | None:
    """The rate to predict at: the one asked for, else the run's own; None where the run knows none."""
    if place.rate_mbit is not None or fitted.rate_range is None:
        return place.rate_mbit
    return fitted.rate_range[0]


def _beyond(fitted: Fit, place: Reader) -> Iterator[str]:
    yield from _range("a round trip", place.rtt, fitted.rtt_range, quantities.ms)
    yield from _range("a payload", float(place.size), fitted.size_range, quantities.size)
    if place.rate_mbit is not None and fitted.rate_range is None:
        yield "the rate of the links is not known, so no other one can be predicted: omit --rate"
    elif place.rate_mbit is not None and fitted.rate_range is not None:
        yield from _range("a link", place.rate_mbit, fitted.rate_range, lambda rate: f"{rate:g} Mbit/s")
    elif fitted.rate_range is not None and fitted.rate_range[0] != fitted.rate_range[1]:
        low, high = fitted.rate_range
        yield f"the links had {low:g} to {high:g} Mbit/s: say which one, with --rate"


def _range(what: str, value: float, measured: tuple[float, float], text: Callable[[float], str]) -> Iterator[str]:
    low, high = measured
    if not low / BEYOND <= value <= high * BEYOND:
        side = "more than twice the largest" if value > high else "less than half of the smallest"
        known = text(low) if low == high else f"{text(low)} to {text(high)}"
        yield f"{what} of {text(value)} is {side} that was measured, {known}"
