"""What a run says of a reader's own place: the latency of every stack, who is ahead, or that it does not matter. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import log, sqrt
from typing import Any, Literal

from orchestrator import quantities
from orchestrator.questions.prediction.predict import Places, at, predicted
from orchestrator.questions.prediction.refusals import Asked, beyond_rival, rate_of, refusals
from orchestrator.questions.prediction.rivals import RIVALS, of_rate, off
from orchestrator.questions.prediction.shapes import LEVEL, MODEL, Fit, Judged, Method, Modelled, Predicted
from orchestrator.statistics.equivalence import standing
from orchestrator.statistics.intervals import ALPHA, from_log, t_quantile
from orchestrator.statistics.terms import Interval, Standing

Outcome = Literal["ahead", "does not matter", "not resolved", "alone"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One stack at the place, and how it stands to the quickest one; `ratio` above 1 is slower, with its 95 % interval."""

    predicted: Predicted
    standing: Standing
    ratio: float
    ratio_interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The stacks that make their requests in the same way, the quickest first; `said` names the winner, if there is one."""

    setting: str
    operation: str
    rows: tuple[Row, ...]
    outcome: Outcome
    winner: str
    said: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A series of which nothing is predicted, and why."""

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
    method: Method
    trust: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def answer(modelled: Modelled, asked: Asked, matters: float) -> Answer:
    """The prediction for every series that was asked about; `matters` is the share below which a difference does not."""
    judged = modelled.judged
    method: Method = MODEL if judged is None else judged.used
    refused = [
        Refused(series=series.id, label=series.label, setting=series.setting, why=(modelled.not_fitted[series.id],))
        for series in modelled.series
        if series.id in modelled.not_fitted and asked.is_of(series)
    ]
    measured = {series.stack for series in modelled.series}
    refused += [
        Refused(series="", label=stack, setting="", why=("it was not measured in this run",))
        for stack in asked.stacks
        if stack not in measured
    ]
    by_setting: dict[tuple[str, str], list[Fit]] = {}
    for fitted in modelled.fits:
        series = fitted.series
        if not asked.is_of(series):
            continue
        why = refusals(fitted, judged, asked)
        if method != MODEL:
            why = (*why, *beyond_rival(fitted, method, asked))
        if why:
            refused.append(Refused(series=series.id, label=series.label, setting=series.setting, why=why))
        else:
            by_setting.setdefault((series.setting, series.operation), []).append(fitted)
    settings = [
        _setting(*key, [_at(fitted, judged, method, asked) for fitted in fits], matters)
        for key, fits in by_setting.items()
    ]
    return Answer(
        asked=asked,
        settings=tuple(settings),
        refused=tuple(refused),
        method=method,
        trust="no cell was sealed, so nobody knows how far this is off: plan the run with `predict: {hold_out: 20%}`."
        if judged is None
        else judged.said,
    )


@dataclass(frozen=True, kw_only=True)
class _At:
    """A prediction, and how far it may be off beside another one of the same blocks: as a share, with its freedom."""

    predicted: Predicted
    relative: float
    freedom: float


def _at(fitted: Fit, judged: Judged | None, method: Method, asked: Asked) -> _At:
    rate = rate_of(fitted, asked)
    wider = 1.0 if judged is None else judged.widened.get(fitted.series.id, 1.0)
    of_model = predicted(fitted, asked.rtt, asked.size, rate, asked.in_flight, wider)
    found = at(fitted, Places.one(asked.rtt, asked.size, rate, asked.in_flight))
    if method == MODEL or judged is None:
        return _At(
            predicted=of_model, relative=wider * float(found.sd_beside) / of_model.latency, freedom=found.freedom
        )
    sd, freedom = off(judged, fitted.series.id, method)
    half = t_quantile(0.5 + LEVEL / 2, freedom) * sd
    latency = RIVALS[method](of_rate(fitted.cells, rate), asked.rtt, asked.size)
    plainer = replace(
        of_model,
        latency=latency,
        interval=(from_log(log(latency) - half), from_log(log(latency) + half)),
        method=method,
        causes={},
    )
    return _At(predicted=plainer, relative=sd, freedom=freedom)


def _setting(name: str, operation: str, found: list[_At], matters: float) -> Setting:
    found.sort(key=lambda each: each.predicted.latency)
    first = found[0]
    rows = [
        Row(predicted=each.predicted, standing="reference", ratio=1.0, ratio_interval=None)
        if each is first
        else _row(each, first, len(found) - 1, matters)
        for each in found
    ]
    outcome, said = _outcome(rows, matters)
    return Setting(
        setting=name,
        operation=operation,
        rows=tuple(rows),
        outcome=outcome,
        winner=first.predicted.label if outcome == "ahead" else "",
        said=said,
    )


def _row(each: _At, first: _At, compared: int, matters: float) -> Row:
    ratio = each.predicted.latency / first.predicted.latency
    sd = sqrt(each.relative**2 + first.relative**2)
    half = t_quantile(1 - ALPHA / compared / 2, min(each.freedom, first.freedom)) * sd
    interval = (from_log(log(ratio) - half), from_log(log(ratio) + half))
    return Row(predicted=each.predicted, standing=standing(interval, matters), ratio=ratio, ratio_interval=interval)


def _outcome(rows: Sequence[Row], matters: float) -> tuple[Outcome, str]:
    first, *others = rows
    label, limit = first.predicted.label, quantities.margin(matters)
    if not others:
        return "alone", f"{label} alone is predicted."
    if all(row.standing == "tie" for row in others):
        return "does not matter", f"It does not matter: all lie within {limit} of {label}."
    if all(row.standing == "slower" for row in others):
        second = others[0]
        by = second.predicted.latency - first.predicted.latency
        return (
            "ahead",
            f"{label} is ahead of {second.predicted.label} by {quantities.ms(by)}, "
            f"{quantities.difference(second.ratio - 1)}.",
        )
    near = [row.predicted.label for row in others if row.standing == "tie"]
    unsure = [row.predicted.label for row in others if row.standing not in ("tie", "slower")]
    behind = [row.predicted.label for row in others if row.standing == "slower"]
    parts = [f"within {limit} of it: {quantities.listed(near)}"] if near else []
    parts += [f"not told apart from it: {quantities.listed(unsure)}"] if unsure else []
    parts += [f"slower: {quantities.listed(behind)}"] if behind else []
    return "not resolved", f"{label} is predicted first; {'; '.join(parts)}."
