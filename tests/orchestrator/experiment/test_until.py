"""`repeats: {until: 3%, at_most: 30}`: what a file may say, and what its plan keeps of it."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.plan.plan import Plan, Until
from orchestrator.experiment.plan.planning import make_plan

TEXT = "name: until\nquestion: Which?\nstacks: [rest, grpc]\noperations: [timestamp]\n"


def planned(folder: Path, more: str, text: str = TEXT) -> Plan:
    path = folder / "until.yaml"
    path.write_text(text + more)
    return make_plan(path, needs_programs=False)


def test_the_schedule_has_room_for_the_most_blocks_and_is_that_of_as_many_fixed_ones(tmp_path):
    plan = planned(tmp_path, "repeats: {until: 3%, at_most: 12}\n")
    assert plan.until == Until(within=0.03, at_least=3, at_most=12)
    fixed = planned(tmp_path, "repeats: 12\n")
    assert plan.trials == fixed.trials
    assert plan.id != fixed.id
