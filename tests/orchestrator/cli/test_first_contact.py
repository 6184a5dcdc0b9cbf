"""What somebody sees first: status while a run goes on, the answer at its end, suggestions, and captions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from orchestrator.cli.answer import answer_lines
from orchestrator.cli.machine import hosts
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.support.plans import plan
from tests.support.runs import a_run


def test_status_shows_a_local_run_that_goes_on_and_afterwards_none(out):
    folder = RunFolder.create(plan(repeats=3), command=["orch", "run"], root=Path("results"))
    folder.append({"event": "stage", "stage": "measure"})

    hosts.status()
    during = out.said()
    assert folder.id in during
    assert "on this machine" in during
    assert "experiment a test" in during
    assert "trial 1 of 3, about " in during
    assert "; 0 of 3 blocks done" in during
    assert "nothing is up" not in during

    folder.release()
    hosts.status()
    assert out.said() == "nothing is up, and no run is in progress here\n"


def test_status_names_the_cell_that_is_measured_and_the_blocks_done(out):
    folder = RunFolder.create(plan("tcp", "rest", repeats=2), command=["orch", "run"], root=Path("results"))
    folder.append({"event": "stage", "stage": "measure"})
    folder.append({"event": "block", "block": 0, "attempt": 0})
    hosts.status()
    assert "    now: tcp · echo 64 B" in out.getvalue().splitlines()
    folder.append({"event": "block-end", "block": 0, "attempt": 0})
    out.said()
    hosts.status(as_json=True)
    (run,) = json.loads(out.said())["runs"]
    keys = ("experiment", "stage", "cell", "blocks", "blocks_done")
    assert [run[key] for key in keys] == ["a test", "measure", "", 2, 1]
    folder.release()


def test_an_interval_that_says_nothing_is_called_wide():
    summary = summarise(a_run())
    wide = replace(summary.cells[0], median_interval=(0.00054, 8590.0))
    widened = replace(summary, cells=(wide, *summary.cells[1:]))
    lines = "\n".join(answer_lines(widened, width=1000))
    assert " wide" in lines
    assert "8,590" not in lines
