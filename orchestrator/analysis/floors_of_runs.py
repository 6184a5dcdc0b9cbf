"""The floors of two runs beside a pair of their cells: how they moved, or why nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.analysis import between_runs, intervals, words
from orchestrator.analysis.between_runs import FloorMove, RunMean
from orchestrator.analysis.summary import CellSummary, FloorSummary, RunSummary


def floor_of(run: RunSummary, kind: str, cell: CellSummary) -> FloorSummary | None:
    """The floor of that kind that stands beside the cell; None without one."""
    for floor in run.floors:
        beside = floor.placement_id == cell.placement_id and (kind == "ping" or cell.id in floor.cells)
        if floor.kind == kind and beside:
            return floor
    return None


def moves(new: RunSummary, old: RunSummary, pair: tuple[CellSummary, CellSummary]) -> Iterator[FloorMove]:
    """How each floor that both runs have moved from the old one to the new; those with too few readings are left out."""
    for kind in ("tcp", "ping"):
        mine, theirs = floor_of(new, kind, pair[0]), floor_of(old, kind, pair[1])
        move = between_runs.floor_move(mine, theirs) if mine and theirs else None
        if move:
            yield move


def why_none(new: RunSummary, old: RunSummary, pair: tuple[CellSummary, CellSummary]) -> str:
    """Why no floor of two runs can be compared, as a clause: one of them has none, or too few readings of it."""
    few = []
    for kind in ("tcp", "ping"):
        floors = [(run, floor_of(run, kind, cell)) for run, cell in zip((new, old), pair, strict=True)]
        if all(floor for _, floor in floors):
            few += [
                f"{words.count(readings, 'reading')} of {kind} in {run.run_id}"
                for run, floor in floors
                if floor and (readings := sum(m > 0 for m in floor.medians)) < intervals.FEWEST_BLOCKS
            ]
    if not few:
        return "no floor was measured in both runs"
    return f"too few readings to compare the floors ({', '.join(few)}; {intervals.FEWEST_BLOCKS} are needed)"


def tcp_means(
    new: RunSummary, old: RunSummary, pair: tuple[CellSummary, CellSummary]
) -> tuple[RunMean, RunMean] | None:
    """The mean logs of both `tcp` floors; None where one is missing or has too few readings."""
    floors = floor_of(new, "tcp", pair[0]), floor_of(old, "tcp", pair[1])
    readings = [between_runs.run_mean([m for m in floor.medians if m > 0]) for floor in floors if floor]
    known = [reading for reading in readings if reading]
    return (known[0], known[1]) if len(known) == 2 else None
