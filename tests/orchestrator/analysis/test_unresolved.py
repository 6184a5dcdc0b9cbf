"""Where nothing is resolved, the answer begins with why, in terms of the machine."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from orchestrator.analysis import power
from orchestrator.analysis.answer import answer
from orchestrator.analysis.check_result import CheckResult
from orchestrator.analysis.equivalence import standing
from orchestrator.analysis.intervals import log_mean
from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.unresolved import is_open, sentences
from orchestrator.cli.answer import answer_lines
from orchestrator.results.manifest import SHARED
from services.python.contract.description import Description
from tests.support.runs import a_plan, a_run

HOSTS = {"local": Description(cpus=2)}
NOISE = {"where": "local", "steal": 0.0, "foreign": 0.0, "throttled": 0.0, "pressure": 0.0}


@pytest.fixture(scope="module")
def unsure():
    return summarise(a_run(base_us={"rest": 200.0, "grpc": 200.0}, between=0.4, blocks=3, seed=2))


def noise(cell, **shares):
    evidence = {"in_a_third": {**shares}, **NOISE, **shares}
    return CheckResult(
        name="noise", verdict="warn", severity="note", cell=cell, evidence=evidence, explanation="", action=""
    )


def told(run, *checks, hosts=HOSTS):
    return sentences(run.cells, run.comparisons, checks, hosts)


def test_the_cause_comes_first_then_the_medians_then_what_to_do(unsure):
    cause, medians, advice = unsure.verdicts[0].split(". ")
    assert cause == "Not resolved: the 3 blocks do not agree on which is faster, and 3 blocks are few"
    assert medians.startswith("The measured medians are: ")
    assert all(cell.stack_label in medians for cell in unsure.cells)
    assert advice.startswith(
        "To narrow it, use a quieter machine or longer trials, or let only a larger difference matter"
    )
    assert "not resolved against rest (thin)" in unsure.verdicts[1]


def test_the_terminal_begins_with_all_of_it(unsure):
    found = answer(unsure)
    assert not found.is_resolved
    lines = " ".join(answer_lines(found))
    assert lines.startswith("Not resolved: ")
    assert lines.index("The measured medians are") < lines.index("To narrow it") < lines.index("median, µs")


@pytest.mark.parametrize(
    ("shares", "clause"),
    [
        ({"steal": 0.6}, "the hypervisor took up to 0.60 of 2 CPUs away"),
        ({"steal": 3.1}, "the hypervisor took up to 2.00 of 2 CPUs away"),  # never more than the machine has
        ({"foreign": 1.46}, "other programs used up to 1.46 of 2 CPUs"),
        ({"throttled": 0.2}, "a CPU quota stopped it for up to 20 % of the time"),
        ({"pressure": 0.9}, "something waited for a CPU that others used for up to 90 % of the time"),
    ],
)
def test_which_noise_is_said_by_the_machines_own_count(unsure, shares, clause):
    text = told(unsure, noise(unsure.cells[0].id, pressure=0.1), noise(unsure.cells[1].id, **shares))
    assert text.startswith(f"Not resolved, as the machine was busy ({clause}). The measured medians")
    assert text.endswith(
        "Measure it again on a quiet machine; from a busy one nobody can tell how many repeats that takes."
    )
    assert "block" not in text


def test_the_worst_of_all_cells_is_said_and_what_is_small_is_not(unsure):
    checks = [noise(cell.id, steal=0.04, foreign=share) for cell, share in zip(unsure.cells, (0.5, 1.2), strict=True)]
    text = told(unsure, *checks)
    assert "(other programs used up to 1.20 of 2 CPUs)" in text


def test_the_cpus_are_those_of_the_host_that_was_loud(unsure):
    hosts = {"near": Description(cpus=8), "far": Description(cpus=4)}
    assert "1.00 of 4 CPUs" in told(unsure, noise(unsure.cells[0].id, where="far", steal=1.0), hosts=hosts)
    assert "up to 1.00 CPUs away" in told(unsure, noise(unsure.cells[0].id, where="responder", steal=1.0), hosts=hosts)


def test_too_few_blocks_are_a_cause():
    run = summarise(a_run(blocks=2))
    assert run.verdicts[0].startswith("Not resolved: 2 of at least 3 blocks that an interval needs.")
    loud = told(run, *(noise(cell.id, pressure=0.9) for cell in run.cells))
    assert loud.endswith("Measure it again on a quiet machine, with more blocks: `--set repeats=5`.")


def test_a_run_that_tells_something_begins_with_that():
    run = summarise(a_run())
    assert not is_open(run.comparisons)
    assert told(run) == ""
    assert answer(run).is_resolved


def test_a_tie_is_an_answer(unsure):
    ties = tuple(replace(c, standing="tie") for c in unsure.comparisons)
    assert not is_open(ties)


def test_where_failed_checks_forbid_every_comparison_those_are_the_cause(unsure):
    failed = replace(noise(None), name="floor", verdict="fail", severity="fatal")
    assert told(unsure, failed) == ""


def test_a_reference_that_differs_from_itself_is_a_cause(unsure):
    apart = tuple(replace(c, standing="not resolved", interval=(1.02, 1.08)) for c in unsure.comparisons)
    text = sentences(unsure.cells, apart, (), HOSTS)
    assert text.startswith("Not resolved: the reference, entered twice, differs from itself")


def spread(unsure, *by_block, interval=(0.7, 1.1), **more):
    """The run's comparison by the median with these blocks."""
    return tuple(
        replace(c, by_block=by_block, blocks=tuple(range(len(by_block))), interval=interval, **more)
        for c in unsure.comparisons
        if c.statistic == "median"
    )


def test_blocks_that_all_point_the_same_way_are_said_to_be_too_few(unsure):
    text = sentences(unsure.cells, spread(unsure, 0.916, 0.904, 0.808), (), HOSTS)
    assert text.startswith(
        "Not resolved: 3 blocks are too few, as the interval reaches across 1 although they all point the same way."
    )


def test_one_loud_trial_is_no_cause_and_neither_is_noise_of_another_cell(unsure):
    one = noise(unsure.cells[0].id, foreign=1.5)
    one = replace(one, evidence={**one.evidence, "in_a_third": {"foreign": 0.1}})
    assert "busy" not in told(unsure, one)
    assert "busy" not in told(unsure, noise("elsewhere", foreign=1.5))


def test_the_advice_is_the_number_of_the_plan(unsure):
    found = spread(unsure, 0.97, 1.06, 0.99, 1.03, interval=(0.93, 1.08))
    text = sentences(unsure.cells, found, (), HOSTS)
    needed = power.repeats_to_settle(0.05, power.spread_of(found), compared=1)
    planned = power.describe(
        a_plan(blocks=4), [{"run_id": "r", "name": "synthetic", "comparisons": [asdict(found[0])]}]
    )
    assert needed == max(planned.repeats_for_wanted, planned.repeats_for_tie)
    assert text.endswith(
        f"To settle it (four times in five, at this spread), measure more blocks: `--set repeats={needed}`."
    )


def test_the_repeats_to_settle_do_so_four_times_in_five_by_the_rule_itself():
    blocks = power.repeats_to_settle(0.05, 0.04)
    rng = np.random.default_rng(5)
    for ratio, word in ((1.0, "tie"), (1.05, "slower")):
        logs = rng.normal(np.log(ratio), 0.04, (1_000, blocks))
        called = [standing(log_mean(row).interval(), 0.05) for row in logs]
        assert np.mean([one == word for one in called]) > 0.76


def test_never_fewer_repeats_than_were_planned_are_advised(unsure):
    cells = [replace(cell, planned_trials=40) for cell in unsure.cells]
    text = sentences(cells, spread(unsure, 0.97, 1.01, 0.99, 1.0, interval=(0.94, 1.03)), (), HOSTS)
    assert "To narrow it, measure more blocks: `--set repeats=80`." in text


def test_a_run_that_was_interrupted_is_to_be_resumed(unsure):
    cells = [replace(cell, planned_trials=10) for cell in unsure.cells]
    text = sentences(cells, unsure.comparisons, (), HOSTS, is_complete=False)
    assert text.startswith("Not resolved: the run was interrupted after 6 of 20 trials. ")
    assert text.endswith("To continue it: `orch run --resume`.")


def test_what_failed_is_not_settled_by_more_blocks(unsure):
    lost = spread(unsure, 0.5, 0.5, interval=None, standing="cannot tell", why="grpc: 1 of 3 trials failed entirely")
    assert sentences(unsure.cells, lost, (), HOSTS).endswith("More blocks alone will not settle it: fix that first.")


def test_blocks_that_agree_are_not_blamed_for_what_widens_their_intervals(unsure):
    found = spread(unsure, 1.0, 1.02, 1.01, interval=(0.7, 1.45))
    many = tuple(replace(c, cell=unsure.comparisons[0].cell) for c in found * 42)
    text = sentences(unsure.cells, many, (), HOSTS)
    assert text.startswith("Not resolved: the blocks agree, but the intervals are widened for 42 comparisons")
    wider = tuple(replace(c, interval=(0.1, 10.0)) for c in many)
    text = sentences(unsure.cells, wider, (), HOSTS)
    assert "widened for 42 comparisons and with an error shared with noisier cells. " in text


def test_a_resolved_answer_begins_with_what_was_busy(monkeypatch):
    monkeypatch.setattr(
        "orchestrator.analysis.summarise.run_checks",
        lambda evidence: tuple(noise(cell.cell.id, foreign=1.2) for cell in evidence.cells),
    )
    run = summarise(a_run())
    found = answer(run)
    said = (
        "The machine was busy (other programs used up to 1.20 CPUs): repeat this on a quiet one before you rely on it."
    )
    assert found.is_resolved
    assert run.verdicts[0] == found.headline()[0] == found.to_dict()["busy"] == run.to_dict()["busy"] == said
    assert "takes" in found.headline()[1]
    assert said in " ".join(answer_lines(found))


def test_a_run_that_shared_its_machine_says_so_before_its_answer():
    run = a_run()
    run.stored = replace(run.stored, warnings=(SHARED,))
    found = summarise(run)
    assert found.verdicts[0].startswith("The machine was busy (shared with another measurement): repeat this")
    assert summarise(a_run()).busy == ""


def test_what_was_disturbed_unequally_is_the_cause(unsure):
    unequal = tuple(replace(c, reason="disturbed unequally", why="WHY") for c in unsure.comparisons)
    assert sentences(unsure.cells, unequal, (), HOSTS).startswith("Not resolved: WHY. ")
    assert "WHY" not in sentences(unsure.cells, unsure.comparisons, (), HOSTS)


def test_a_run_that_shared_its_machine_and_resolves_nothing_puts_it_down_to_that(unsure):
    text = sentences(unsure.cells, unsure.comparisons, (), HOSTS, is_shared=True)
    assert text.startswith("Not resolved, as the machine was busy (shared with another measurement). ")
