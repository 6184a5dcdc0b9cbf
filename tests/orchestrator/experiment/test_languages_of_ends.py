"""Stacks of several languages: a plan says whose each end is, and a language that is not built can be left out."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines, stack_lines
from orchestrator.experiment.plan import contrasts, topology
from orchestrator.experiment.plan.planning import make_plan

FILE = Path(__file__).parents[3] / "experiments" / "languages.yaml"
WAYS = re.findall(r"--set '([^']+)'", FILE.read_text(encoding="utf-8"))


def test_every_language_asks_and_answers_every_other() -> None:
    plan = make_plan(FILE, needs_programs=False)
    ends = contrasts.languages_of_stacks({"resolved": plan.resolved})
    assert ends.keys() == {stack.id for stack in plan.stacks}
    spoken = ("Python", "Go", "Rust", "Node.js")
    for protocol in ("rest", "grpc", "tcp"):
        of = {ends[stack.id] for stack in plan.stacks if stack.protocol == protocol}
        assert of == set(product(spoken, spoken))
    assert ends["rest-hyper-undici"] == ("Rust", "Node.js")


def test_the_plan_of_several_languages_names_them_and_another_does_not() -> None:
    several = list(stack_lines(make_plan(FILE, needs_programs=False)))
    one = list(stack_lines(make_plan(FILE.with_name("http_clients.yaml"), needs_programs=False)))
    assert ["languages" in lines[0] for lines in (several, one)] == [True, False]
    assert any(line.startswith("rest (hyper, undici) ") and "Rust ← Node.js" in line for line in several)
    assert not any("←" in line for line in one)


def test_a_row_of_cells_with_every_stack_of_many_says_so_in_place_of_their_names() -> None:
    plan = make_plan(FILE, needs_programs=False)
    document = plan_document(plan, FILE) | {"terraform": None, "machine_now": None}
    rows = [line for line in plan_lines(plan, document) if line.startswith("echo 10 records ")]
    assert len(rows) == 2
    assert all(row.endswith("  all 48") for row in rows)


def test_requests_in_flight_have_a_connection_each_in_every_language() -> None:
    plan = make_plan(FILE, needs_programs=False)
    assert {(cell.connection, cell.factors["connections"]) for cell in plan.cells} == {("reuse", "each")}
    assert {cell.load.concurrency for cell in plan.cells} == {1, 50}


def test_cells_of_every_language_are_asked_alike_under_each_load() -> None:
    plan = make_plan(FILE, needs_programs=False)
    assert len({(cell.setting, cell.load) for cell in plan.cells}) == 2


@pytest.mark.parametrize(("way", "title"), [*zip(WAYS, ("Rust", "Node.js"), strict=True)])
def test_the_ways_to_leave_a_language_out_need_none_of_its_programs(way: str, title: str) -> None:
    plan = make_plan(FILE, [way], needs_programs=False)
    assert title not in {language.title for language in topology.needed_languages(plan)}
    assert {"Python", "Go"} <= {language.title for language in topology.needed_languages(plan)}
