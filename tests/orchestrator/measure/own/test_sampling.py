"""Replies of several stacks to the same rows, compared in the values that the experiment names."""

from __future__ import annotations

from typing import Any

from orchestrator.measure.own.sampling import Sampled, differences


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
