"""Holds what a run says of itself against its plan."""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.reading import require
from orchestrator.referee.figures import Unreadable, require_answered, require_possible
from orchestrator.results.manifest import BaselineRecord, RefereeRecord, TrialRecord, TurnRecord
from orchestrator.results.turns import figures_of

_MOST_WITHIN = 10.0
_MOST_OF_A_FIGURE = 1e15


def require_of_plan(plan: Plan, trials: Iterable[TrialRecord], baselines: Iterable[BaselineRecord]) -> None:
    """ValueError names a trial or a baseline that the plan does not have."""
    placements = {placement.id for placement in plan.placements}
    finds = {cell.id: cell.find for cell in plan.cells}
    for record in trials:
        place = f"trial {record.index}"
        require(0 <= record.index < len(plan.trials), f"{place}: index", record.index)
        planned = plan.trials[record.index]
        require(record.cell == planned.cell, f"{place}: cell", record.cell)
        require(record.block == planned.block, f"{place}: block", record.block)
        find = finds[record.cell]
        require((record.probe is None) == (find is None), f"{place}: probe", record.probe)
        if find is not None and record.probe is not None:
            require(0 <= record.probe.step <= find.steps, f"{place}: probe.step", record.probe.step)
            rate = record.probe.rate_per_s
            require(rate == find.rate(record.probe.step), f"{place}: probe.rate_per_s", rate)
    for baseline in baselines:
        require(baseline.placement in placements, "baseline: placement", baseline.placement)


def require_turns_of_plan(plan: Plan, referee: RefereeRecord | None, turns: Iterable[TurnRecord]) -> None:
    """ValueError names a load generator's turn, or a cell that it is to ask, that the plan does not have, or no figure."""
    cells = {cell.id for cell in plan.cells}
    for cell in () if referee is None else (*referee.cells, *referee.refused):
        require(cell in cells, "referee: cell", cell)
    for name, tool in () if referee is None else referee.tools.items():
        require(0 < tool.within <= _MOST_WITHIN, f"referee: {name}: within", tool.within)
    loads, known = {cell.id: cell.load for cell in plan.cells}, set[str]()
    for turn in turns:
        place = f"turn {turn.index}"
        require(referee is not None and referee.cells.get(turn.cell) == turn.tool, f"{place}: tool", turn.tool)
        require(0 <= turn.index < len(plan.trials), f"{place}: index", turn.index)
        planned = plan.trials[turn.index]
        require(turn.cell == planned.cell, f"{place}: cell", turn.cell)
        require(turn.block == planned.block, f"{place}: block", turn.block)
        for figure in (turn.requests, turn.window_s, turn.median_ns):
            require(figure is None or 0 < figure < _MOST_OF_A_FIGURE, f"{place}: figures", figure)
        require(turn.raw not in known, f"{place}: attempt, for a second time", turn.attempt)
        known.add(turn.raw)
        if (why := _fault_of_figures(turn, loads[turn.cell].concurrency)) is not None:
            require(False, f"{place}: {why}", turn.requests)


def _fault_of_figures(turn: TurnRecord, in_flight: int | None) -> str | None:
    """What orch never writes of a turn's figures, as a clause; None where they can be what a program printed."""
    given = [figure is not None for figure in (turn.requests, turn.window_s, turn.median_ns)]
    figures = figures_of(turn)
    if figures is None:
        return "some figures, and not all" if any(given) else None
    if not turn.sha256 or turn.failure or turn.answered is None or not in_flight:
        return "figures without an output that they are of"
    try:
        require_possible(figures, in_flight=in_flight, window_s=turn.told_s, elapsed_s=turn.elapsed_s)
        require_answered(figures, turn.answered, in_flight)
    except Unreadable as error:
        return f"figures that cannot be: {error}"
    return None
