"""Which earlier runs a plan learns from."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.cli.experiments import plan_text
from orchestrator.clock import Clock
from orchestrator.results.folder import RunFolder
from tests.support.runs import a_plan


def test_runs_of_the_same_experiment_are_found_behind_many_others(tmp_path, monkeypatch):
    monkeypatch.setattr(plan_text, "read_summaries", lambda runs: [run.id for run in runs])

    def made(name, day):
        plan = replace(a_plan(), name=name)
        now = Clock(wall_ns=lambda: day * 86_400 * 10**9, monotonic_s=lambda: 0.0)
        folder = RunFolder.create(plan, command=(), root=tmp_path, now=now)
        folder.release()
        return folder.id

    mine = [made("mine", day) for day in (1, 2)]
    longer = [made("mine_too", 3)]
    others = [made("other", day) for day in range(4, 12)]
    found = plan_text.earlier_summaries(tmp_path, "mine")
    assert found == [*reversed(others[-5:]), *reversed(mine)]
    assert longer[0] not in found
