"""When each trial ran, by stack, with the baselines between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import plotly.graph_objects as go

from orchestrator.analysis.summary import CellSummary, RunSummary, TrialSummary
from orchestrator.analysis.words import ms, percent, significant
from orchestrator.report.figures.base import Figure, axis, broken, figure, of_series, plain, row_axis, row_px
from orchestrator.report.palette import series

ROW_PX = 30
OFF = 0.25
"""A trial whose median lies further than this from the middle of its cell's trials stands out."""
_FEWEST = 3  # trials of a cell, before one of them can stand out
_MINUTES_FROM_S = 300.0
_LEAST_NS = 10**15  # a stamp below it is no time of a run
_BASELINES = "ping and tcp"


@dataclass(frozen=True, kw_only=True)
class _Span:
    """A trial on the clock."""

    stack: str
    start_ns: int
    end_ns: int
    words: str
    is_invalid: bool = False
    is_off: bool = False


def timeline(summary: RunSummary, colours: Mapping[str, int]) -> Figure | None:
    """A row for each stack, a bar for each trial; None where fewer than two trials have a time.

    Crossed out are trials that failed, or that a failed check names; ringed are those whose median stands out.
    """
    spans = [*_measured(summary), *_failed(summary)]
    if len(spans) < 2:
        return None
    zero = min(span.start_ns for span in spans)
    labels = {cell.stack: cell.stack_label for cell in summary.cells}
    stacks = [stack for stack in labels if any(span.stack == stack for span in spans)]
    rows = {stack: place for place, stack in enumerate(stacks, start=1)}
    seconds = (max(span.end_ns for span in spans) - zero) / 1e9
    per, unit = (60.0, "minutes") if seconds >= _MINUTES_FROM_S else (1.0, "seconds")
    names = [_BASELINES, *(broken(labels[stack]) for stack in stacks)]

    def at(moment_ns: float) -> float:
        return significant((moment_ns - zero) / 1e9 / per, 6)

    traces: list[go.Scatter | go.Bar] = [_looks(summary, at)]
    for stack in stacks:
        of = [span for span in spans if span.stack == stack]
        traces.append(
            go.Bar(
                orientation="h",
                meta=of_series(colours.get(stack, 0)),
                y=[rows[stack]] * len(of),
                base=[at(span.start_ns) for span in of],
                x=[significant(max(span.end_ns - span.start_ns, 0) / 1e9 / per, 5) for span in of],
                width=0.5,
                marker={"color": series(colours.get(stack, 0)), "line": {"width": 0}},
                customdata=[plain(span.words) for span in of],
                hovertemplate="%{customdata}<extra></extra>",
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
                    y=[rows[span.stack] for span in wanted],
                    mode="markers",
                    marker={"symbol": symbol, "size": 13, "color": colour, "line": {"width": 2}},
                    customdata=[plain(span.words) for span in wanted],
                    hovertemplate="%{customdata}<extra></extra>",
                )
            )
    layout = {
        "showlegend": False,
        "barmode": "overlay",
        "xaxis": axis(f"{unit} since the first trial", rangemode="tozero"),
        "yaxis": row_axis(names),
    }
    label = "When each trial ran, by stack, and when ping and tcp were read."
    return figure("timeline", label, traces, layout, 76 + row_px(ROW_PX, names) * len(names), _note(spans))


def _note(spans: list[_Span]) -> str:
    invalid, off = sum(span.is_invalid for span in spans), sum(span.is_off for span in spans)
    said = []
    if invalid:
        said.append(f"Crossed out ({invalid}): the trial failed, or a failed check names it.")
    if off:
        said.append(f"Ringed ({off}): its median is more than {percent(OFF)} off the middle of its cell's trials.")
    return " ".join(said) or f"No trial failed, and no median is more than {percent(OFF)} off the middle of its cell's."


def _looks(summary: RunSummary, at: Callable[[float], float]) -> go.Scatter:
    moments = sorted({moment for floor in summary.floors for moment in floor.started_wall_ns})
    return go.Scatter(
        x=[at(moment) for moment in moments],
        y=[0] * len(moments),
        mode="markers",
        marker={
            "symbol": "line-ns",
            "size": 12,
            "color": "var(--floor-tcp)",
            "line": {"width": 1.5, "color": "var(--floor-tcp)"},
        },
        hovertemplate="baseline<extra></extra>",
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
    found: set[tuple[str, int]] = set()
    for check in summary.checks:
        if check.verdict == "fail" and check.cell:
            several = check.evidence.get("trials")
            indexes = [check.evidence.get("trial"), *(several if isinstance(several, list | tuple) else ())]
            found |= {(check.cell, index) for index in indexes if isinstance(index, int)}
    return found


def _end(trial: TrialSummary) -> int:
    """When it ended; about, where the summary does not say."""
    if trial.ended_wall_ns:
        return max(trial.ended_wall_ns, trial.started_wall_ns)
    return trial.started_wall_ns + int((trial.n / trial.throughput_per_s if trial.throughput_per_s else 0.0) * 1e9)


def _words(cell: CellSummary, trial: TrialSummary) -> str:
    said = "no median" if trial.median is None else f"median {ms(trial.median)}"
    return f"{cell.stack_label}, {cell.operation}, {cell.placement}, block {trial.block + 1}: {said}"
