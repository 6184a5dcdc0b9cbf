"""Predictions in words: how far off they are, and which stack is fastest at a place."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.questions.prediction.answer import Setting
from orchestrator.questions.prediction.shapes import MOST_MISSED, Judged
from orchestrator.questions.prediction.surface import Surface


def trust(judged: Judged | None) -> str:
    """Return how far off predictions are, by the sealed cells."""
    if judged is None:
        return "No cell was held out, so the error is not known: plan the run with `predict: {hold_out: 20%}`."
    places, right = judged.winners
    labels = {cell.series: f"{cell.label}, {cell.setting}" for cell in judged.cells}
    missed = [labels[name] for name, p90 in judged.by_series.items() if p90 > MOST_MISSED]
    texts = [
        f"{quantities.count(len(judged.cells), 'held-out cell')}: the model was off by {quantities.off(judged.median)} at"
        f" the median and {quantities.off(judged.p90)} at p90; {quantities.percent(judged.coverage)} lay in its 90 %"
        " intervals.",
        f"Not predicted, as missed by more than {quantities.margin(MOST_MISSED)}: {'; '.join(missed)}."
        if missed
        else "",
        f"The predicted stack was the fastest at {right} of {quantities.count(places, 'place')}." if places else "",
        f"{judged.not_judged} more held-out cells are invalid, not measured, or without a fit."
        if judged.not_judged
        else "",
    ]
    return " ".join(filter(None, texts))


def outcome(setting: Setting, matters: float) -> str:
    """Return which stack is predicted to be the fastest at a place."""
    first, *others = setting.rows
    label, limit = first.label, quantities.margin(matters)
    if setting.outcome == "alone":
        return f"{label} alone is predicted."
    if setting.outcome == "does not matter":
        return f"It does not matter: all lie within {limit} of {label}."
    if setting.outcome == "ahead":
        by = quantities.ms(others[0].latency - first.latency)
        difference = quantities.difference(others[0].ratio - 1)
        return f"{label} is faster than {others[0].label} by {by}, {difference}."
    groups = {
        f"within {limit} of it": [row for row in others if row.standing == "tie"],
        "no significant difference from it": [row for row in others if row.standing not in ("tie", "slower")],
        "slower": [row for row in others if row.standing == "slower"],
    }
    parts = [f"{head}: {quantities.listed([row.label for row in rows])}" for head, rows in groups.items() if rows]
    return f"{label} is predicted first; {'; '.join(parts)}."


def bytes_text(value: float) -> str:
    """Return a number of bytes with three digits, short: `50 B`, `20 kB`, `1.5 MB`."""
    value = float(f"{value:.3g}")  # rounded first: what rounds up to the next unit is shown in that
    for limit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:.3g} B"


def name_of(surface: Surface, among: Sequence[Surface]) -> str:
    """Return how requests of a map are made, and what else differs from the other maps."""
    way = surface.way
    parts = [way.setting]
    if len({other.way.operation for other in among}) > 1:
        parts.append(way.operation)
    if len({other.way.rate_mbit for other in among}) > 1 and way.rate_mbit is not None:
        parts.append(f"{way.rate_mbit:g} Mbit/s")
    return ", ".join(filter(None, parts))
