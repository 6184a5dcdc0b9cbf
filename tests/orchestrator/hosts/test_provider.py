from __future__ import annotations

from orchestrator.hosts.lifecycle import Receipt


def test_a_receipt_says_that_nothing_is_left():
    receipt = Receipt(provider="lab", created=("a", "b"), destroyed=("a", "b"))
    assert receipt.sentence() == "receipt (lab): 2 created, 2 destroyed, nothing left"


def test_a_receipt_names_what_is_left_and_why():
    receipt = Receipt(provider="gcp", created=("a",), left=("a",), note="quota")
    assert receipt.sentence() == "receipt (gcp): 1 created, 0 destroyed, 1 left: a (quota)"
