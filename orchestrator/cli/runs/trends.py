"""The verb `runs trend`: a cell over runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchestrator import quantities
from orchestrator.cli.console import console, plain
from orchestrator.cli.shared_options import AsJson, Find, OfTeam, an_index
from orchestrator.cli.tables import table
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.quantities import Unit

if TYPE_CHECKING:
    from orchestrator.history.index import Index
    from orchestrator.history.record import Filters, Seen
    from orchestrator.history.trend import Point, Trend

SCHEMA_VERSION = 2
_MOST_CELLS = 50
_MOST_NOTES = 3
_STYLES = {"improved": "green", "regressed": "red", "not resolved": "yellow"}
_MARK = ">"
_NONE_JUDGED = "no run here has been judged; `orch run FILE` makes one, `orch report RUN` judges one"
_LEGEND = (
    "A step is a change of level that lasts three runs or more; `change` is against the run before, above 1 is slower."
)


def trend(
    cells: Annotated[
        list[str] | None,
        typer.Argument(metavar="CELL-or-STACK...", help="Id of a cell, its beginning, or a stack's id or label."),
    ] = None,
    statistic: Annotated[
        Literal["median", "p99", "throughput"], typer.Option(help="Which of each trial's numbers is followed.")
    ] = "median",
    find: Find = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Follow only the newest runs of each cell, so many.")] = None,
    team: OfTeam = False,
    as_json: AsJson = False,
) -> None:
    """Show a cell over runs, oldest first, and mark its steps; without a cell, list the cells that runs measured."""
    from orchestrator.history.record import Filters

    console.as_json = as_json
    wanted = Filters(text=find)
    with an_index(of_team=team) as opened:
        if not cells:
            _list(opened, wanted)
            return
        chosen = [_seen(opened, word, wanted) for word in cells]
    from orchestrator.history.trend import trend

    by_cell = {cell: seen[-limit if limit else 0 :] for of_word in chosen for cell, seen in of_word.items()}
    trends = [trend(seen, statistic) for seen in by_cell.values()]
    console.emit({"schema_version": SCHEMA_VERSION, "trends": [asdict(each) for each in trends]})
    for each in trends:
        _print(each)
    if any(len(each.points) > 1 for each in trends):
        console.result(_LEGEND)


def _seen(index: Index, word: str, wanted: Filters) -> dict[str, list[Seen]]:
    """The cells that a word means, with their runs; UsageError, with what it may stand for, where no run measured it."""
    cells = index.seen(word, wanted)
    if not cells:
        stacks = index.stacks()
        hint = did_you_mean(word, stacks) if stacks else _NONE_JUDGED
        raise UsageError(f"no run {f'with {wanted.text!r} ' if wanted.text else ''}measured {word!r}", hint=hint)
    return cells


def _list(index: Index, wanted: Filters) -> None:
    cells = index.cells(wanted)
    rows = [{"cell": cell, "stack": stack, "label": label, "runs": runs} for cell, stack, label, runs in cells]
    console.emit({"schema_version": SCHEMA_VERSION, "cells": rows})
    if not cells:
        console.result(f"no run with {wanted.text!r} measured a cell" if wanted.text else _NONE_JUDGED)
        return
    shown = [(str(runs), plain(cell), plain(label)) for cell, _, label, runs in cells[:_MOST_CELLS]]
    console.lines(table(("runs", "cell", "measured"), shown))
    if len(cells) > _MOST_CELLS:
        console.result(f"and {len(cells) - _MOST_CELLS:,} more; --json has all")


def _print(series: Trend) -> None:
    from orchestrator.history.steps import FEWEST
    from orchestrator.history.trend import letter, unit_of

    unit = unit_of(series)
    by = "requests/s" if series.statistic == "throughput" else f"{series.statistic}, {unit.name}"
    several = len(series.environments) > 1
    console.result(console.style(f"{plain(series.label)} · {quantities.count(len(series.points), 'run')}", "bold"))
    rows = [_row(point, series, unit, several=several) for point in series.points]
    heads = ("", "date", "run", by, "95 % interval", *(("on",) if several else ()), "change", "step")
    lines = list(table(heads, rows))
    console.result(lines[0])
    for line, point in zip(lines[1:], series.points, strict=True):
        console.result(console.style(line, _STYLES[point.step.verdict]) if point.step else line)
        if point.notes:
            more = f"; and {len(point.notes) - _MOST_NOTES} more (--json)" if len(point.notes) > _MOST_NOTES else ""
            console.result(f"      differs from the run before: {'; '.join(point.notes[:_MOST_NOTES])}{more}")
    if several:
        for number, differs in enumerate(series.environments):
            console.result(f"  {letter(number)}: {'; '.join(differs) or 'the conditions of the first run'}")
        console.result("  Runs on different letters are not compared.")
    marked = sum(point.step is not None for point in series.points)
    few = f"No step found: it takes {FEWEST} valid runs under the same conditions"
    text = f"{quantities.count(marked, 'step')} marked with {_MARK}" if marked else "No step found"
    console.result(f"  {text if series.longest_line >= FEWEST else few}.")
    console.result()


def _row(point: Point, series: Trend, unit: Unit, *, several: bool) -> tuple[str, ...]:
    from orchestrator.history.trend import figures, letter, step_clause

    value, interval, change = figures(point, series.statistic, unit)
    return (
        _MARK if point.step else "",
        point.started[:16].replace("T", " ") or "-",
        plain(point.run),
        value,
        interval,
        *((letter(point.environment),) if several else ()),
        change,
        plain(step_clause(point)),
    )
