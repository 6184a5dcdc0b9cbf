"""What a plan, a report and `orch services` say of work that is not the protocol's."""

from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Write

STACKS = "[grpc, {protocol: grpc, responder: grpcio-parse-only, client: grpcio-parse-only}, rest, graphql, http+cbor]"


def planned(write: Write, stacks: str) -> Plan:
    return make_plan(write(MINIMAL.replace("[rest, grpc]", stacks)), known=protocols())


def test_the_constant_costs_of_a_stack_are_named_with_the_responder_that_is_spared_them(write: Write) -> None:
    plan = planned(write, "[{protocol: rest, responder: fastapi}, graphql, websocket]")
    assert contrasts.work_sentences(plan.stacks, plan.resolved) == (
        "These latencies include work that is not the protocol's. rest: fastapi routes every request with FastAPI and "
        "validates JSON bodies with pydantic models (asgi does not); graphql: strawberry parses and validates the "
        "same query anew at every request (strawberry-cached does not).",
    )


def test_fields_that_are_left_unread_are_said_first(write: Write) -> None:
    plan = planned(write, STACKS)
    first, _ = contrasts.work_sentences(plan.stacks, plan.resolved)
    label = "grpc (grpcio-parse-only, grpcio-parse-only)"
    assert first.startswith("Some stacks leave fields unread: ")
    assert f"{label}: grpcio-parse-only echoes records and documents without reading their fields" in first
    assert f"{label}: grpcio-parse-only stops the clock before any field of the reply is read" in first
