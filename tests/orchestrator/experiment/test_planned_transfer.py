"""Requests and replies of different sizes: what a plan makes of them."""

from __future__ import annotations

from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.plan.contrasts import pairs
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS
from tests.support.experiments import MINIMAL, Write

SIZES = "{transfer: {request: [32 B, 10 kB], reply: [1 kB, 2 MB]}}"


def test_every_request_size_is_asked_with_every_reply_size(write: Write) -> None:
    plan = make_plan(write(MINIMAL.replace("timestamp", SIZES)))
    assert [(o.id, o.label, o.request_bytes, o.reply_bytes) for o in plan.operations] == [
        ("transfer-32b-1kb", "transfer 32 B, reply 1 kB", 32, 1000),
        ("transfer-32b-2mb", "transfer 32 B, reply 2 MB", 32, 2_000_000),
        ("transfer-10kb-1kb", "transfer 10 kB, reply 1 kB", 10_000, 1000),
        ("transfer-10kb-2mb", "transfer 10 kB, reply 2 MB", 10_000, 2_000_000),
    ]
    for operation in plan.operations:
        request = OPERATIONS["transfer"].requests(Payload(**operation.payload), 1)(1, lambda: 0)
        assert (len(request["data"]), request["reply_size"]) == (operation.request_bytes, operation.reply_bytes)
    assert {(c.factors["bytes"], c.factors["reply_bytes"]) for c in plan.cells} == {
        (sent, returned) for sent in (32, 10_000) for returned in (1000, 2_000_000)
    }


def test_replies_of_two_sizes_can_be_compared(write: Write) -> None:
    text = MINIMAL.replace("timestamp", SIZES) + "compare_by: reply_bytes\nreference: 1 kB\n"
    plan = make_plan(write(text))
    found = [(pair.cell, pair.reference) for pair in pairs(plan)]
    assert len(found) == 4
    for cell, reference in found:
        assert (cell.stack, cell.factors["bytes"]) == (reference.stack, reference.factors["bytes"])
        assert (cell.factors["reply_bytes"], reference.factors["reply_bytes"]) == (2_000_000, 1000)
    assert BY_NAME["reply_bytes"].compared(1000) == "with a reply of 1 kB"
