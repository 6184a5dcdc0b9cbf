"""Stacks that encode and decode, and ask nobody: what a plan makes of them, and what an experiment cannot ask of them."""

from __future__ import annotations

from pathlib import Path

from orchestrator.experiment.plan.contrasts import against_reference
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import Write

EXPERIMENTS = Path(__file__).parents[3] / "experiments"

CODECS = """\
name: example
question: Which is quicker?
stacks:
  - {protocol: http+json, client: [stdlib, orjson]}
  - {protocol: http+cbor, client: cbor2}
operations: [add, {echo: {records: 20}}]
"""


def of(write: Write, text: str = CODECS):
    return make_plan(write(text))


def test_its_cells_are_of_their_own_kind_and_have_nobody_who_answers(write: Write) -> None:
    plan = of(write)
    assert {cell.kind for cell in plan.cells} == {"codec"}
    assert {stack.responder for stack in plan.stacks} == {"none"}
    assert {cell.id for cell in plan.cells} >= {
        "http+json-none-orjson__add__local__c1",
        "http+cbor-none-cbor2__add__local__c1",
    }


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
