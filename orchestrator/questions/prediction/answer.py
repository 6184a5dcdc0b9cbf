"""What a run predicts of a reader's own place: the latency of every stack, and which one is fastest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final, Literal

import numpy as np

from orchestrator.questions.prediction.refusals import Reader, refusals
from orchestrator.questions.prediction.shapes import Fit, Modelled, Predicted
from orchestrator.questions.prediction.surface import EVEN, NONE, TIE, UNRESOLVED, Surface, Way, surface
from orchestrator.statistics.intervals import from_log
from orchestrator.statistics.terms import Standing

Outcome = Literal["ahead", "does not matter", "not resolved", "alone"]

_OUTCOMES: Final[Mapping[int, Outcome]] = {NONE: "alone", EVEN: "does not matter"}
_STANDINGS: Final[Mapping[int, Standing]] = {TIE: "tie", UNRESOLVED: "not resolved"}


@dataclass(frozen=True, kw_only=True)
class Row(Predicted):
    """One stack at the place beside the fastest one; `ratio` above 1 is slower."""

    standing: Standing
    ratio: float


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

    place: Reader
    settings: tuple[Setting, ...]
    refused: tuple[Refused, ...]
    matters: float


def answer(modelled: Modelled, place: Reader, matters: float) -> Answer:
    """Return the prediction of every series that the reader wants; a difference below `matters`, a share, does not count."""
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
        if why := refusals(fitted, modelled.judged, place):
            refused.append(Refused(series=series.id, label=series.label, setting=series.setting, why=why))
        else:
            by_setting.setdefault((series.setting, series.operation), []).append(fitted)
    settings = []
    for (setting, operation), fits in by_setting.items():
        way = Way(
            setting=setting,
            operation=operation,
            connection=fits[0].series.connection,
            rate_mbit=place.rate_mbit,
            fits=tuple(fits),
            refused={},
            judged=modelled.judged,
            matters=matters,
        )
        settings.append(_setting(surface(way, np.array([place.rtt]), np.array([float(place.size)]))))
    return Answer(place=place, settings=tuple(settings), refused=tuple(refused), matters=matters)


def _setting(point: Surface) -> Setting:
    """The stacks of a surface of one place."""
    order = np.argsort(point.latency[:, 0, 0], kind="stable").tolist()
    least = float(point.latency[order[0], 0, 0])
    rows = [
        Row(
            **vars(predicted(point, stack)),
            standing=_STANDINGS.get(int(point.standing[stack, 0, 0]), "slower") if stack != order[0] else "reference",
            ratio=float(point.latency[stack, 0, 0]) / least,
        )
        for stack in order
    ]
    standings = {row.standing for row in rows[1:]}
    outcome: Outcome = "ahead" if standings == {"slower"} else _OUTCOMES.get(int(point.codes[0, 0]), "not resolved")
    return Setting(
        setting=point.way.setting,
        operation=point.way.operation,
        rows=tuple(rows),
        outcome=outcome,
        winner=rows[0].label if outcome == "ahead" else "",
    )


def predicted(point: Surface, stack: int) -> Predicted:
    """Return what a surface of one place predicts of a stack, by its number."""
    series, latency, half = point.series[stack], float(point.latency[stack, 0, 0]), float(point.half[stack, 0, 0])
    return Predicted(
        series=series.id,
        label=series.label,
        setting=series.setting,
        latency=latency,
        interval=(from_log(log(latency) - half), from_log(log(latency) + half)),
        causes={name: float(values[stack, 0, 0]) for name, values in point.causes.items()},
    )
