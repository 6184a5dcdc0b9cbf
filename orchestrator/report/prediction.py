"""What the part *Prediction* shows: the decision maps with their tables, and the held-out cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.shapes import Judged, Modelled, SealedCell
from orchestrator.questions.prediction.surface import (
    EVEN,
    NONE,
    UNSURE,
    Surface,
    round_surface,
    ways,
)
from orchestrator.questions.prediction.words import bytes_text, name_of, trust
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.map import decision_map

MOST_MAPS = 6
"""Maps that are drawn."""

_MOST_SEALED = 20  # rows of the table of sealed cells
_IN_TABLE = 4


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
    """One decision map with its table."""

    slug: str
    title: str
    figure: Figure
    refused: dict[str, str]
    heads: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class PredictionView:
    """All of the part. `others` are names of maps that are not drawn, `missed` the cells furthest off."""

    modelled: Modelled
    maps: tuple[MapView, ...]
    others: tuple[str, ...]
    sealed: Judged | None
    trust: str
    missed: tuple[SealedCell, ...]


def prediction_view(summary: RunSummary, colours: Mapping[str, int]) -> PredictionView | None:
    """What a run with a model shows, or why it has none; None where nothing was to be predicted."""
    modelled = PREDICTION.of(summary)
    if modelled is None:
        return None
    found = ways(modelled, summary.matters)
    surfaces = [round_surface(way) for way in found]
    compared = [each for each in surfaces if len(each.series) > 1]
    drawn = compared[:MOST_MAPS]
    return PredictionView(
        modelled=modelled,
        maps=tuple(_view(number, each, name_of(each, surfaces), colours) for number, each in enumerate(drawn, start=1)),
        others=tuple(name_of(each, surfaces) for each in compared[MOST_MAPS:]),
        sealed=modelled.judged,
        trust=trust(modelled.judged),
        missed=_missed(modelled.judged) if modelled.judged else (),
    )


def _missed(judged: Judged) -> tuple[SealedCell, ...]:
    return tuple(sorted(judged.cells, key=lambda cell: -abs(cell.error))[:_MOST_SEALED])


def _view(number: int, round_: Surface, title: str, colours: Mapping[str, int]) -> MapView:
    slug = f"map-{number}"
    columns, lines = _inside(round_)
    return MapView(
        slug=slug,
        title=title,
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
