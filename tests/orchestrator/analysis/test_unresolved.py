"""Where nothing is resolved, the answer begins with why, in terms of the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.analysis.answer import answer
from orchestrator.analysis.summarise import summarise
from orchestrator.analysis.summary import CheckResult
from orchestrator.analysis.unresolved import is_open, sentences
from orchestrator.cli.answer import answer_lines
from tests.support.runs import a_run

HOSTS = {"local": {"cpus": 2}}
NOISE = {"where": "local", "steal": 0.0, "foreign": 0.0, "throttled": 0.0, "pressure": 0.0}


@pytest.fixture(scope="module")
def unsure():
    return summarise(a_run(base_us={"rest": 200.0, "grpc": 200.0}, between=0.4, blocks=3, seed=2))


def noise(cell, **shares):
    evidence = {**NOISE, **shares}
    return CheckResult(
        name="noise", verdict="warn", severity="note", cell=cell, evidence=evidence, explanation="", action=""
    )


def told(run, *checks, hosts=HOSTS):
    return sentences(run.cells, run.comparisons, checks, hosts)


def test_the_cause_comes_first_then_the_medians_then_what_to_do(unsure):
    cause, medians, advice = unsure.verdicts[0].split(". ")
    assert cause == "Not resolved: the 3 blocks differ by more than the stacks do, and 3 blocks are few"
    assert medians.startswith("The medians were, all the same: ")
    assert all(cell.stack_label in medians for cell in unsure.cells)
    assert advice == "To settle it, measure more blocks: `--set repeats=6`."
    assert "not resolved against rest (thin)" in unsure.verdicts[1]


def test_the_terminal_begins_with_all_of_it(unsure):
    found = answer(unsure)
    assert not found.is_resolved
    lines = " ".join(answer_lines(found))
    assert lines.startswith("Not resolved: ")
    assert lines.index("The medians were") < lines.index("--set repeats=6") < lines.index("median, µs")


@pytest.mark.parametrize(
    ("shares", "clause"),
    [
        ({"steal": 0.6}, "the hypervisor took up to 0.60 of 2 CPUs away"),
        ({"steal": 3.1}, "the hypervisor took up to 2.00 of 2 CPUs away"),  # never more than the machine has
        ({"foreign": 1.46}, "other programs used up to 1.46 of 2 CPUs"),
        ({"throttled": 0.2}, "a CPU quota stopped it for up to 20 % of the time"),
        ({"pressure": 0.9}, "something waited for a CPU for up to 90 % of the time"),
    ],
)
def test_which_noise_is_said_by_the_machines_own_count(unsure, shares, clause):
    text = told(unsure, noise(unsure.cells[0].id, pressure=0.1), noise(unsure.cells[1].id, **shares))
    assert text.startswith(f"Not resolved, as the machine was busy ({clause}): the 3 blocks")
    assert "measure more blocks on a quieter machine" in text


def test_the_worst_of_all_cells_is_said_and_what_is_small_is_not(unsure):
    checks = [noise(cell.id, steal=0.04, foreign=share) for cell, share in zip(unsure.cells, (0.5, 1.2), strict=True)]
    text = told(unsure, *checks)
    assert "(other programs used up to 1.20 of 2 CPUs)" in text


def test_the_cpus_are_those_of_the_host_that_was_loud(unsure):
    hosts = {"near": {"cpus": 8}, "far": {"cpus": 4}}
    assert "1.00 of 4 CPUs" in told(unsure, noise(unsure.cells[0].id, where="far", steal=1.0), hosts=hosts)
    assert "up to 1.00 CPUs away" in told(unsure, noise(unsure.cells[0].id, where="responder", steal=1.0), hosts=hosts)


def test_too_few_blocks_are_a_cause():
    run = summarise(a_run(blocks=2))
    assert run.verdicts[0].startswith("Not resolved: 2 of at least 3 blocks that an interval needs.")


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
