"""When each trial ran: order, marks, baselines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from orchestrator.findings.check_result import CheckResult
from orchestrator.report.figures.time import timeline
from orchestrator.report.groups import stack_colours
from tests.support.summaries import a_run, failed_run

RUN = a_run(stacks=2)
S = 10**9


def unpacked(figure):
    return json.loads(figure.document)


def drawn(run):
    return timeline(run, stack_colours(run))


def timed(run):
    """The run with a trial of 2 s every 10 s, the stacks by turns."""
    cells = []
    for number, cell in enumerate(run.cells):
        at = [t.started_wall_ns + number * 5 * S for t in cell.trials]
        trials = [replace(t, started_wall_ns=a, ended_wall_ns=a + 2 * S) for t, a in zip(cell.trials, at, strict=True)]
        cells.append(replace(cell, trials=tuple(trials)))
    return replace(run, cells=tuple(cells))


def test_each_trial_is_a_bar_where_and_as_long_as_it_ran():
    bars = [trace for trace in unpacked(drawn(timed(RUN)))["data"] if trace["type"] == "bar"]
    assert [bar["base"] for bar in bars] == [[0, 10, 20, 30, 40], [5, 15, 25, 35, 45]]
    assert all(bar["x"] == [2] * 5 for bar in bars)
    assert [set(bar["y"]) for bar in bars] == [{1}, {2}]


def test_baselines_stand_between_them():
    run = timed(RUN)
    start = run.cells[0].trials[0].started_wall_ns
    floors = [replace(floor, started_wall_ns=(start + 3 * S, start + 13 * S)) for floor in run.floors]
    looks = unpacked(drawn(replace(run, floors=tuple(floors))))["data"][0]
    assert (looks["x"], looks["y"]) == ([3, 13], [0, 0])


def test_a_trial_that_stands_out_is_ringed_and_one_that_a_failed_check_names_is_crossed_out():
    run = timed(RUN)
    cell = run.cells[0]
    slow = replace(cell.trials[2], median=cell.trials[2].median * 2)
    check = CheckResult(
        name="noise",
        verdict="fail",
        severity="serious",
        cell=cell.id,
        evidence={"trials": [4]},
        explanation="x",
        action="y",
    )
    run = replace(
        run,
        cells=(replace(cell, trials=(*cell.trials[:2], slow, *cell.trials[3:])), run.cells[1]),
        checks=(check,),
    )
    figure = drawn(run)
    marks = {
        trace["marker"]["symbol"]: trace["x"]
        for trace in unpacked(figure)["data"]
        if trace["type"] == "scatter" and trace["y"] and trace["y"][0]
    }
    assert marks == {"circle-open": [21], "x": [41]}
    assert "Crossed out (1)" in figure.note
    assert "Ringed (1)" in figure.note


def test_without_either_it_says_so():
    assert drawn(timed(RUN)).note.startswith("No trial failed")


def test_a_failed_trial_without_a_plausible_time_does_not_stretch_the_axis():
    bars = [trace for trace in unpacked(drawn(failed_run()))["data"] if trace["type"] == "bar"]
    assert max(base for bar in bars for base in bar["base"]) == pytest.approx(40)


def test_a_run_without_trials_has_none():
    assert drawn(replace(RUN, cells=tuple(replace(cell, trials=()) for cell in RUN.cells))) is None
