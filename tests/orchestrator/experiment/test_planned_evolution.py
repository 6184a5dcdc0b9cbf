"""Records that one schema writes and another reads: what a plan makes of them, and whom it does not ask."""

from __future__ import annotations

from pathlib import Path

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.limits import SCHEMA_CHANGES
from tests.support.experiments import Write

EXPERIMENTS = Path(__file__).parents[3] / "experiments"
EVOLUTION = """\
name: example
question: What is lost?
stacks: [{protocol: http+avro, client: fastavro}, {protocol: http+json, client: stdlib}]
operations: {evolution: {records: 3}}
compare_by: schema_change
"""


def test_every_change_is_a_cell_of_a_codec_alone(write: Write) -> None:
    plan = make_plan(write(EVOLUTION))
    assert {cell.kind for cell in plan.cells} == {"codec"}
    assert len(plan.cells) == 2 * len(SCHEMA_CHANGES)
    assert [cell.factors["schema_change"] for cell in plan.cells[: 2 * len(SCHEMA_CHANGES) : 2]] == list(SCHEMA_CHANGES)
    assert plan.operations[1].id == "evolution-3-records-added"


def test_the_shipped_experiment_asks_every_codec_that_reads_its_fields() -> None:
    plan = make_plan(EXPERIMENTS / "schema_evolution.yaml")
    asked = {(stack.protocol, stack.client) for stack in plan.stacks}
    every = {
        (protocol.name, client.name)
        for protocol in protocols().values()
        for client in protocol.clients
        if client.kind == "codec" and "evolution" not in client.refuses
    }
    assert asked == every
