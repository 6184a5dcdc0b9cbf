"""Predictions in words: how far off they are, which stack is fastest at a place, and what a decision map comes to.

A sentence about a map claims what holds at every place that it names; else it says at how many places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator import quantities
from orchestrator.questions.prediction.answer import Setting
from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.shapes import MOST_MISSED, Judged, Modelled
from orchestrator.questions.prediction.surface import EVEN, NONE, UNSURE, Grid, Surface, round_surface, ways

_ENOUGH = 0.5  # of an axis, which both ends of it claim together: less is given in shares
_MOST_SHARES = 3
_WIDER_FROM = 1.2  # times as wide


def trust(judged: Judged | None) -> str:
    """Return how far off predictions are, by the sealed cells."""
    if judged is None:
        return "No cell was held out, so the error is not known: plan the run with `predict: {hold_out: 20%}`."
    places, right = judged.winners
    labels = {cell.series: f"{cell.label}, {cell.setting}" for cell in judged.cells}
    missed = [labels[name] for name, p90 in judged.by_series.items() if p90 > MOST_MISSED]
    most = max(judged.widened.values(), default=1.0)
    texts = [
        f"{quantities.count(len(judged.cells), 'held-out cell')}: the model was off by {quantities.off(judged.median)} at"
        f" the median and {quantities.off(judged.p90)} at p90; {quantities.percent(judged.coverage)} lay in its 90 %"
        " intervals.",
        f"Not predicted, as missed by more than {quantities.margin(MOST_MISSED)}: {'; '.join(missed)}."
        if missed
        else "",
        f"Intervals are up to {quantities.factor(most)} times as wide for it." if most >= _WIDER_FROM else "",
        f"The predicted stack was the fastest at {right} of {quantities.count(places, 'place')}." if places else "",
        f"{judged.not_judged} more held-out cells are invalid, not measured, or without a fit."
        if judged.not_judged
        else "",
    ]
    return " ".join(filter(None, texts))


def outcome(setting: Setting, matters: float) -> str:
    """Return which stack is predicted to be the fastest at a place."""
    first, *others = setting.rows
    label, limit = first.predicted.label, quantities.margin(matters)
    if setting.outcome == "alone":
        return f"{label} alone is predicted."
    if setting.outcome == "does not matter":
        return f"It does not matter: all lie within {limit} of {label}."
    if setting.outcome == "ahead":
        by = quantities.ms(others[0].predicted.latency - first.predicted.latency)
        difference = quantities.difference(others[0].ratio - 1)
        return f"{label} is faster than {others[0].predicted.label} by {by}, {difference}."
    groups = {
        f"within {limit} of it": [row for row in others if row.standing == "tie"],
        "no significant difference from it": [row for row in others if row.standing not in ("tie", "slower")],
        "slower": [row for row in others if row.standing == "slower"],
    }
    parts = [
        f"{head}: {quantities.listed([row.predicted.label for row in rows])}" for head, rows in groups.items() if rows
    ]
    return f"{label} is predicted first; {'; '.join(parts)}."


def bytes_text(value: float) -> str:
    """Return a number of bytes with three digits, short: `50 B`, `20 kB`, `1.5 MB`."""
    value = float(f"{value:.3g}")  # rounded first: what rounds up to the next unit is shown in that
    for limit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:.3g} B"


# ---- maps


def rules(modelled: Modelled | None, matters: float) -> tuple[str, ...]:
    """Return what each map of several stacks comes to; empty without a model."""
    surfaces = [] if modelled is None else [round_surface(way) for way in ways(modelled, matters)]
    return tuple(f"{name_of(each, surfaces)}: {rule(each)}" for each in surfaces if len(each.series) > 1)


def name_of(surface: Surface, among: Sequence[Surface]) -> str:
    """Return how requests of a map are made, and what else differs from the other maps."""
    way = surface.way
    parts = [way.setting]
    if len({other.way.operation for other in among}) > 1:
        parts.append(way.operation)
    if len({other.way.in_flight for other in among}) > 1:
        parts.append(f"{way.in_flight} in flight")
    if len({other.way.rate_mbit for other in among}) > 1 and way.rate_mbit is not None:
        parts.append(f"{way.rate_mbit:g} Mbit/s")
    return ", ".join(filter(None, parts))


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """A way to cut a map into lines: `codes` is line x place, NONE where fewer than two stacks are predicted."""

    values: Floats
    codes: Grid
    name: str
    other: str

    def ends(self) -> tuple[int, int]:
        """How many lines from the first on, and from the last on, have one claim in common."""
        lines = [_of_line(line) for line in self.codes]
        first = _run(lines)
        return first, 0 if first == len(lines) else _run(lines[::-1])

    def text(self, place: int) -> str:
        value = float(self.values[place])
        return f"a round trip of {quantities.ms(value)}" if self.name == "distance" else bytes_text(value)


def rule(surface: Surface) -> str:
    """Return a map in a sentence: what holds at all of it, at both ends of an axis, or at how many of its places."""
    known = surface.codes != NONE
    if not known.any():
        return "fewer than two stacks are predicted, so nothing is compared."
    codes, counts = np.unique(surface.codes[known], return_counts=True)
    if codes.size == 1:
        return f"at every distance and payload of the map {_claim(surface, int(codes[0]))}."
    columns, lines = known.any(axis=1), known.any(axis=0)
    inside = surface.codes[columns][:, lines]
    axes = (
        _Axis(values=surface.rtts[columns], codes=inside, name="distance", other="payload"),
        _Axis(values=surface.sizes[lines], codes=inside.T, name="payload", other="distance"),
    )
    axis = max(axes, key=lambda each: sum(each.ends()) / len(each.values))
    first, last = axis.ends()
    count = len(axis.values)
    if (first + last) / count < _ENOUGH:
        order = np.argsort(-counts, kind="stable")[:_MOST_SHARES]
        shares = [(quantities.percent(counts[n] / known.sum(), 0), _claim(surface, int(codes[n]))) for n in order]
        return f"of the map's places, {', '.join(f'at {share} {claim}' for share, claim in shares)}."
    parts = [f"up to {axis.text(first - 1)} {_claim(surface, _of_line(axis.codes[0]))}"] if first else []
    if last:
        begin, end = axis.text(count - last), axis.text(count - 1)
        parts.append(f"from {begin} to {end} {_claim(surface, _of_line(axis.codes[-1]))}")
    if first + last < count:
        parts.append(f"elsewhere it depends on {axis.other}")
    return f"{', '.join(parts)}."


def _claim(surface: Surface, code: int) -> str:
    if code == EVEN:
        return f"it does not matter which one (all within {quantities.margin(surface.way.matters)})"
    if code == UNSURE:
        return "there is no significant difference"
    names = surface.names(code)
    fastest = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    return f"{fastest} is fastest"


def _of_line(line: Grid) -> int:
    """The one code of a line; UNSURE where it has several, NONE where it has none."""
    known = set(line[line != NONE].tolist())
    return int(known.pop()) if len(known) == 1 else UNSURE if known else NONE


def _run(lines: Sequence[int]) -> int:
    if lines[0] in (UNSURE, NONE):
        return 0
    return next((place for place, code in enumerate(lines) if code != lines[0]), len(lines))
