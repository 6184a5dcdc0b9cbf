"""`orch runs trend`: a cell over runs, its steps, and which runs are not compared."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import trends
from orchestrator.history.record import Seen
from orchestrator.history.run_record import of_summary
from orchestrator.history.steps import steps
from orchestrator.history.trend import trend
from tests.support.machine import LOADS, Machine
from tests.support.past import a_past_run, slower, under

RESULTS = Path("results")


def made(number, change=lambda summary: summary, **knobs):
    """The run of that day."""
    started = f"2026-11-{number + 1:02}T00:00:00+00:00"
    return a_past_run(RESULTS / f"run{number:02}", started=started, change=change, **knobs)


WOBBLE = (0.0, 0.004, -0.003, 0.002, -0.004, 0.003, 0.001, -0.002, 0.004, 0.0)  # what equal runs differ by


def followed(*words, **knobs):
    console.out, console.as_json = io.StringIO(), False
    trends.trend(list(words), as_json=True, **{"statistic": "median", **knobs})
    console.as_json = False
    return json.loads(console.out.getvalue())["trends"]


def shown(*words, **knobs):
    console.out, console.as_json = io.StringIO(), False
    trends.trend(list(words), **{"statistic": "median", **knobs})
    return console.out.getvalue()


def test_a_step_is_marked_where_it_happened():
    for number in range(10):
        made(number, slower(1.3 if number >= 6 else 1.0, noise=WOBBLE[number]))
    (grpc,) = followed("grpc-thin")
    ((run, step),) = [(point["run"], point["step"]) for point in grpc["points"] if point["step"]]
    assert (run, step["verdict"], step["before"], step["after"]) == ("run06", "regressed", 6, 4)
    assert step["ratio"] == pytest.approx(1.3, abs=0.01)
    assert step["interval"][0] < 1.3 < step["interval"][1]
    assert grpc["points"][6]["change"] == pytest.approx(1.3, abs=0.02)
    (rest,) = followed("rest-thin")
    assert not any(point["step"] for point in rest["points"])
    text = shown("grpc-thin")
    (line,) = [line for line in text.splitlines() if line.startswith(">")]
    assert "run06" in line
    assert "regressed: 1.3" in line
    assert "1 step marked" in text


def test_runs_under_other_conditions_are_shown_and_never_compared():
    for number in range(4):
        made(number, under(CPU="One" if number % 2 else "Another 9000"))
    (cell,) = followed("grpc-thin")
    assert [point["environment"] for point in cell["points"]] == [0, 1, 0, 1]
    assert [point["change"] is None for point in cell["points"]] == [True, True, False, False]
    text = shown("grpc-thin")
    assert "B: CPU: One against Another 9000" in text
    assert "Runs on different letters are not compared." in text
    assert "No step found: it takes 9 valid runs" in text


@pytest.mark.parametrize(("floors", "verdict"), [(1.0, "regressed"), (1.25, "not resolved")])
def test_a_step_that_the_floors_took_is_no_regression(floors, verdict):
    machine = Machine(seed=3, trial_sd=0.01)
    runs = [machine.run(slower={"grpc": 1.2} if number >= 5 else None) for number in range(10)]
    moved = [
        run
        if number < 5
        else replace(run, floors=tuple(replace(f, medians=tuple(ms * floors for ms in f.medians)) for f in run.floors))
        for number, run in enumerate(runs)
    ]
    points = trend([seen_in(run)[1] for run in moved]).points
    assert [(place, point.step.verdict) for place, point in enumerate(points) if point.step] == [(5, verdict)]


# How often a level changes though nothing did, on a machine whose load moves from run to run. docs/validation/steps.csv has
# more series, without a machine.

SERIES, LENGTH = 40, 20


def seen_in(run):
    about = {"started": "", "state": "complete"}
    cells = of_summary(run)["cells"]
    return [
        Seen(run=run.run.id, **about, conditions=run.conditions, settings=run.settings, cell=cell) for cell in cells
    ]


@pytest.mark.slow
@pytest.mark.parametrize("load", ["falling", "sawtooth"])
def test_of_series_in_which_nothing_changed_few_have_a_step(load):
    marked = []
    for seed in range(SERIES):
        machine = Machine(load=LOADS[load], excess=3.0, seed=seed)
        seen = [seen_in(machine.run()) for _ in range(LENGTH)]
        marked += [
            any(point.step and point.step.verdict != "not resolved" for point in trend(of_cell).points)
            for of_cell in zip(*seen, strict=True)
        ]
    assert sum(marked) / len(marked) <= 0.06


@pytest.mark.parametrize(("at", "by"), [(6, 0.1), (14, -0.05)])
def test_a_step_far_above_the_noise_has_its_place_and_a_fluke_has_none(at, by):
    noise = [0.004 * (-1) ** (number // 2) for number in range(20)]
    assert steps([noise[n] + by * (n >= at) for n in range(20)]) == [at]
    assert steps([noise[n] + by * (at <= n < at + 2) for n in range(20)]) == []
    assert steps([1.0] * 20) == steps([1.0] * 5 + [2.0] * 2) == []
    assert steps([1.0] * 5 + [2.0] * 5) == [5], "without any noise"
