"""When each trial ran, by stack, and the raw timings of a cell in time order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any

import plotly.graph_objects as go

from orchestrator.findings.block_values import fastest_first
from orchestrator.findings.summary import CellSummary, RunSummary, Strip, TrialSummary
from orchestrator.findings.validity import invalid_cells
from orchestrator.quantities import Unit, ms, percent, significant
from orchestrator.report.figures.base import (
    BETTER,
    RULE,
    Figure,
    Rows,
    axis,
    figure,
    logarithmic,
    of_series,
    plain,
    upright,
)
from orchestrator.report.groups import Group, slowest_reply
from orchestrator.report.palette import series

OFF = 0.25
"""A trial whose median lies further than this from the middle of its cell's trials is ringed."""
_FEWEST = 3  # trials of a cell, before one of them can be ringed
_MINUTES_FROM_S = 300.0
_LEAST_NS = 10**15  # a stamp below it is no time of a run
_BASELINES = "ping and tcp"
_BAND_PX = 18
_STRIP_PX = 200
_DIGITS = 4  # of bins and seconds: a strip is 200 pixels high; the slowest keep five


@dataclass(frozen=True, kw_only=True)
class _Span:
    """A trial on the clock."""

    stack: str
    start_ns: int
    end_ns: int
    words: str
    is_invalid: bool = False
    is_off: bool = False


def _hover(spans: Sequence[_Span]) -> dict[str, Any]:
    """What a reader sees of each span below the pointer."""
    return {"customdata": [plain(span.words) for span in spans], "hovertemplate": "%{customdata}<extra></extra>"}


def timeline(summary: RunSummary, colours: Mapping[str, int]) -> Figure | None:
    """Return a row for each stack, a bar for each trial; None where fewer than two trials have a time.

    Crossed out are trials that failed, or that a failed check names; ringed are those whose median is far off.
    """
    spans = [*_measured(summary), *_failed(summary)]
    if len(spans) < 2:
        return None
    zero, end = min(span.start_ns for span in spans), max(span.end_ns for span in spans)
    per, unit = (60.0, "minutes") if end - zero >= _MINUTES_FROM_S * 1e9 else (1.0, "seconds")

    def at(moment_ns: float) -> float:
        return significant((moment_ns - zero) / 1e9 / per, 6)

    fastest = fastest_first(summary.cells, invalid_cells(summary.cells, summary.checks))
    labels = {cell.stack: cell.stack_label for cell in fastest}
    stacks = [stack for stack in labels if any(span.stack == stack for span in spans)]
    places = {stack: place for place, stack in enumerate(stacks, start=1)}
    rows = Rows(labels=(_BASELINES, *(labels[stack] for stack in stacks)), band_px=_BAND_PX)
    moments = sorted({moment for floor in summary.floors for moment in floor.started_wall_ns})
    tick = {"width": 1.5, "color": "var(--floor-tcp)"}
    traces: list[go.Scatter | go.Bar] = [
        go.Scatter(
            x=[at(moment) for moment in moments],
            y=[0] * len(moments),
            mode="markers",
            marker={"symbol": "line-ns", "size": 12, "color": "var(--floor-tcp)", "line": tick},
            hovertemplate="baseline<extra></extra>",
        )
    ]
    for stack in stacks:
        own = [span for span in spans if span.stack == stack]
        traces.append(
            go.Bar(
                orientation="h",
                meta=of_series(colours.get(stack, 0)),
                y=[places[stack]] * len(own),
                base=[at(span.start_ns) for span in own],
                x=[significant(max(span.end_ns - span.start_ns, 0) / 1e9 / per, 5) for span in own],
                width=_BAND_PX * 0.8 / rows.step_px,
                marker={"color": series(colours.get(stack, 0)), "line": {"width": 0}},
                **_hover(own),
            )
        )
    for symbol, colour, wanted in (
        ("x", "var(--fail)", [span for span in spans if span.is_invalid]),
        ("circle-open", "var(--ink)", [span for span in spans if span.is_off and not span.is_invalid]),
    ):
        if wanted:
            traces.append(
                go.Scatter(
                    x=[at((span.start_ns + span.end_ns) / 2) for span in wanted],
                    y=[places[span.stack] for span in wanted],
                    mode="markers",
                    marker={"symbol": symbol, "size": 13, "color": colour, "line": {"width": 2}},
                    **_hover(wanted),
                )
            )
    layout = {"barmode": "overlay", **rows.layout(axis(f"{unit} since the first trial", rangemode="tozero"))}
    label = "When each trial ran, by stack, and when ping and tcp were read."
    return figure("timeline", label, traces, layout, rows.height_px(layout), _note(spans))


def _note(spans: list[_Span]) -> str:
    invalid, off = sum(span.is_invalid for span in spans), sum(span.is_off for span in spans)
    notes = []
    if invalid:
        notes.append(f"Crossed out ({invalid}): the trial failed, or a failed check names it.")
    if off:
        notes.append(f"Ringed ({off}): its median is more than {percent(OFF)} off the middle of its cell's trials.")
    return (
        " ".join(notes) or f"No trial failed, and no median is more than {percent(OFF)} off the middle of its cell's."
    )


def _measured(summary: RunSummary) -> Iterator[_Span]:
    named = _named(summary)
    for cell in summary.cells:
        medians = [trial.median for trial in cell.trials if trial.median is not None]
        middle = median(medians) if len(medians) >= _FEWEST else None
        for trial in cell.trials:
            if trial.started_wall_ns:
                yield _Span(
                    stack=cell.stack,
                    start_ns=trial.started_wall_ns,
                    end_ns=_end(trial),
                    words=_words(cell, trial),
                    is_invalid=(cell.id, trial.index) in named,
                    is_off=middle is not None and trial.median is not None and abs(trial.median / middle - 1) > OFF,
                )


def _failed(summary: RunSummary) -> Iterator[_Span]:
    stacks = {cell.id: cell.stack for cell in summary.cells}
    for trial in summary.failed_trials:
        start, end, stack = trial.get("started_wall_ns"), trial.get("ended_wall_ns"), stacks.get(str(trial.get("cell")))
        if stack and isinstance(start, int) and isinstance(end, int) and start > _LEAST_NS:
            yield _Span(stack=stack, start_ns=start, end_ns=max(start, end), words="failed", is_invalid=True)


def _named(summary: RunSummary) -> set[tuple[str, int]]:
    """The trials that failed checks name, by cell."""
    named: set[tuple[str, int]] = set()
    for check in summary.checks:
        if check.verdict == "fail" and check.cell:
            several = check.evidence.get("trials")
            indexes = [check.evidence.get("trial"), *(several if isinstance(several, list | tuple) else ())]
            named |= {(check.cell, index) for index in indexes if isinstance(index, int)}
    return named


def _end(trial: TrialSummary) -> int:
    """When it ended; about, where the summary has no end."""
    if trial.ended_wall_ns:
        return max(trial.ended_wall_ns, trial.started_wall_ns)
    return trial.started_wall_ns + int((trial.n / trial.throughput_per_s if trial.throughput_per_s else 0.0) * 1e9)


def _words(cell: CellSummary, trial: TrialSummary) -> str:
    value = "no median" if trial.median is None else f"median {ms(trial.median)}"
    return f"{cell.stack_label}, {cell.operation}, {cell.placement}, block {trial.block + 1}: {value}"


def time_strip(cell: CellSummary, group: Group, colours: dict[str, int], beside: Sequence[Group] = ()) -> Figure | None:
    """Return one cell's timings, on the latency axis that its group and those `beside` it share; None without any."""
    if cell.strip is None or not cell.strip.bins:
        return None
    colour = series(colours[cell.stack])
    low, high = _extent(group, beside)
    starts = [next(bins)[0] for _, bins in groupby(cell.strip.bins, key=lambda entry: entry[1])]
    layout = {
        "margin": {"l": 8, "r": 8, "t": 24, "b": 32},
        "xaxis": axis("seconds of measuring", rangemode="tozero", nticks=6),
        "yaxis": logarithmic(f"{group.unit.name}{BETTER}", low, high),
        "shapes": [upright(significant(at), color=RULE, width=1, dash="dot") for at in starts[1:]],
    }
    label = f"Timings in time order, {cell.stack_label}, {group.title}."
    slug = f"strip-{group.slug}-{group.cells.index(cell)}"
    return figure(slug, label, _strip_traces(cell.strip, group.unit, colour), layout, _STRIP_PX)


def _strip_traces(strip: Strip, unit: Unit, colour: str) -> list[go.Scatter]:
    """A band from minimum to p99, one polygon per trial; the medians, a line per trial; and the slowest."""
    band_x: list[float | None] = []
    band_y: list[float | None] = []
    line_x: list[float | None] = []
    line_y: list[float | None] = []
    for _, entries in groupby(strip.bins, key=lambda entry: entry[1]):
        bins = list(entries)
        seconds = [significant(entry[0], _DIGITS) for entry in bins]
        low, middle, high = (unit.scaled((entry[column] for entry in bins), _DIGITS) for column in (2, 3, 4))
        band_x += [*seconds, *reversed(seconds), None]
        band_y += [*high, *reversed(low), None]
        line_x += [*seconds, None]
        line_y += [*middle, None]
    return [
        go.Scatter(
            x=band_x,
            y=band_y,
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"width": 0},
            opacity=0.28,
            hoverinfo="skip",
        ),
        go.Scatter(
            x=line_x,
            y=line_y,
            mode="lines",
            line={"color": colour, "width": 1.5},
            hovertemplate=f"median %{{y}} {unit.name}<extra></extra>",
        ),
        go.Scatter(
            x=[significant(seconds, _DIGITS) for seconds, _ in strip.slowest],
            y=unit.scaled(latency for _, latency in strip.slowest),
            mode="markers",
            marker={"color": colour, "size": 3.5},
            hovertemplate=f"%{{y}} {unit.name}<extra></extra>",
        ),
    ]


def _extent(group: Group, beside: Sequence[Group]) -> tuple[float, float]:
    cells = [cell for each in (group, *beside) for cell in each.measured]
    low = min(cell.distribution.minimum for cell in cells if cell.distribution) * group.unit.per_ms
    high = max(slowest_reply(cell) for cell in cells) * group.unit.per_ms
    return max(low, high * 1e-9) * 0.85, high * 1.2
