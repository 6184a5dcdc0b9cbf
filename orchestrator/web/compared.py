"""Runs laid side by side, and what `orch compare` says of the first of them against each of the others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.analysis import matching, words
from orchestrator.analysis.across import NothingInCommon, RunComparison, compare_runs, compare_within
from orchestrator.analysis.compare import Statistic
from orchestrator.analysis.history import beside
from orchestrator.analysis.summary import CellSummary
from orchestrator.analysis.validity import invalid_cells
from orchestrator.errors import OrchError, UsageError
from orchestrator.report.quantities import DASH
from orchestrator.web.context import Context
from orchestrator.web.judged import Judged

MOST = 8


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A cell in each of the runs: its label, and its figure in each with its interval; a dash where it is not there."""

    label: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Against:
    """The first run against another one, or why they cannot be compared."""

    other: str
    comparison: RunComparison | None
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One run's own stacks compared, or several runs: as a table, and each against the first."""

    runs: tuple[Judged, ...]
    unit: str
    table: tuple[Beside, ...]
    against: tuple[Against, ...]


def compared(of: Context, runs: Sequence[str], statistic: Statistic) -> Compared:
    """UsageError for none, or too many, or one that is named twice; errors as `judged`."""
    if not 1 <= len(runs) <= MOST:
        raise UsageError(
            f"between 1 and {MOST} runs can be compared, not {len(runs)}", hint="tick them in the list of runs"
        )
    found = tuple(of.judged.judged(run) for run in runs)
    if len({run.folder.path for run in found}) < len(found):
        raise UsageError("a run is named twice", hint="name each run once")
    first, *others = found
    against = tuple(_against(first, other, statistic) for other in others) or (_within(first, statistic),)
    unit, table = _table(found, statistic)
    return Compared(runs=found, unit=unit, table=table, against=against)


def _within(run: Judged, statistic: Statistic) -> Against:
    try:
        return Against(other=run.folder.id, comparison=compare_within(run.summary, statistic))
    except UsageError as error:
        return Against(other=run.folder.id, comparison=None, trouble=error.message)


def _against(new: Judged, old: Judged, statistic: Statistic) -> Against:
    try:
        history, passed_over = beside(new.summary, old.summary, new.folder, old.folder)
        found = compare_runs(new.summary, old.summary, statistic, history, passed_over)
    except (NothingInCommon, UsageError) as error:
        return Against(other=old.folder.id, comparison=None, trouble=error.message)
    return Against(other=old.folder.id, comparison=found)


def _table(runs: Sequence[Judged], statistic: Statistic) -> tuple[str, tuple[Beside, ...]]:
    """Cells that measure the same in a line; the unit is that of all of them."""
    found: dict[str, dict[int, CellSummary]] = {}
    for place, run in enumerate(runs):
        for cell in run.summary.cells:
            try:
                key = json.dumps(sorted(matching.factors(cell, run.summary.plan).items()), default=str)
            except (OrchError, KeyError):
                key = cell.id
            found.setdefault(key, {})[place] = cell
    values = [_value(cell, statistic) for of in found.values() for cell in of.values()]
    unit = words.unit_for([value for value in values if value is not None] or [1.0])
    invalid = [invalid_cells(run.summary.cells, run.summary.checks) for run in runs]

    def figure(cells: dict[int, CellSummary], place: int) -> tuple[str, str]:
        cell = cells.get(place)
        value = None if cell is None else _value(cell, statistic)
        if cell is None or value is None:
            return DASH, ""
        text = words.rate(value) if statistic == "throughput" else unit.text(value)
        if cell.id in invalid[place]:
            return text, "invalid: a check failed"
        has_interval = statistic == "median" and cell.median_interval and not words.is_vague(cell.median_interval)
        return text, " – ".join(map(unit.text, cell.median_interval or ())) if has_interval else ""

    lines = tuple(
        Beside(
            label=f"{next(iter(cells.values())).stack_label}, {next(iter(cells.values())).setting}",
            figures=tuple(figure(cells, place) for place in range(len(runs))),
        )
        for cells in found.values()
    )
    return ("requests/s" if statistic == "throughput" else unit.name), lines


def _value(cell: CellSummary, statistic: Statistic) -> float | None:
    if statistic == "throughput":
        return cell.throughput_per_s
    of = cell.distribution
    return None if of is None else (of.median if statistic == "median" else of.p99)
