"""Predictions in words: how far off they are, which stack is fastest at a place, and why nothing is predicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from orchestrator import quantities
from orchestrator.experiment.plan.schedule import FEWEST_DISTANCES, FEWEST_SIZES, NOT_OF_OWN_SERVICES
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.distance import words as link_words
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.prediction.answer import Setting
from orchestrator.questions.prediction.find import QUESTION
from orchestrator.questions.prediction.shapes import MOST_MISSED, Judged
from orchestrator.questions.prediction.surface import Surface
from orchestrator.questions.prediction.windows import LEAST_RANGE_MS
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.reasons import formatted


def trust(judged: Judged | None) -> str:
    """Return how far off predictions are, by the held-out cells."""
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


# ---- why nothing is predicted

_WHY: Mapping[ReasonKind, str] = {
    ReasonKind.OWN_CALLS: NOT_OF_OWN_SERVICES,
    ReasonKind.NO_CELLS: "none of its cells can be modelled: that takes calls over a distance that ping measured, in a"
    " closed loop, with right replies",
    ReasonKind.LOSSY: "{name} loses {share} of its packets, and loss is outside of the model: measure without `loss`",
    ReasonKind.LINK: "the link of {name} was not as configured: {link}. Measure it again",
    ReasonKind.FEW_BLOCKS: "only {blocks} of at least {needed:.0f} measured: plan more `repeats`",
    ReasonKind.FEW_SIZES: f"{{amounts}} of at least {FEWEST_SIZES} that are not held out: add sizes to `{{last}}`, such"
    " as 100 B, 10 kB and 1 MB",
    ReasonKind.FEW_DISTANCES: f"{{amounts}} of at least {FEWEST_DISTANCES} for the smallest payload, not held out and over"
    f" {LEAST_RANGE_MS:g} ms or more: add them to `distance`, such as 1ms, 20ms and 80ms",
    ReasonKind.NOT_WHOLE: "the smallest payload takes {trips:.2f} round trips, which is no whole number: look for Nagle's"
    " algorithm with delayed acknowledgements, a queue, or a link that changes",
    ReasonKind.OTHER_TRIPS: "the smallest payload takes {trips:.2f} round trips, and the protocol is known to need {bounds}:"
    " see how connections are opened, and which host answers",
    ReasonKind.OTHER_WINDOWS: "{size} over {name} take {trips:.1f} round trips {last} than its other cells imply: links or"
    " trials had different windows",
    ReasonKind.BEYOND: "a {name} of {value} is {side} that was measured, {bounds}",
    ReasonKind.NO_RATE: "the rate of the links is not known, so no other one can be predicted: omit --rate",
    ReasonKind.SEVERAL_RATES: "the links had {bounds}: say which one, with --rate",
    ReasonKind.MISSED: f"its held-out cells were missed by {{p90}} at p90, more than {quantities.margin(MOST_MISSED)}",
    ReasonKind.FULL: "a map has at most {most:.0f} stacks",
}
_UNITS: Mapping[str, tuple[str, Callable[[float], str]]] = {  # by the first name of a reason: a noun, and its amounts
    "round trip": ("distance", quantities.ms),
    "payload": ("payload", quantities.size),
    "link": ("link", lambda rate: f"{rate:g} Mbit/s"),
}


def refusals(summary: RunSummary) -> tuple[str, ...]:
    """Return why a run has no model, a sentence each; empty where it has, or none is wanted."""
    links = {link.placement: link_words.clause(link) for link in DISTANCE.of(summary)}
    modelled = QUESTION.of(summary)
    return tuple(f"{why(reason, links)}." for reason in modelled.refusals) if modelled else ()


def why(reason: Reason, links: Mapping[str, str] = {}) -> str:
    """Return why nothing is predicted, as a clause; `links` has how each placement's link differed."""
    numbers, name = reason.numbers, next(iter(reason.names), "")
    noun, unit = _UNITS.get(name, ("", quantities.number))
    amounts = list(map(unit, numbers.values()))
    value, high = numbers.get("value", 0.0), numbers.get("high", 0.0)
    texts = {
        **formatted(numbers),
        "name": name,
        "last": "".join(reason.names[-1:]),
        "link": links.get(name, ""),
        "amounts": f"{quantities.count(len(amounts), noun)} ({quantities.listed(amounts) or 'none'})",
        "value": unit(value),
        "side": "more than twice the largest" if value > high else "less than half of the smallest",
        "bounds": " to ".join(dict.fromkeys(unit(numbers[bound]) for bound in ("low", "high") if bound in numbers)),
    }
    return _WHY[reason.kind].format(**texts)
