"""What a decision map comes to in a sentence: from where on which stack is ahead, and whether connections matter more. Pure.

A sentence claims what holds at every place that it names, over the whole interval; else it says at how many places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from orchestrator import quantities
from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.shapes import Modelled
from orchestrator.questions.prediction.surface import EVEN, NONE, UNSURE, Grid, Surface, round_surface, ways
from orchestrator.statistics.intervals import ALPHA, t_quantile

_ENOUGH = 0.5  # of an axis, that both ends of it claim together: less is said in shares
_MOST_SHARES = 3
_CONNECTIONS = "whether connections are kept matters more than which stack"
_STACK = "which stack matters more than whether connections are kept"


@dataclass(frozen=True, kw_only=True)
class _Axis:
    """One way to cut a map into lines: `codes` is line x place."""

    values: Floats
    codes: Grid
    other: str
    of: str
    is_cut: bool  # nothing is compared beyond the last of `values`

    @property
    def until(self) -> str:
        """What follows "from ...": where a claim of the last lines ends."""
        return f"to {self.text(self.values[-1])}" if self.is_cut else "on"

    def text(self, value: float) -> str:
        return quantities.ms(value) if self.of == "distance" else bytes_text(value)


def bytes_text(value: float) -> str:
    """A number of bytes with three digits, short: `50 B`, `20 kB`, `1.5 MB`."""
    value = float(f"{value:.3g}")  # rounded first: what rounds up to the next unit is shown in that
    for limit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:.3g} B"


def rules(modelled: Modelled, matters: float) -> tuple[str, ...]:
    """All that the maps of a run come to, the broadest first; empty where it has none."""
    surfaces = [round_surface(way) for way in ways(modelled, matters)]
    of_maps = [f"{name_of(of, surfaces)}: {rule(of)}" for of in surfaces if len(of.series) > 1]
    return (*policies(surfaces), *of_maps)


def name_of(of: Surface, among: Sequence[Surface]) -> str:
    """What tells a map from the others: how requests are made, and what differs besides."""
    way = of.way
    parts = [way.setting]
    if len({other.way.operation for other in among}) > 1:
        parts.append(way.operation)
    if len({other.way.in_flight for other in among}) > 1:
        parts.append(f"{way.in_flight} in flight")
    if len({other.way.rate_mbit for other in among}) > 1 and way.rate_mbit is not None:
        parts.append(f"{way.rate_mbit:g} Mbit/s")
    return ", ".join(part for part in parts if part)


def rule(of: Surface) -> str:
    """A map in a sentence: what holds at all of it, or at both of its ends, or at how many of its places."""
    known = of.codes != NONE
    if len(of.series) < 2 or not known.any():
        return "fewer than two stacks are predicted, so nothing is compared."
    codes = set(of.codes[known].tolist())
    if len(codes) == 1:
        said = _claim(of, codes.pop())
        return f"at every distance and payload of the map {said}."
    columns, lines = known.any(axis=1), known.any(axis=0)
    inside = of.codes[columns][:, lines]
    axes = (
        _Axis(values=of.rtts[columns], codes=inside, other="the payload", of="distance", is_cut=not columns[-1]),
        _Axis(values=of.sizes[lines], codes=inside.T, other="the distance", of="payload", is_cut=not lines[-1]),
    )
    found = [(_ends(axis.codes), axis) for axis in axes]
    (first, last), axis = max(found, key=lambda each: _covered(each[0], each[1].codes))
    if _covered((first, last), axis.codes) < _ENOUGH:
        return _in_shares(of)
    return _of_ends(of, axis, first, last)


def _of_ends(of: Surface, axis: _Axis, first: int, last: int) -> str:
    """`first` lines from one end on are alike, and `last` from the other end."""
    lines = axis.codes.shape[0]
    what = "a round trip of " if axis.of == "distance" else ""
    parts = []
    if first:
        parts.append(f"up to {what}{axis.text(axis.values[first - 1])} {_claim(of, _of_line(axis.codes[0]))}")
    if last:
        what = "" if first else what
        lead = (
            "beyond it"
            if first and first + last == lines and not axis.is_cut
            else f"from {what}{axis.text(axis.values[lines - last])} {axis.until}"
        )
        parts.append(f"{lead} {_claim(of, _of_line(axis.codes[-1]))}")
    between = ""
    if first + last < lines:
        between = f"; {'between them' if first and last else 'else'} it depends on {axis.other}"
    return f"{', '.join(parts)}{between}."


def _in_shares(of: Surface) -> str:
    known = of.codes[of.codes != NONE]
    codes, counts = np.unique(known, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MOST_SHARES]
    parts: list[str] = []
    for place in order:
        where = f"at {quantities.percent(counts[place] / known.size, 0)}" + ("" if parts else " of the map's places")
        parts.append(f"{where} {_claim(of, int(codes[place]))}")
    return f"it depends on distance and payload: {', '.join(parts)}."


def _claim(of: Surface, code: int) -> str:
    if code == EVEN:
        return f"it does not matter which one (all within {quantities.margin(of.way.matters)})"
    if code == UNSURE:
        return "none is told apart from the quickest"
    names = of.names(code)
    if len(names) == 1:
        return f"{names[0]} is fastest"
    return f"{', '.join(names[:-1])} or {names[-1]} is faster than the others"


def _of_line(line: Grid) -> int:
    """The one code of a line; UNSURE where it has several, NONE where it has none."""
    known = set(line[line != NONE].tolist())
    return int(known.pop()) if len(known) == 1 else UNSURE if known else NONE


def _ends(codes: Grid) -> tuple[int, int]:
    """How many lines from the first on, and from the last on, have one claim in common."""
    lines = [_of_line(line) for line in codes]
    first, last = _run(lines), _run(lines[::-1])
    return (first, 0) if first == len(lines) else (first, last)


def _run(lines: Sequence[int]) -> int:
    if lines[0] in (UNSURE, NONE):
        return 0
    return next((place for place, code in enumerate(lines) if code != lines[0]), len(lines))


def _covered(ends: tuple[int, int], codes: Grid) -> float:
    return sum(ends) / int(codes.shape[0])


def policies(surfaces: Sequence[Surface]) -> list[str]:
    """Return for each two maps that differ in how connections are made alone whether that matters more than the stack."""
    ordered = (sorted(pair, key=lambda each: each.way.connection != "reuse") for pair in combinations(surfaces, 2))
    return [
        sentence
        for kept, new in ordered
        if _differ_in_connections_alone(kept, new) and (sentence := _policy(kept, new, surfaces))
    ]


def _policy(kept: Surface, new: Surface, among: Sequence[Surface]) -> str:
    rtts, sizes = np.intersect1d(kept.rtts, new.rtts), np.intersect1d(kept.sizes, new.sizes)
    others = {series.stack for series in new.series}
    stacks = [series.stack for series in kept.series if series.stack in others]
    if not rtts.size or not sizes.size or len(stacks) < 2:
        return ""
    cuts = [_Cut.of(surface, stacks, rtts, sizes) for surface in (kept, new)]
    times = np.abs(cuts[1].logs - cuts[0].logs)  # of a new connection over a kept one, stack x place
    sure = t_quantile(1 - ALPHA / 2, min(fit.freedom for fit in (*kept.way.fits, *new.way.fits)))
    noise = sure * np.hypot(cuts[0].relative, cuts[1].relative)
    stack_least = np.maximum(*(cut.spread - sure * cut.noise for cut in cuts))
    stack_most = np.maximum(*(cut.spread + sure * cut.noise for cut in cuts))
    matters = np.log(1 + kept.way.matters)
    is_way = (times - noise).min(axis=0) > np.maximum(stack_most, matters)
    is_stack = stack_least > np.maximum((times + noise).max(axis=0), matters)
    known = np.asarray(~np.isnan(times).any(axis=0))
    sentence = _more_important(is_way, is_stack, known, rtts)
    shared = [part for part in name_of(kept, among).split(", ") if part in name_of(new, among).split(", ")]
    where = ", ".join(shared) if len(among) > 2 else ""
    return f"{where}: {sentence}" if where and sentence else sentence[:1].upper() + sentence[1:]


def _more_important(
    is_way: npt.NDArray[np.bool_], is_stack: npt.NDArray[np.bool_], known: npt.NDArray[np.bool_], rtts: Floats
) -> str:
    """Where the way to connect matters more than the stack, of round trips x sizes that are `known`."""
    lines = np.asarray(known.any(axis=1))
    if not lines.any():
        return ""
    where = "of the map" if known.all() else "for which all stacks are predicted"
    if (is_stack | ~known).all():
        return f"at every distance and payload {where} {_STACK}."
    holds, rtts = np.asarray((is_way | ~known).all(axis=1))[lines], rtts[lines]
    far = int(next((place for place, held in enumerate(holds[::-1]) if not held), holds.size))
    if far == rtts.size:
        return f"at every distance and payload {where} {_CONNECTIONS}."
    if far >= rtts.size * _ENOUGH / 2:
        until = "on" if lines[-1] else f"to {quantities.ms(rtts[-1])}"  # no claim of a place that is not predicted
        return f"from a round trip of {quantities.ms(rtts[-far])} {until} {_CONNECTIONS}."
    shares = [float(places[known].mean()) for places in (is_way, is_stack)]
    if not any(shares):
        return "it is not resolved whether connections being kept or the stack matters more."
    of_way, of_stack = (quantities.percent(share, 0) for share in shares)
    return f"at {of_way} of the map's places {_CONNECTIONS}, at {of_stack} the stack matters more."


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """Some stacks of a surface at some places; arrays of stack x round trip x size, or of places alone."""

    logs: Floats
    relative: Floats
    spread: Floats
    noise: Floats

    @classmethod
    def of(cls, surface: Surface, stacks: Sequence[str], rtts: Floats, sizes: Floats) -> _Cut:
        order = [next(n for n, of in enumerate(surface.series) if of.stack == stack) for stack in stacks]
        places = np.ix_(np.array(order), np.isin(surface.rtts, rtts), np.isin(surface.sizes, sizes))
        logs, relative = np.log(surface.latency[places]), surface.relative[places]
        return cls(
            logs=logs,
            relative=relative,
            spread=logs.max(axis=0) - logs.min(axis=0),
            noise=np.sqrt(2) * relative.max(axis=0),
        )


def _differ_in_connections_alone(kept: Surface, new: Surface) -> bool:
    one, other = kept.way, new.way
    if (one.connection, other.connection) != ("reuse", "per-request"):
        return False
    if (one.operation, one.in_flight, one.rate_mbit) != (other.operation, other.in_flight, other.rate_mbit):
        return False
    phrases = set(one.setting.split(", ")), set(other.setting.split(", "))
    return len(phrases[0] - phrases[1]) <= 1 and len(phrases[1] - phrases[0]) <= 1
