"""What a run says of a reader's own place: the latency of every stack, which is fastest, or that it does not matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Literal

from orchestrator import quantities
from orchestrator.questions.prediction.predict import Estimate, Places, estimate
from orchestrator.questions.prediction.shapes import (
    MOST_MISSED,
    Fit,
    Judged,
    Modelled,
    Predicted,
    Series,
)
from orchestrator.statistics.equivalence import standing
from orchestrator.statistics.intervals import ALPHA, from_log, t_quantile
from orchestrator.statistics.terms import Interval, Standing

Outcome = Literal["ahead", "does not matter", "not resolved", "alone"]


BEYOND = 2.0
"""How many times the measured range a prediction may reach, to either side."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A reader's place: ms, bytes, Mbit/s. None of a rate: the one that the run's links had. None of a connection: each.

    `stacks` are ids; none: each.
    """

    rtt: float
    size: int
    rate_mbit: float | None = None
    connection: str | None = None
    in_flight: int = 1
    operation: str | None = None
    stacks: tuple[str, ...] = ()

    def is_of(self, series: Series) -> bool:
        """Whether the series is one that is asked about."""
        return (
            self.connection in (None, series.connection)
            and self.operation in (None, series.operation)
            and (not self.stacks or series.stack in self.stacks)
        )


@dataclass(frozen=True, kw_only=True)
class Row:
    """One stack at the place beside the fastest one; `ratio` above 1 is slower, with its 95 % interval."""

    predicted: Predicted
    standing: Standing
    ratio: float
    ratio_interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The stacks that make their requests in the same way, the fastest first."""

    setting: str
    operation: str
    rows: tuple[Row, ...]
    outcome: Outcome
    winner: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A series that is not predicted, and why."""

    series: str
    label: str
    setting: str
    why: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """All that is predicted of a place, and all that is not."""

    asked: Asked
    settings: tuple[Setting, ...]
    refused: tuple[Refused, ...]
    matters: float


def answer(modelled: Modelled, place: Asked, matters: float) -> Answer:
    """The prediction for every series that was asked about; `matters` is the share below which a difference does not."""
    judged = modelled.judged
    refused = [
        Refused(series=series.id, label=series.label, setting=series.setting, why=(modelled.not_fitted[series.id],))
        for series in modelled.series
        if series.id in modelled.not_fitted and place.is_of(series)
    ]
    measured = {series.stack for series in modelled.series}
    refused += [
        Refused(series="", label=stack, setting="", why=("it was not measured in this run",))
        for stack in place.stacks
        if stack not in measured
    ]
    by_setting: dict[tuple[str, str], list[Fit]] = {}
    for fitted in modelled.fits:
        series = fitted.series
        if not place.is_of(series):
            continue
        why = refusals(fitted, judged, place)
        if why:
            refused.append(Refused(series=series.id, label=series.label, setting=series.setting, why=why))
        else:
            by_setting.setdefault((series.setting, series.operation), []).append(fitted)
    settings = [
        _setting(*key, [at_place(fitted, judged, place) for fitted in fits], matters)
        for key, fits in by_setting.items()
    ]
    return Answer(asked=place, settings=tuple(settings), refused=tuple(refused), matters=matters)


def at_place(fitted: Fit, judged: Judged | None, place: Asked) -> tuple[Predicted, Estimate]:
    """Return what is predicted of a series at a reader's place."""
    estimated = estimate(fitted, judged, Places.one(place.rtt, place.size, rate_of(fitted, place), place.in_flight))
    latency, half = float(estimated.latency), float(estimated.half)
    predicted = Predicted(
        series=fitted.series.id,
        label=fitted.series.label,
        setting=fitted.series.setting,
        latency=latency,
        interval=(from_log(log(latency) - half), from_log(log(latency) + half)),
        causes={name: float(value) for name, value in estimated.causes.items()},
    )
    return predicted, estimated


def _setting(name: str, operation: str, stacks: list[tuple[Predicted, Estimate]], matters: float) -> Setting:
    stacks.sort(key=lambda pair: pair[0].latency)
    first, *others = stacks
    rows = [
        Row(predicted=first[0], standing="reference", ratio=1.0, ratio_interval=None),
        *(_row(each, first, len(others), matters) for each in others),
    ]
    outcome = _outcome(rows)
    winner = first[0].label if outcome == "ahead" else ""
    return Setting(setting=name, operation=operation, rows=tuple(rows), outcome=outcome, winner=winner)


def _row(each: tuple[Predicted, Estimate], first: tuple[Predicted, Estimate], compared: int, matters: float) -> Row:
    ratio = each[0].latency / first[0].latency
    sd = sqrt(float(each[1].relative) ** 2 + float(first[1].relative) ** 2)
    half = t_quantile(1 - ALPHA / compared / 2, min(each[1].freedom, first[1].freedom)) * sd
    interval = (from_log(log(ratio) - half), from_log(log(ratio) + half))
    return Row(predicted=each[0], standing=standing(interval, matters), ratio=ratio, ratio_interval=interval)


def _outcome(rows: Sequence[Row]) -> Outcome:
    standings = {row.standing for row in rows[1:]}
    if not standings:
        return "alone"
    if standings == {"tie"}:
        return "does not matter"
    return "ahead" if standings == {"slower"} else "not resolved"


# ---- where the model must not speak


def refusals(fitted: Fit, judged: Judged | None, place: Asked) -> tuple[str, ...]:
    """Why nothing is predicted of a series there, a clause each; empty where it is."""
    return (
        *_beyond(fitted, place),
        *_missed(fitted, judged),
        *_missed_in_flight(fitted, place),
    )


def rate_of(fitted: Fit, place: Asked) -> float | None:
    """The rate to predict at: the one asked for, else the run's own; None where the run knows none."""
    if place.rate_mbit is not None or fitted.rate_range is None:
        return place.rate_mbit
    return fitted.rate_range[0]


def _beyond(fitted: Fit, place: Asked) -> Iterator[str]:
    yield from _range("a round trip", place.rtt, fitted.rtt_range, quantities.ms)
    yield from _range("a payload", float(place.size), fitted.size_range, quantities.size)
    if place.rate_mbit is not None and fitted.rate_range is None:
        yield "the rate of the links is not known, so no other one can be predicted: omit --rate"
    elif place.rate_mbit is not None and fitted.rate_range is not None:
        yield from _range("a link", place.rate_mbit, fitted.rate_range, lambda rate: f"{rate:g} Mbit/s")
    elif fitted.rate_range is not None and fitted.rate_range[0] != fitted.rate_range[1]:
        low, high = fitted.rate_range
        yield f"the links had {low:g} to {high:g} Mbit/s: say which one, with --rate"
    if place.in_flight > 1 and fitted.series.shares_load:
        yield "several processes share its load, and how requests queue for them is not modelled"
    most = fitted.in_flight_range[1]
    if place.in_flight > BEYOND * most:
        yield f"{place.in_flight} requests in flight are more than twice the {most} that were measured"


def _range(what: str, value: float, measured: tuple[float, float], text: Callable[[float], str]) -> Iterator[str]:
    low, high = measured
    if not low / BEYOND <= value <= high * BEYOND:
        side = "more than twice the largest" if value > high else "less than half of the smallest"
        known = text(low) if low == high else f"{text(low)} to {text(high)}"
        yield f"{what} of {text(value)} is {side} that was measured, {known}"


def _missed(fitted: Fit, judged: Judged | None) -> Iterator[str]:
    p90 = None if judged is None else judged.by_series.get(fitted.series.id)
    if p90 is not None and p90 > MOST_MISSED:
        yield f"its sealed cells were missed by {quantities.off(p90)} at p90, more than {quantities.margin(MOST_MISSED)}"


def _missed_in_flight(fitted: Fit, place: Asked) -> Iterator[str]:
    if place.in_flight > 1 and fitted.off_in_flight is not None and fitted.off_in_flight > MOST_MISSED:
        yield (
            f"its cells with several requests in flight were missed by {quantities.off(fitted.off_in_flight)} at p90, "
            f"more than"
            f" {quantities.margin(MOST_MISSED)}: an end may use several CPUs, or wait for what the model does not know"
        )
