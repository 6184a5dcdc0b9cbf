"""What the part *Prediction* shows: the decision maps, their tables, what the sliders read, and the held-out cells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.shapes import Judged, Modelled, SealedCell
from orchestrator.questions.prediction.surface import (
    EVEN,
    NONE,
    STEPS,
    UNSURE,
    Surface,
    round_surface,
    ways,
)
from orchestrator.questions.prediction.words import bytes_text, name_of, rule, trust
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.map import decision_map
from orchestrator.report.figures.sealed import errors
from orchestrator.report.page import pack, shown

MOST_MAPS = 6
"""Maps that are drawn; of more settings the others have their sentence."""
MOST_LETTERS = 40_000
"""Of what the sliders of all maps read, in the page: beyond it they stop at fewer places."""

_MOST_SEALED = 20  # rows of the table of sealed cells
_IN_TABLE = 4
_SPARSER = (STEPS, (1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,))


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell of the table: who is ahead, the quickest one's latency (ms), and how many ms the slowest takes more."""

    who: str
    latency: float | None
    apart: float | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """A payload, and what is predicted of it at each round trip of the table."""

    size: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, kw_only=True)
class MapView:
    """One decision map. `packed` is what its sliders read (`page.pack`), `begin` the places at which they stand at first."""

    slug: str
    title: str
    rule: str
    figure: Figure
    refused: dict[str, str]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    packed: str
    rtts: tuple[float, ...]
    sizes: tuple[float, ...]
    begin: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class PredictionView:
    """All of the part. `others` are names and sentences of maps that are not drawn, `missed` the cells furthest off."""

    modelled: Modelled
    lead: str
    maps: tuple[MapView, ...]
    others: tuple[tuple[str, str], ...]
    sealed: Judged | None
    trust: str
    missed: tuple[SealedCell, ...]
    errors: Figure | None


def prediction_view(summary: RunSummary, colours: Mapping[str, int]) -> PredictionView | None:
    """What a run with a model shows, or why it has none; None where nothing was to be predicted."""
    modelled = PREDICTION.of(summary)
    if modelled is None:
        return None
    found = ways(modelled, summary.matters)
    surfaces = [round_surface(way) for way in found]
    compared = [each for each in surfaces if len(each.series) > 1]
    drawn = compared[:MOST_MAPS]
    packed = _packed(drawn, colours)
    return PredictionView(
        modelled=modelled,
        lead=f"{name_of(compared[0], surfaces)}: {rule(compared[0])}" if compared else "",
        maps=tuple(
            _view(number, each, name_of(each, surfaces), of, text, colours)
            for number, (each, (of, text)) in enumerate(zip(drawn, packed, strict=True), start=1)
        ),
        others=tuple((name_of(each, surfaces), rule(each)) for each in compared[MOST_MAPS:]),
        sealed=modelled.judged,
        trust=trust(modelled.judged),
        missed=_missed(modelled.judged) if modelled.judged else (),
        errors=errors(modelled.judged, colours, modelled) if modelled.judged else None,
    )


def _missed(judged: Judged) -> tuple[SealedCell, ...]:
    return tuple(sorted(judged.cells, key=lambda cell: -abs(cell.error))[:_MOST_SEALED])


def _view(
    number: int, round_: Surface, title: str, of_sliders: Surface, packed: str, colours: Mapping[str, int]
) -> MapView:
    slug = f"map-{number}"
    columns, lines = _inside(round_)
    return MapView(
        slug=slug,
        title=title,
        rule=rule(round_),
        figure=decision_map(slug, title, round_, colours),
        refused=round_.way.refused,
        heads=("Payload", *(quantities.ms(float(round_.rtts[place])) for place in columns)),
        rows=tuple(
            Row(
                size=bytes_text(float(round_.sizes[line])),
                entries=tuple(_entry(round_, column, line) for column in columns),
            )
            for line in lines
        ),
        packed=packed,
        rtts=tuple(of_sliders.rtts.tolist()),
        sizes=tuple(of_sliders.sizes.tolist()),
        begin=(of_sliders.rtts.size // 2, of_sliders.sizes.size // 2),
    )


def _entry(of: Surface, column: int, line: int) -> Entry:
    code = int(of.codes[column, line])
    if code == NONE:
        return Entry(who="not predicted", latency=None, apart=None)
    known = of.latency[:, column, line]
    if code == EVEN:
        who = "does not matter"
    elif code == UNSURE:
        who = "no significant difference"
    else:
        who = " or ".join(of.names(code))
    return Entry(who=who, latency=float(np.nanmin(known)), apart=float(of.apart[column, line]))


def _inside(of: Surface) -> tuple[list[int], list[int]]:
    """A few places within what was measured, evenly apart: of round trips, and of sizes from the largest down."""
    ranges = [fit.rtt_range for fit in of.way.fits], [fit.size_range for fit in of.way.fits]
    found = []
    for values, range_ in zip((of.rtts, of.sizes), ranges, strict=True):
        low, high = min(one for one, _ in range_) * 0.9, max(other for _, other in range_) * 1.1
        inside = np.flatnonzero((values >= low) & (values <= high))
        picked = inside[np.linspace(0, inside.size - 1, min(_IN_TABLE, inside.size)).round().astype(int)]
        found.append(list(dict.fromkeys(picked.tolist())))
    return found[0], found[1][::-1]


def _packed(surfaces: Sequence[Surface], colours: Mapping[str, int]) -> list[tuple[Surface, str]]:
    """What the sliders of each map read; at fewer places where it would be more than `MOST_LETTERS`."""
    found: list[tuple[Surface, str]] = []
    for steps in _SPARSER:
        of = surfaces if steps is STEPS else [round_surface(each.way, steps) for each in surfaces]
        found = [(each, pack(shown(json.dumps(grid_of(each, colours), separators=(",", ":")), "\\\\"))) for each in of]
        if sum(len(text) for _, text in found) <= MOST_LETTERS:
            break
    return found


def grid_of(of: Surface, colours: Mapping[str, int]) -> dict[str, Any]:
    """What the page's script reads: places, codes, and by stack its causes and half of its interval, where it is known.

    A cause that changes along one axis alone is a list of that: `r` by round trip, `s` by size; `m` is a matrix.
    """
    stacks = []
    for place, each in enumerate(of.series):
        known = ~np.isnan(of.latency[place])
        columns, lines = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
        if not columns.size:
            continue
        box = np.ix_(columns, lines)
        parts = {name: values[place] for name, values in of.causes.items()} or {"latency": of.latency[place]}
        stacks.append(
            {
                "label": each.label,
                "bit": 1 << place,
                "colour": colours[each.stack],
                "from": [int(columns[0]), int(lines[0])],
                "to": [int(columns[-1]), int(lines[-1])],
                "parts": {name: _part(values[box]) for name, values in parts.items() if np.any(values[box])},
                "half": {"m": _numbers(of.half[place][box], 3)},
            }
        )
    return {
        "rtts": of.rtts.tolist(),
        "sizes": of.sizes.tolist(),
        "matters": quantities.margin(of.way.matters),
        "codes": of.codes.tolist(),
        "stacks": stacks,
    }


def _part(values: Floats) -> dict[str, Any]:
    scale = float(np.abs(values).max()) or 1.0
    if np.allclose(values, values[:1], rtol=0, atol=1e-9 * scale):
        return {"s": _numbers(values[0], 6)}
    if np.allclose(values, values[:, :1], rtol=0, atol=1e-9 * scale):
        return {"r": _numbers(values[:, 0], 6)}
    return {"m": _numbers(values, 6)}


def _numbers(values: Floats, digits: int) -> Any:
    """Nested lists of so many significant digits; whole numbers without a point."""
    if values.ndim > 1:
        return [_numbers(row, digits) for row in values]
    rounded = [quantities.significant(value, digits) for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in rounded]
