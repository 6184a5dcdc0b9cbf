"""What all rows of a comparison share is said once."""

from __future__ import annotations

from orchestrator.analysis.said_once import in_all, kind_of


def test_what_every_row_says_is_said_once_in_the_order_of_the_first():
    assert in_all([["governor", "kernel", "own"], ["kernel", "governor"]]) == ("governor", "kernel")


def test_percentages_that_differ_are_said_as_their_span():
    rows = [["waited for 84 % of a trial, limit 5 %"], ["waited for 9.5 % of a trial, limit 5 %"]]
    assert in_all(rows) == ("waited for 9.5 to 84 % of a trial, limit 5 %",)
    assert kind_of(in_all(rows)[0]) == kind_of(rows[0][0]) == kind_of(rows[1][0])


def test_a_single_row_keeps_its_own_and_what_one_row_lacks_is_not_shared():
    assert in_all([["governor"]]) == ()
    assert in_all([["governor"], []]) == ()
    assert in_all([["twice 1 %", "twice 2 %"], []]) == ()
