"""Replies of several stacks to the same rows, compared in the values that the experiment names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.own.own_protos import compiled
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure.own.sampling import Sampled, differences, tried
from tests.support.own_services import PROTO, answering_orders


def replies(*totals: Any) -> list[Sampled]:
    return [
        Sampled(row=row, request="", status=200, reply="", same={} if total is None else {"total": [total]})
        for row, total in enumerate(totals, start=1)
    ]


def test_a_difference_names_the_value_the_stacks_and_the_first_row() -> None:
    compared = {"rest": replies(1, 2, 3), "grpc": replies("1", "2", "3"), "graphql": replies(1, 5, 6)}
    (difference,) = differences(compared)
    assert (difference.name, difference.row, difference.rows) == ("total", 2, 2)
    assert (difference.stacks, difference.values) == (("rest", "graphql"), ("2", "5"))


def test_equal_values_and_replies_that_failed_are_no_difference() -> None:
    assert list(differences({"rest": replies(1, True), "grpc": replies(1, True)})) == []
    assert list(differences({"rest": replies(1, None), "grpc": replies(None, 2)})) == []
    assert len(list(differences({"rest": replies(True), "grpc": replies(1)}))) == 1


DESCRIBED = """\
name: described
question: How long does a call by a descriptor set take?
services: {{shop: {{url: "http://127.0.0.1:{port}"}}}}
stacks:
  service: shop
  call: {{grpc: shop.v1.Orders/Get, descriptors: shop.pb, message: {{id: 7}}, expect: {{values: {{total: 13}}}}}}
"""


@pytest.mark.busy
def test_a_method_of_a_descriptor_set_is_called(tmp_path: Path) -> None:
    (tmp_path / "shop.pb").write_bytes(compiled(PROTO))
    with answering_orders() as port:
        (tmp_path / "own.yaml").write_text(DESCRIBED.format(port=port))
        ((_, came),) = tried(make_plan(tmp_path / "own.yaml"))
    assert isinstance(came, Sampled), came
    assert (came.failure, '"total": "13"' in came.reply) == ("", True), came.reply
