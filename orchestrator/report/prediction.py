"""What the part *Prediction* shows: the decision maps with their tables, and the held-out cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orchestrator import quantities
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction.find import QUESTION as PREDICTION
from orchestrator.questions.prediction.shapes import Judged, Modelled
from orchestrator.questions.prediction.surface import EVEN, NONE, UNSURE, Surface, round_surface, ways
from orchestrator.questions.prediction.words import bytes_text, name_of, why
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.map import decision_map
from orchestrator.wording.phrasing import capital
from orchestrator.wording.tables.table import Column, Entry, Row, Table, text_table

MOST_MAPS = 6
"""Maps that are drawn."""

_MOST_SEALED = 20  # rows of the table of sealed cells
_IN_TABLE = 4


@dataclass(frozen=True, kw_only=True)
class MapView:
    """One decision map with its table."""

    title: str
    figure: Figure
    refused: dict[str, str]
    table: Table


@dataclass(frozen=True, kw_only=True)
class PredictionView:
    """All of the part. `others` are names of maps that are not drawn, `missed` the held-out cells."""

    modelled: Modelled
    maps: tuple[MapView, ...]
    others: tuple[str, ...]
    missed: Table | None


def prediction_view(summary: RunSummary, colours: Mapping[str, int]) -> PredictionView | None:
    """What a run with a model shows, or why it has none; None where nothing was to be predicted."""
    modelled = PREDICTION.of(summary)
    if modelled is None:
        return None
    surfaces = [round_surface(way) for way in ways(modelled, summary.matters)]
    compared = [each for each in surfaces if len(each.series) > 1]
    drawn = compared[:MOST_MAPS]
    return PredictionView(
        modelled=modelled,
        maps=tuple(_view(number, each, name_of(each, surfaces), colours) for number, each in enumerate(drawn, start=1)),
        others=tuple(name_of(each, surfaces) for each in compared[MOST_MAPS:]),
        missed=_missed(modelled.judged) if modelled.judged else None,
    )


def _view(number: int, surface: Surface, title: str, colours: Mapping[str, int]) -> MapView:
    columns, lines = _inside(surface)
    return MapView(
        title=title,
        figure=decision_map(f"map-{number}", title, surface, colours),
        refused={label: "; ".join(map(why, reasons)) for label, reasons in surface.way.refused.items()},
        table=Table(
            title=f"{capital(title)}: the fastest stack, its latency, and how much more the slowest takes",
            label="payload",
            columns=tuple(Column(head=quantities.ms(float(surface.rtts[place])), is_text=True) for place in columns),
            rows=tuple(
                Row(
                    label=bytes_text(float(surface.sizes[line])),
                    entries=tuple(_entry(surface, column, line) for column in columns),
                )
                for line in lines
            ),
        ),
    )


def _entry(surface: Surface, column: int, line: int) -> Entry:
    code = int(surface.codes[column, line])
    if code == NONE:
        return Entry(text="not predicted")
    texts = {EVEN: "does not matter", UNSURE: "no significant difference"}
    fastest = texts.get(code) or " or ".join(surface.names(code))
    latency, apart = float(np.nanmin(surface.latency[:, column, line])), float(surface.apart[column, line])
    detail = f"slowest + {quantities.ms(apart)}" if apart else ""
    return Entry(text=f"{fastest}: {quantities.ms(latency)}", value=latency, detail=detail)


def _missed(judged: Judged) -> Table:
    """The held-out cells, those that are furthest off first."""
    cells = sorted(judged.cells, key=lambda cell: -abs(cell.error))[:_MOST_SEALED]
    rows = [
        (
            cell.label,
            cell.setting,
            cell.placement,
            quantities.size(cell.size),
            quantities.number(cell.predicted, 3),
            " to ".join(quantities.number(bound, 3) for bound in cell.interval),
            quantities.number(cell.measured, 3),
            quantities.change(cell.error, 1),
        )
        for cell in cells
    ]
    heads = ("stack", "setting", "distance", "payload", "predicted", "90 % interval", "measured", "off by")
    left_out = len(judged.cells) - len(cells)
    notes = [f"{quantities.count(left_out, 'more cell')}, less far off."] if left_out else []
    return text_table("Predicted against measured, latencies in ms", heads, rows, notes)


def _inside(surface: Surface) -> tuple[list[int], list[int]]:
    """A few places within what was measured, evenly apart: of round trips, and of sizes from the largest down."""
    ranges = [fit.rtt_range for fit in surface.way.fits], [fit.size_range for fit in surface.way.fits]
    picked = []
    for values, measured in zip((surface.rtts, surface.sizes), ranges, strict=True):
        low, high = min(least for least, _ in measured) * 0.9, max(most for _, most in measured) * 1.1
        inside = np.flatnonzero((values >= low) & (values <= high))
        places = inside[np.linspace(0, inside.size - 1, min(_IN_TABLE, inside.size)).round().astype(int)]
        picked.append(list(dict.fromkeys(places.tolist())))
    return picked[0], picked[1][::-1]
