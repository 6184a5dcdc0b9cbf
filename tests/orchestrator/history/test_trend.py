"""`orch runs trend`: a cell over runs, where it changed, and which runs are not compared."""

import io
import json
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.runs import trends
from orchestrator.history.record import Seen
from orchestrator.history.run_record import of_summary
from orchestrator.history.trend import trend
from tests.support.machine import LOADS, Machine
from tests.support.past import a_past_run, slower, under

RESULTS = Path("results")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Calls are made in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setattr(console, "err", io.StringIO())


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


def test_a_change_is_marked_where_it_happened_and_the_level_begins_anew():
    for number in range(10):
        made(number, slower(1.3 if number >= 6 else 1.0, noise=WOBBLE[number]))
    (grpc,) = followed("grpc-thin")
    assert [point["run"] for point in grpc["points"] if point["is_change"]] == ["run06"]
    changed = grpc["points"][6]
    assert changed["verdict"] == "regressed"
    assert changed["earlier"] == 6
    assert changed["ratio"] == pytest.approx(1.3, abs=0.02)
    assert changed["change"] == pytest.approx(1.3, abs=0.02)
    assert [point["earlier"] for point in grpc["points"][7:]] == [1, 2, 3]
    (rest,) = followed("rest-thin")
    assert not any(point["is_change"] for point in rest["points"])
    text = shown("grpc-thin")
    (line,) = [line for line in text.splitlines() if line.startswith(">")]
    assert "run06" in line
    assert "regressed: 1.3" in line
    assert "1 change marked" in text


def test_runs_under_other_conditions_are_shown_and_never_compared():
    for number in range(4):
        made(number, under(CPU="One" if number % 2 else "Another 9000"))
    (cell,) = followed("grpc-thin")
    assert [point["environment"] for point in cell["points"]] == [0, 1, 0, 1]
    assert [point["earlier"] for point in cell["points"]] == [0, 0, 1, 1]
    assert cell["points"][1]["why"] == "the first one under these conditions"
    text = shown("grpc-thin")
    assert "B: CPU: One against Another 9000" in text
    assert "Runs on different letters are not compared." in text


# How often something is marked though nothing changed, and how often a true change is. Runs of `Machine` come at once, and
# their load moves from run to run; each series is of one cell, and has its own level (the numbers of docs/validation).

SERIES, LENGTH = 40, 20


def series(load, excess, *, changes_at=None, by=1.0, trial_sd=0.03):
    """For each of some machines and each of its cells: where changes are marked."""
    found = {"rest": [], "grpc": [], "cbor": []}
    for seed in range(SERIES):
        machine = Machine(load=LOADS[load], excess=excess, trial_sd=trial_sd, seed=seed)
        runs = [
            machine.run(slower={"grpc": by} if changes_at is not None and number >= changes_at else None)
            for number in range(LENGTH)
        ]
        seen = [seen_in(run) for run in runs]
        for place, protocol in enumerate(found):
            points = trend([of_run[place] for of_run in seen]).points
            found[protocol].append([number for number, point in enumerate(points) if point.is_change])
    return found


def seen_in(run):
    record = of_summary(run)
    about = {"started": "", "state": "complete", "matters": run.matters}
    return [
        Seen(run=run.run_id, **about, conditions=run.conditions, settings=run.settings, cell=cell)
        for cell in record["cells"]
    ]


def share(found):
    return sum(bool(places) for of in found.values() for places in of) / sum(map(len, found.values()))


@pytest.mark.slow
@pytest.mark.parametrize("excess", [1.3, 3.0])
@pytest.mark.parametrize("load", LOADS)
def test_of_series_in_which_nothing_changed_few_have_a_mark(load, excess):
    assert share(series(load, excess)) <= 0.05


@pytest.mark.slow
def test_a_true_change_is_marked_at_its_run():
    found = series("steady", 1.3, changes_at=12, by=1.2)["grpc"]
    assert sum(12 in places for places in found) / SERIES >= 0.8
