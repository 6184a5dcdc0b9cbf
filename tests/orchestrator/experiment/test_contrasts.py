"""What `compare_by` and `reference` ask for, and what is refused with its place and a way out."""

from orchestrator.cli.experiments.plan_text import plan_document, plan_lines
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
