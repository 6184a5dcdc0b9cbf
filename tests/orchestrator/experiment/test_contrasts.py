"""What `compare_by` and `reference` ask for, and what is refused with its place and a way out."""

import pytest

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.contrasts import compared, pairs
from orchestrator.experiment.plan.plan import Contrast
from orchestrator.experiment.plan.planning import make_plan

MINIMAL = """\
name: example
question: Which one?
stacks: [rest, grpc]
operations: [{echo: {bytes: [100 B, 10 kB]}}]
"""
KEPT_OR_NOT = MINIMAL + "connection: [reuse, per-request]\n"


def asked(plan):
    return [(p.factor, p.cell.id, p.reference.id) for p in pairs(plan) if not p.is_control]


def test_cells_that_differ_in_the_connection_alone_are_compared(write, known):
    plan = make_plan(write(KEPT_OR_NOT + "compare_by: connection\nreference: per-request\n"), known=known)
    assert plan.contrasts == (Contrast(factor="connection", references=("per-request",)),)
    found = asked(plan)
    assert len(found) == 4
    assert all(beside == cell.replace("__reuse__", "__per-request__") for _, cell, beside in found)
    assert compared(plan) == "connection: a kept connection against a connection per request (4 pairs of cells)"


def test_the_first_value_is_the_reference_unless_given_and_a_payload_brings_its_size(write, known):
    plan = make_plan(write(MINIMAL + "compare_by: payload\n"), known=known)
    assert plan.contrasts[0].references == ("echo 100 B",)
    assert compared(plan) == "payload: 10 kB against 100 B (2 pairs of cells)"
    by_bytes = make_plan(write(MINIMAL + "compare_by: bytes\nreference: 10 kB\n"), known=known)
    assert by_bytes.contrasts[0].references == (10_000,)
    assert compared(by_bytes) == "bytes: 100 B against 10 kB (2 pairs of cells)"


def test_a_client_is_compared_within_one_responder(write, known):
    stacks = "[{protocol: rest, client: [thin, parallel]}, grpc]"
    text = MINIMAL.replace("[rest, grpc]", stacks) + "compare_by: client\nreference: thin\n"
    assert {
        (cell.split("__")[0], beside.split("__")[0]) for _, cell, beside in asked(make_plan(write(text), known=known))
    } == {("rest-fastapi-parallel", "rest-fastapi-thin")}


def test_loads_are_compared_with_several_references_each_pair_once(write, known):
    text = MINIMAL.replace("[100 B, 10 kB]", "100 B") + (
        "load: {concurrency: [2, 4, 8]}\ncompare_by: concurrency\nreference: [2, 4]\n"
    )
    plan = make_plan(write(text), known=known)
    found = [(cell[-2:], beside[-2:]) for _, cell, beside in asked(plan) if cell.startswith("grpc")]
    assert found == [("c4", "c2"), ("c8", "c2"), ("c8", "c4")]


def test_stack_and_factor_are_compared_together_and_the_plan_says_so(write, known):
    path = write(KEPT_OR_NOT + "compare_by: [stack, connection]\nreference: [grpc, per-request]\n")
    plan = make_plan(path, known=known)
    assert plan.reference == "grpc-grpcio-grpcio"
    document = plan_document(plan, path)
    assert document["power"]["comparisons"] == 8
    text = "\n".join(plan_lines(plan, document | {"terraform": None}))
    assert (
        "compared   stacks with grpc; connection: a kept connection against a connection per request (8 pairs" in text
    )


@pytest.mark.parametrize(
    ("factor", "value", "said"),
    [
        ("connection", "reuse", "with a kept connection"),
        ("compression", "none", "with no compression"),
        ("payload", "echo 10 kB", "at 10 kB"),
        ("bytes", 10_000, "at 10 kB"),
        ("records", 10, "with 10 records"),
        ("client", "pycurl", "with pycurl"),
        ("placement", "same-zone", "at same-zone"),
        ("concurrency", 8, "with 8 in flight"),
        ("rate", 100.0, "at 100/s"),
    ],
)
def test_a_value_that_is_compared_is_said_with_its_preposition(factor, value, said):
    assert BY_NAME[factor].compared(value) == said
