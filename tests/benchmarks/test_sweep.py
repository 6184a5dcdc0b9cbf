"""What the benchmark of several distances compares: as many trials of the same length, at five distances and at one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import sweep
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan


def planned(folder: Path, kind: str) -> Plan:
    path = folder / f"{kind}.yaml"
    path.write_text(sweep.experiment(kind, 2, 1))
    return make_plan(path)


def test_all_kinds_have_the_same_trials(tmp_path: Path):
    plans = {kind: planned(tmp_path, kind) for kind in sweep.KINDS}
    assert {len(plan.trials) for plan in plans.values()} == {2 * 2 * len(sweep.RTTS_MS)}
    assert {(cell.load, cell.warmup) for plan in plans.values() for cell in plan.cells} == {
        (cell.load, cell.warmup) for cell in plans["sweep"].cells[:1]
    }
    rtts = {kind: [placement.link.rtt_ms for placement in plan.placements] for kind, plan in plans.items()}
    mean = sum(sweep.RTTS_MS) / len(sweep.RTTS_MS)
    assert rtts["sweep"] == list(sweep.RTTS_MS)
    assert [rtts[kind] for kind in ("blocks", "cells")] == [[pytest.approx(mean, abs=0.5)]] * 2
    assert [plan.repeats for plan in plans.values()] == [2, 10, 2]


def test_kinds_take_turns_and_every_other_round_backwards():
    order = sweep.orders(sweep.KINDS, 2)
    assert order == [*sweep.KINDS, *reversed(sweep.KINDS)]
    assert Counter(order) == dict.fromkeys(sweep.KINDS, 2)


def test_a_ratio_is_of_runs_of_one_round():
    runs = [
        {"kind": "sweep", "wall_s": 105.0},
        {"kind": "blocks", "wall_s": 100.0},
        {"kind": "blocks", "wall_s": 50.0},
        {"kind": "sweep", "wall_s": 51.0},
    ]
    assert sweep.ratios(runs, "wall_s", "blocks") == [1.05, 1.02]
