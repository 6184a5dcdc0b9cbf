"""Timing rules that mislead are the question of a whole experiment; everything else refuses them at plan time."""

from __future__ import annotations

import pytest

from orchestrator.catalogue.read import catalogue
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.timing_rules import RULES, are_asked_for
from tests.support.experiments import Known, Write, problems

HEAD = "name: example\nquestion: Which?\n"
WHOLE = HEAD + "timing_rules: misleading\nwarmup: {requests: 5, at_least: 0s}\n"


def test_an_experiment_that_says_so_has_a_row_of_each_rule_behind_every_request(write: Write) -> None:
    plan = make_plan(write(f"{WHOLE}stacks: [rest, grpc]\noperations: timestamp\n"))
    assert [are_asked_for(cell.factors) for cell in plan.cells] == [True, True]
    assert {cell.parts for cell in plan.cells} == {len(RULES)}
    assert all("__timing-rules__" in cell.id for cell in plan.cells)


def test_every_other_experiment_has_none(write: Write, known: Known) -> None:
    plan = make_plan(write(f"{HEAD}stacks: [rest, grpc]\noperations: timestamp\n"), known=known)
    assert not any(are_asked_for(cell.factors) or cell.parts for cell in plan.cells)
    assert not any("timing" in cell.id for cell in plan.cells)


REFUSED = {
    "are an experiment's own question": f"{HEAD}stacks: [grpc, {{protocol: rest, timing_rules: misleading}}]\n"
    "operations: timestamp\n",
    "give it alone, in an experiment of its own": f"{HEAD}timing_rules: [none, misleading]\nstacks: rest\n"
    "operations: timestamp\nwarmup: {requests: 5, at_least: 0s}\n",
    "nothing is compared by `timing_rules`": f"{WHOLE}compare_by: timing_rules\nstacks: rest\noperations: timestamp\n",
    "`requesters: 2`": f"{WHOLE}requesters: 2\nload: {{concurrency: 2}}\nprovider: lab\nplacements: same-zone\n"
    "stacks: rest\n"
    "operations: timestamp\n",
    "`add`, whose reply has no stamp": f"{WHOLE}stacks: rest\noperations: add\n",
    "`calls: 3`": f"{WHOLE}stacks: rest\noperations: {{timestamp: {{calls: 3}}}}\n",
    "`connection: per-request`": f"{WHOLE}connection: per-request\nstacks: rest\noperations: timestamp\n",
    "`processes: 2`": f"{WHOLE}processes: 2\nload: {{concurrency: 2}}\nstacks: rest\noperations: timestamp\n",
    "4 in flight": f"{WHOLE}load: {{concurrency: 4}}\nstacks: rest\noperations: timestamp\n",
    "a rate": f"{WHOLE}load: {{rate: 50/s, duration: 2s}}\nstacks: rest\noperations: timestamp\n",
    "think time": f"{WHOLE}load: {{think: 5ms}}\nstacks: rest\noperations: timestamp\n",
    "a warm-up of so much time": f"{HEAD}timing_rules: misleading\nwarmup: {{requests: 5, at_least: 1s}}\nstacks: rest\n"
    "operations: timestamp\n",
    "a rate that `find` searches for": f"{WHOLE}stacks: rest\noperations: timestamp\n"
    "load: {find: {highest: rate, while: ['p99 < 10ms'], from: 50/s, to: 400/s}}\n",
}


@pytest.mark.parametrize("why", REFUSED)
def test_rules_are_refused_where_they_could_enter_another_question(why: str, write: Write) -> None:
    assert any(why in problem for problem in problems(write(REFUSED[why]), dict(catalogue().protocols)))


@pytest.mark.parametrize(
    "override", ["timing_rules=misleading", "timing_rules=[none, misleading]", "stacks.0.timing_rules=misleading"]
)
def test_no_option_brings_them_into_an_experiment(override: str, write: Write) -> None:
    file = write(f"{HEAD}stacks: [rest, grpc]\noperations: timestamp\nwarmup: {{requests: 5, at_least: 0s}}\n")
    with pytest.raises(UsageError, match="are not set from outside of its file"):
        make_plan(file, [override])
    assert make_plan(file, ["repeats=3"]).repeats == 3
