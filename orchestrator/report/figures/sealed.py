"""How far predictions of the held-out cells were off: a mark for each cell, over its latency."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from orchestrator.quantities import change, ms, significant, size
from orchestrator.questions.prediction.shapes import Judged, Modelled, SealedCell
from orchestrator.report.figures.base import (
    MUTED,
    Figure,
    axis,
    figure,
    level,
    logarithmic,
    of_series,
    plain,
    whiskers,
)
from orchestrator.report.palette import SERIES, series

_SYMBOLS = ("circle", "square", "diamond", "triangle-up")
_HEIGHT_PX = 300


def errors(of: Judged, colours: Mapping[str, int], modelled: Modelled) -> Figure | None:
    """Return predicted over measured, %, with the 90 % interval; None without a held-out cell."""
    if not of.cells:
        return None
    stacks = {each.id: each.stack for each in modelled.series}
    by_stack: dict[str, list[SealedCell]] = {}
    for cell in of.cells:
        by_stack.setdefault(stacks[cell.series], []).append(cell)
    measured = [cell.measured for cell in of.cells]
    most = max(max(abs(cell.error), *map(abs, _interval(cell))) for cell in of.cells)
    layout = {
        "xaxis": logarithmic("measured median, ms", min(measured) / 1.3, max(measured) * 1.3),
        "yaxis": axis("the model's prediction over measured, %", range=[-110 * most, 110 * most]),
        "shapes": [level(0, MUTED)],
        "margin": {"l": 8, "r": 16, "t": 16, "b": 40},
    }
    traces = [_of_stack(cells, colours[stack]) for stack, cells in by_stack.items()]
    return figure("sealed", "Held-out cells: how far the model's predictions were off.", traces, layout, _HEIGHT_PX)


def _interval(cell: SealedCell) -> tuple[float, float]:
    """The interval of what is predicted, as shares of what was measured."""
    return cell.interval[0] / cell.measured - 1, cell.interval[1] / cell.measured - 1


def _of_stack(cells: list[SealedCell], number: int) -> go.Scatter:
    offs = [cell.error for cell in cells]
    return go.Scatter(
        name=plain(cells[0].label),
        meta=of_series(number),
        x=[significant(cell.measured) for cell in cells],
        y=[significant(100 * off) for off in offs],
        mode="markers",
        marker={"symbol": _SYMBOLS[number // SERIES % len(_SYMBOLS)], "size": 8, "color": series(number)},
        error_y=whiskers(offs, [_interval(cell) for cell in cells], series(number), 100),
        customdata=[
            plain(
                f"{cell.setting}, {cell.placement}, {size(cell.size)}: {ms(cell.predicted)} predicted, {ms(cell.measured)}"
                f" measured ({change(cell.error, 1)})"
            )
            for cell in cells
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
