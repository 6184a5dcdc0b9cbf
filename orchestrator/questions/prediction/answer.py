"""What a run predicts of a reader's own place: the latency of every stack, and which one is fastest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Final, Literal

import numpy as np

from orchestrator.questions.prediction.refusals import Reader, refusals
from orchestrator.questions.prediction.shapes import Fit, Modelled
from orchestrator.questions.prediction.surface import EVEN, NONE, TIE, UNRESOLVED, Surface, Way, surface
from orchestrator.statistics.intervals import from_log
from orchestrator.statistics.terms import Interval, Reason, Standing

Outcome = Literal["ahead", "does not matter", "not resolved", "alone"]

_OUTCOMES: Final[Mapping[int, Outcome]] = {NONE: "alone", EVEN: "does not matter"}
_STANDINGS: Final[Mapping[int, Standing]] = {TIE: "tie", UNRESOLVED: "not resolved"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """The median latency of one stack at a place, beside the fastest one; `ratio` above 1 is slower."""

    series: str
    label: str
    setting: str
    latency: float
    interval: Interval
    causes: dict[str, float]  # distance, wire, windows, hosts: they add up to `latency`
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
    why: tuple[Reason, ...]


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
        if series.id in modelled.not_fitted and place.connection in (None, series.connection)
    ]
    by_setting: dict[object, list[Fit]] = {}
    for fitted in modelled.fits:
        series = fitted.series
        if place.connection not in (None, series.connection):
            continue
        if why := refusals(fitted, modelled.judged, place):
            refused.append(Refused(series=series.id, label=series.label, setting=series.setting, why=why))
        else:
            by_setting.setdefault((series.call, series.operation), []).append(fitted)
    settings = []
    for fits in by_setting.values():
        way = Way(fits=tuple(fits), rate_mbit=place.rate_mbit, judged=modelled.judged, matters=matters)
        settings.append(_setting(surface(way, np.array([place.rtt]), np.array([float(place.size)]))))
    return Answer(place=place, settings=tuple(settings), refused=tuple(refused), matters=matters)


def _setting(point: Surface) -> Setting:
    rows = rows_of(point)
    standings = {row.standing for row in rows[1:]}
    outcome: Outcome = "ahead" if standings == {"slower"} else _OUTCOMES.get(int(point.codes[0, 0]), "not resolved")
    return Setting(
        setting=point.way.setting,
        operation=point.way.operation,
        rows=tuple(rows),
        outcome=outcome,
        winner=rows[0].label if outcome == "ahead" else "",
    )


def rows_of(point: Surface) -> list[Row]:
    """Return what a surface of one place predicts of each stack, the fastest first."""
    rows: list[Row] = []
    for stack in np.argsort(point.latency[:, 0, 0], kind="stable").tolist():
        series, latency, half = point.series[stack], float(point.latency[stack, 0, 0]), float(point.half[stack, 0, 0])
        row = Row(
            series=series.id,
            label=series.label,
            setting=series.setting,
            latency=latency,
            interval=(from_log(log(latency) - half), from_log(log(latency) + half)),
            causes={name: float(values[stack, 0, 0]) for name, values in point.causes.items()},
            standing=_STANDINGS.get(int(point.standing[stack, 0, 0]), "slower") if rows else "reference",
            ratio=latency / rows[0].latency if rows else 1.0,
        )
        rows.append(row)
    return rows
