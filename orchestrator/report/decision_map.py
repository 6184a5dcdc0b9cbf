"""What the part *Prediction* shows: the decision maps, their tables, what the sliders read, and the sealed cells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from orchestrator.analysis import words
from orchestrator.analysis.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.network import Floats
from orchestrator.questions.prediction.rules import bytes_text, name_of, rule
from orchestrator.questions.prediction.shapes import MODEL, Judged, Modelled, SealedCell
from orchestrator.questions.prediction.surface import (
    COARSE,
    EVEN,
    NONE,
    STEPS,
    UNSURE,
    Grid,
    Surface,
    Way,
    round_surface,
    surface,
    ways,
)
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.sealed import errors
from orchestrator.report.page import pack, shown
from orchestrator.report.palette import series
from orchestrator.report.static.map_drawing import ACROSS, UP, Ground, MapDrawing, Mark, lattice, map_svg

MOST_MAPS = 6
"""Maps that are drawn; of more settings the others have their sentence."""
MOST_LETTERS = 40_000
"""Of what the sliders of all maps read, in the page: beyond it they stop at fewer places."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SEVERAL = -3
_MOST_SETS = 5  # of stacks that may be the quickest together, with a ground of their own
_MOST_BANDS = 4
_MOST_SEALED = 20  # rows of the table of sealed cells
_IN_TABLE = 4
_SPARSER = (STEPS, (1, 1.5, 2, 3, 5, 7), COARSE, (1,))


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
        lead=modelled.rules[0] if modelled.rules else "",
        maps=tuple(
            _view(number, each, name_of(each, surfaces), of, text, colours)
            for number, (each, (of, text)) in enumerate(zip(drawn, packed, strict=True), start=1)
        ),
        others=tuple((name_of(each, surfaces), rule(each)) for each in compared[MOST_MAPS:]),
        sealed=modelled.judged,
        missed=_missed(modelled.judged) if modelled.judged else (),
        errors=errors(modelled.judged, colours, modelled) if modelled.judged else None,
    )


def _missed(judged: Judged) -> tuple[SealedCell, ...]:
    return tuple(sorted(judged.cells, key=lambda cell: -abs(cell.errors[MODEL]))[:_MOST_SEALED])


def _view(
    number: int, round_: Surface, title: str, of_sliders: Surface, packed: str, colours: Mapping[str, int]
) -> MapView:
    slug, said = f"map-{number}", rule(round_)
    columns, lines = _inside(round_)
    return MapView(
        slug=slug,
        title=title,
        rule=said,
        figure=_figure(slug, round_.way, title, said, colours),
        refused=round_.way.refused,
        heads=("Payload", *(words.ms(float(round_.rtts[place])) for place in columns)),
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
        who = "not told apart"
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


def _figure(slug: str, way: Way, title: str, said: str, colours: Mapping[str, int]) -> Figure:
    fine = surface(way, lattice(way.rtt_range, ACROSS), lattice(way.size_range, UP)) if way.method == MODEL else None
    found = fine or _stretched(way)
    codes = _few(found.codes)
    label = f"Decision map, {title}: who is ahead at each round trip and payload."
    drawing = map_svg(
        MapDrawing(
            slug=f"still-{slug}",
            label=label,
            said=said,
            rtt_range=way.rtt_range,
            size_range=way.size_range,
            codes=codes,
            apart=found.apart,
            grounds=_grounds(found, codes, colours),
            marks=_marks(way),
        )
    )
    return Figure(slug=slug, label=label, height_px=0, packed="", drawing=Markup(drawing))  # noqa: S704 - escaped there


def _stretched(way: Way) -> Surface:
    """Rivals are slow to ask: what they say at a sixth of the lattice, each place repeated."""
    coarse = surface(way, lattice(way.rtt_range, ACROSS // 6), lattice(way.size_range, UP // 6))

    def repeated(values: Any) -> Any:
        return np.repeat(np.repeat(values, 6, axis=-2), 6, axis=-1)

    return Surface(
        way=way,
        rtts=lattice(way.rtt_range, ACROSS),
        sizes=lattice(way.size_range, UP),
        latency=repeated(coarse.latency),
        causes={},
        half=repeated(coarse.half),
        relative=repeated(coarse.relative),
        standing=repeated(coarse.standing),
        codes=repeated(coarse.codes),
    )


def _few(codes: Grid) -> Grid:
    """The codes, but that of many sets of stacks the rarer ones are one."""
    of, counts = np.unique(codes[(codes > 0) & (codes & (codes - 1) != 0)], return_counts=True)
    rare = of[np.argsort(-counts, kind="stable")[_MOST_SETS:]]
    found: Grid = np.where(np.isin(codes, rare), _SEVERAL, codes)
    return found


def _grounds(of: Surface, codes: Grid, colours: Mapping[str, int]) -> tuple[Ground, ...]:
    """Each stack by itself, the sets of them that are on the map, and what is none of these."""
    there = np.unique(codes).tolist()
    sets = sorted(code for code in there if code > 0 and code & (code - 1))
    found = [
        Ground(
            code=1 << place,
            colours=(series(colours[each.stack]),),
            hatching=place,
            mark=_letter(place),
            meaning=f"{each.label} is ahead" if 1 << place in there else f"{each.label}: nowhere ahead of all others",
        )
        for place, each in enumerate(of.series)
    ]
    for code in sets:
        places = [place for place in range(len(of.series)) if code >> place & 1]
        bands = tuple(series(colours[of.series[place].stack]) for place in places[:_MOST_BANDS])
        mark = "".join(_letter(place) for place in places)
        found.append(Ground(code=code, colours=bands, hatching=0, mark=mark, meaning=""))
    others = (
        (_SEVERAL, 1, "…", "other sets of stacks; see the table"),
        (EVEN, 0, "=", f"does not matter: all within {words.margin(of.way.matters)}"),
        (UNSURE, 1, "?", "not told apart"),
    )
    for code, hatching, mark, meaning in others:
        if code in there:
            found.append(Ground(code=code, colours=(), hatching=hatching, mark=mark, meaning=meaning))
    return tuple(found)


def _letter(place: int) -> str:
    return _LETTERS[place % len(_LETTERS)]


def _marks(way: Way) -> tuple[Mark, ...]:
    """Cells that were measured, each place once; a sealed one with the largest error of its stacks."""
    fitted: dict[tuple[str, int], list[float]] = {}
    for fit in way.fits:
        for cell in fit.cells:
            if cell.in_flight == way.in_flight and cell.rate_mbit == way.rate_mbit:
                fitted.setdefault((cell.placement, cell.size), []).append(float(np.mean(cell.rtt)))
    sealed: dict[tuple[str, int], list[tuple[float, float]]] = {}
    names = {fit.series.id for fit in way.fits}
    for each in way.judged.cells if way.judged else ():
        is_here = each.in_flight == way.in_flight and each.rate_mbit in (None, way.rate_mbit)
        if each.series in names and is_here:
            sealed.setdefault((each.placement, each.size), []).append((each.rtt, abs(each.errors[way.method])))
    return (
        *(Mark(rtt=float(np.mean(rtts)), size=size) for (_, size), rtts in fitted.items()),
        *(
            Mark(
                rtt=float(np.mean([rtt for rtt, _ in of])),
                size=size,
                is_sealed=True,
                said=words.off(max(error for _, error in of)),
            )
            for (_, size), of in sealed.items()
        ),
    )


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
        "matters": words.margin(of.way.matters),
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
    rounded = [words.significant(value, digits) for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in rounded]
