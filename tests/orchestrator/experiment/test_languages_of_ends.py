"""Stacks of several languages: a plan says whose each end is, and a language that is not built can be left out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.planning import make_plan

FILE = Path(__file__).parents[3] / "experiments" / "languages.yaml"


def test_every_language_asks_and_answers_every_other() -> None:
    plan = make_plan(FILE, needs_programs=False)
    ends = contrasts.languages_of_stacks({"resolved": plan.resolved})
    assert ends.keys() == {stack.id for stack in plan.stacks}
    spoken = ("Python", "Go", "Rust", "Node.js")
    for protocol in ("rest", "grpc", "tcp"):
        of = {ends[stack.id] for stack in plan.stacks if stack.protocol == protocol}
        assert of == set(product(spoken, spoken))
    assert ends["rest-hyper-undici"] == ("Rust", "Node.js")


def test_a_row_of_cells_with_every_stack_of_many_says_so_in_place_of_their_names() -> None:
    plan = make_plan(FILE, needs_programs=False)
    document = plan_document(plan, FILE) | {"terraform": None, "machine_now": None}
    rows = [line for line in plan_lines(plan, document) if line.startswith("echo 10 records ")]
    assert len(rows) == 2
    assert all(row.endswith("  all 48") for row in rows)
