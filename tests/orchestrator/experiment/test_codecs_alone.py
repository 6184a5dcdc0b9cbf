"""Stacks that encode and decode, and ask nobody: what a plan makes of them, and what an experiment cannot ask of them."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.plan.contrasts import against_reference, pairs
from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import Write

EXPERIMENTS = Path(__file__).parents[3] / "experiments"

CODECS = """\
name: example
question: Which is quicker?
stacks:
  - {protocol: json, client: [stdlib, orjson]}
  - {protocol: cbor, client: cbor2}
operations: [add, {echo: {records: 20}}]
"""


def of(write: Write, text: str = CODECS):
    return make_plan(write(text))


def test_its_cells_are_of_their_own_kind_and_have_nobody_who_answers(write: Write) -> None:
    plan = of(write)
    assert {cell.kind for cell in plan.cells} == {"codec"}
    assert {stack.responder for stack in plan.stacks} == {"none"}
    assert {cell.id for cell in plan.cells} >= {"json-none-orjson__add__local__c1", "cbor-none-cbor2__add__local__c1"}


def test_what_is_of_a_call_has_no_value_in_its_cells(write: Write) -> None:
    for cell in of(write).cells:
        assert cell.factors["connection"] is cell.factors["compression"] is None


def test_it_differs_in_codec_and_library_alone(write: Write) -> None:
    assert dict(against_reference(of(write))) == {"json (orjson)": ("library",), "cbor": ("codec", "library")}


def test_no_floor_is_measured_under_it_and_nothing_is_sent(write: Write) -> None:
    plan = of(write)
    expected = estimate(plan)
    assert expected.baselines_s == 0
    assert expected.traffic.between_bytes == expected.traffic.out_bytes == 0
    assert expected.hosts == ()


def test_it_is_never_compared_with_a_call(write: Write) -> None:
    plan = of(write, CODECS.replace("operations:", "  - cbor\noperations:"))
    kinds = {cell.id: cell.kind for cell in plan.cells}
    assert set(kinds.values()) == {"codec", "call"}
    found = list(pairs(plan))
    assert found
    assert all(kinds[pair.cell.id] == kinds[pair.reference.id] for pair in found)


def test_its_row_of_the_plan_has_a_dash_for_what_only_a_call_has(write: Write) -> None:
    plan = of(write, CODECS.replace("operations:", "  - cbor\noperations:"))
    document = {**plan_document(plan, Path("plan.json")), "terraform": None}
    lines = "\n".join(plan_lines(plan, document))
    assert "kept open (reuse)" in lines
    assert re.search(r"^add +local +- ", lines, re.MULTILINE)
    assert "None" not in lines


def test_in_a_block_all_code_the_same_messages(write: Write) -> None:
    plan = of(write)
    operation = {cell.id: cell.operation for cell in plan.cells}
    seeds: dict[tuple[int, str], set[int]] = {}
    for trial in plan.trials:
        seeds.setdefault((trial.block, operation[trial.cell]), set()).add(trial.seed)
    assert {len(of_block) for of_block in seeds.values()} == {1}
    assert len(set.union(*seeds.values())) == len(seeds)


def test_codec_only_compares_codecs_and_libraries() -> None:
    plan = make_plan(EXPERIMENTS / "codec_only.yaml")
    assert {cell.kind for cell in plan.cells} == {"codec"}
    assert len(plan.cells) == 8 * 6
    assert {parts for _, parts in against_reference(plan)} == {
        ("library",),
        ("codec",),
        ("codec", "library"),
        ("codec", "reading", "library"),
    }


def test_what_does_not_apply_to_it_can_be_left_to_the_stacks_that_call(write: Write) -> None:
    mixed = CODECS.replace("operations:", "  - {protocol: cbor, client: pycurl, connection: per-request}\noperations:")
    plan = of(write, mixed + "load: {concurrency: [1, 8]}\nexclude: [{responder: none, concurrency: 8}]\n")
    assert {(cell.kind, cell.factors["concurrency"]) for cell in plan.cells} == {("codec", 1), ("call", 1), ("call", 8)}
