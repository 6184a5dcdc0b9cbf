"""The simulation of runs that end when intervals are narrow: its rule is that of orch, and intervals cover what they say."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated import VALIDATION
from benchmarks.until import EFFECTS, correlated, coverage, ended, log_ratios, table
from orchestrator.experiment.plan.plan import Until
from orchestrator.findings.compare import SHARE
from orchestrator.questions.until import find as until
from orchestrator.results.turn_times import TrialMedian
from tests.support.plans import plan

MOST = 12


def test_the_simulated_rule_is_that_of_runs():
    planned = replace(plan("tcp", "rest", "grpc", repeats=MOST), until=Until(within=0.05, at_least=3, at_most=MOST))
    reference, *others = (cell.id for cell in planned.cells)
    logs = log_ratios(EFFECTS["normal"], np.random.default_rng(3), runs=12, blocks=MOST, compared=2, sd=0.05)
    blocks, _, halves = ended(logs, within=0.05)
    assert 3 <= blocks.min() < blocks.max()
    for run, of in enumerate(logs):
        medians = {
            block: {
                cell: TrialMedian(median=value)
                for cell, value in {reference: 1.0, **dict(zip(others, np.exp(ratios), strict=True))}.items()
            }
            for block, ratios in enumerate(of)
        }
        ends = (n for n in range(3, MOST) if until.look(planned, medians, n).reached)
        assert next(ends, MOST) == blocks[run]
        widths = until.look(planned, medians, int(blocks[run])).widths
        assert [w.reaches for w in widths] == pytest.approx(list(np.expm1(halves[run])))


def test_without_the_correction_intervals_cover_less():
    corrected, plain = (coverage("normal", runs=1500, sd=0.03, share=share)["covered"] for share in (SHARE, 1.0))
    assert plain < corrected


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
@pytest.mark.parametrize("sd", [0.01, 0.03, 0.06, 0.25])
def test_a_comparison_alone_is_covered_in_93_to_97_per_cent(effects, sd):
    runs = 4000
    chance = 3 * (0.06 * 0.94 / runs) ** 0.5
    most = 0.985 if effects == "two groups" else 0.97  # whose three blocks often lie to either side
    assert 0.93 - chance <= coverage(effects, runs=runs, sd=sd)["covered"] <= most + chance


@pytest.mark.slow
@pytest.mark.parametrize("compared", [3, 8])
def test_several_comparisons_hold_together_at_least_as_often_as_promised(compared):
    for sd in (0.01, 0.06):
        assert coverage("normal", runs=2000, sd=sd, compared=compared)["covered"] >= 0.94


def test_blocks_that_depend_on_each_other_are_covered_less_often_as_the_page_says_and_fixed_ones_too():
    found = correlated(0.6, sd=0.04, runs=2000)
    assert found["covered"] == pytest.approx(0.70, abs=0.04)
    assert found["fixed_covered"] == pytest.approx(0.69, abs=0.04)
    assert correlated(0.0, sd=0.04, runs=2000)["covered"] > 0.92


def test_the_page_is_of_the_rule_of_now():
    """93 to 97 %, by as much as three standard errors of the simulation, where effects are normal; never below 93 %."""
    kept = list(csv.reader((VALIDATION / "until.csv").read_text(encoding="utf-8").splitlines()))
    heads, *rows = kept
    chance = 3 * (0.06 * 0.94 / 8000) ** 0.5
    for row in rows:
        normal, heavy, groups = (float(share.rstrip("%")) / 100 for share in row[1:4])
        assert 0.93 - chance <= normal <= 0.97 + chance
        assert min(heavy, groups) >= 0.93 - chance
    assert heads == [word.strip() for word in next(table(1, 1)).strip("|").split("|")]
