"""The highest rate of each stack at which its goals hold: what the searches found, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from orchestrator.experiment.read.units import format_rate
from orchestrator.quantities import factor, significant
from orchestrator.questions.capacity.find import FoundRate, RateComparison
from orchestrator.report.figures.base import MORE_IS_BETTER, Figure, Rows, beside_row, figure, logarithmic, whiskers
from orchestrator.report.figures.static import Dot, chart
from orchestrator.report.palette import INK, series

_BAND_PX = 30
_DOTS_BELOW = 0.2  # of a row
_LETTER_PX = 7.4  # of a text of 12 px, about
_ARROWS = {"below": "triangle-left", "at least": "triangle-right"}
_SIDES = {"below": "below ", "at least": "at least ", "": ""}


def found_rates(
    slug: str,
    title: str,
    found: Sequence[FoundRate],
    comparisons: Sequence[RateComparison],
    colours: dict[str, int],
    beside: Sequence[FoundRate],
) -> Figure | None:
    """Return the rates of one setting, the highest on top; None when no search ended.

    An arrow in place of a diamond is a rate known from one side alone. The scale is that of all rates `beside`, too.
    """
    rows = sorted(found, key=lambda rate: rate.rate_per_s or 0.0, reverse=True)
    values = [value for rate in beside for value in _extent(rate)]
    if not values or not any(rate.rate_per_s for rate in rows):
        return None
    room = max((max(values) / min(values)) ** 0.06, 1.05)
    axis = logarithmic(
        f"highest rate, requests/s (logarithmic){MORE_IS_BETTER}", min(values) / room, max(values) * room
    )
    standings = {row.cell: row for row in comparisons}
    texts = [_texts(rate, standings.get(rate.cell)) for rate in rows]
    beside_rows = [
        beside_row(lines, place, is_muted=bool(rate.invalid) or rate.rate_per_s is None)
        for place, (lines, rate) in enumerate(zip(texts, rows, strict=True))
    ]
    drawn = Rows(labels=tuple(rate.stack_label for rate in rows), band_px=_BAND_PX)
    right_px = round(_LETTER_PX * max(len(line) for lines in texts for line in lines)) + 16
    layout = drawn.layout(axis, beside_rows, right_px)
    note = "An arrow: the rate is known from that side alone." if any(rate.side for rate in rows) else ""
    traces = [_searches(rows, colours), _found(rows, colours)]
    still = chart([_dot(rate, lines) for rate, lines in zip(rows, texts, strict=True) if rate.rate_per_s], title)
    return figure(slug, f"{title}.", traces, layout, drawn.height_px(layout), note, still)


def _dot(rate: FoundRate, lines: Sequence[str]) -> Dot:
    value, *rest = lines
    return Dot(
        label=rate.stack_label,
        value=rate.rate_per_s or 0.0,
        interval=rate.interval,
        text=value,
        difference=", ".join(rest),
        colour=INK,
    )


def _extent(rate: FoundRate) -> list[float]:
    return [value for value in (rate.rate_per_s, *(rate.interval or ()), *_held(rate)) if value]


def _held(rate: FoundRate) -> list[float]:
    return [search.held_per_s for search in rate.ended if search.held_per_s]


def _found(rows: Sequence[FoundRate], colours: dict[str, int]) -> go.Scatter:
    shown = [(place, rate, rate.rate_per_s) for place, rate in enumerate(rows) if rate.rate_per_s]
    return go.Scatter(
        x=[significant(value) for _, _, value in shown],
        y=[place for place, _, _ in shown],
        mode="markers",
        marker={
            "symbol": [_ARROWS.get(rate.side, "diamond") for _, rate, _ in shown],
            "size": 11,
            "color": [series(colours.get(rate.stack, 0)) for _, rate, _ in shown],
        },
        error_x=whiskers([value for _, _, value in shown], [rate.interval for _, rate, _ in shown], INK),
        hovertemplate="%{x:,.4g} requests/s<extra></extra>",
    )


def _searches(rows: Sequence[FoundRate], colours: dict[str, int]) -> go.Scatter:
    """A dot for what each search found, a little below the row's line."""
    dots = [
        (significant(value), place + _DOTS_BELOW, series(colours.get(rate.stack, 0)))
        for place, rate in enumerate(rows)
        for value in _held(rate)
    ]
    return go.Scatter(
        x=[dot[0] for dot in dots],
        y=[dot[1] for dot in dots],
        mode="markers",
        marker={"size": 6, "color": [dot[2] for dot in dots], "opacity": 0.6},
        hovertemplate="one search: %{x:,.4g} requests/s<extra></extra>",
    )


def _texts(rate: FoundRate, against: RateComparison | None) -> list[str]:
    """The rate, and how it compares with the reference's."""
    value = "not known" if rate.rate_per_s is None else f"{_SIDES[rate.side]}{format_rate(rate.rate_per_s)}"
    if rate.invalid:
        return [value, "invalid"]
    if against is None:
        return [value]
    if against.ratio is None or against.bound or against.standing == "cannot tell":
        return [value, against.standing]
    return [value, f"{factor(against.ratio)}× {against.standing}"]
