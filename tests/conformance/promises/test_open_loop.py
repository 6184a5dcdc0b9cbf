"""An open loop keeps its schedule, and think time is in no latency. No time is asserted."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.conformance.kit import Asking
from tests.conformance.reference.contract import STATUS
from tests.conformance.reference.generator import arrivals, first_rest, rest
from tests.conformance.reference.server import Reply

pytestmark = pytest.mark.busy


@pytest.mark.parametrize("kind", ["uniform", "poisson"])
def test_requests_are_due_when_the_page_says_and_none_is_sent_before(asking: Asking, kind: str):
    load = {"requests": 60, "rate_per_s": 333.3, "concurrency": 4, "arrivals": kind}
    trial, _ = asking.made(load=load)
    done, rows = trial.done, sorted(trial.phase(1), key=lambda row: row.intended_ns)  # they end in any order
    assert [row.intended_ns - done["begin_ns"] for row in rows] == arrivals(7, 333.3, kind, 60)
    assert (done["requests"], done["not_sent"], done["errors"]) == (60, 0, {})
    assert all(row.sent_ns >= row.intended_ns for row in rows)
    assert sorted(row.sequence for row in rows) == list(range(4, 64))
    assert all(row.intended_ns == row.sent_ns for row in trial.phase(0))  # warming up is a closed loop


@pytest.mark.slow
def test_what_was_due_and_not_sent_is_entered_and_is_no_error(asking: Asking):
    load = {"duration_s": 0.5, "rate_per_s": 200.0, "concurrency": 2, "arrivals": "poisson"}
    trial, server = asking.made(lambda number, asked: Reply({}, after_s=0.15), load=load)
    done, rows = trial.done, trial.phase(1)
    not_sent = [row for row in rows if row.status == STATUS["not-sent"]]
    sent = [row for row in rows if row.status != STATUS["not-sent"]]
    assert sorted(row.intended_ns - done["begin_ns"] for row in rows) == arrivals(7, 200, "poisson", None, 0.5)
    assert len(not_sent) == done["not_sent"] > 0
    assert done["not_sent_reason"] in ("connections-busy", "requester-behind")
    assert (len(sent), done["errors"]) == (done["requests"], {})
    assert {(row.connection, row.bytes_sent, row.bytes_received) for row in not_sent} == {(-1, -1, -1)}
    assert all(row.sent_ns == row.received_ns for row in not_sent)
    assert max(asked.in_flight for asked in server.operations) <= 2
    assert len(server.operations) == 1 + 3 + len(sent)
    assert trial.done["rows"] == 3 + len(rows)


@pytest.mark.slow
@pytest.mark.parametrize("thinking", ["constant", "exponential"])
def test_each_worker_rests_as_long_as_the_page_says(asking: Asking, thinking: str):
    load = {"requests": 40, "concurrency": 3, "think_s": 0.01, "thinking": thinking}
    trial, server = asking.made(load=load)
    done, rows = trial.done, trial.phase(1)
    assert (done["requests"], done["errors"]) == (40, {})
    workers = [[row for row in rows if row.connection == kept] for kept in {row.connection for row in rows}]
    first = [min(row.intended_ns for row in made) - done["begin_ns"] for made in workers]
    assert sorted(first) == sorted(first_rest(7, load, number) for number in range(3))
    begun = min(row.sequence for row in rows)
    for made in workers:
        for row, following in pairwise(made):
            assert following.intended_ns >= row.received_ns + rest(7, load, row.sequence - begun)
    assert all(row.sent_ns >= row.intended_ns for row in rows)
    assert all(row.intended_ns == row.sent_ns for row in trial.phase(0))  # nobody rests while warming up
    assert max(asked.in_flight for asked in server.operations) <= 3


def test_a_trial_ends_with_its_last_request_however_long_somebody_was_to_rest(asking: Asking):
    """The second worker is to rest for longer than the suite waits."""
    load = {"requests": 1, "concurrency": 2, "think_s": 10.0 * asking.ends.patience_s}
    trial, _ = asking.made(load=load)
    assert trial.done["requests"] == len(trial.phase(1)) == 1


def test_an_open_loop_has_no_think_time(asking: Asking):
    load = {"requests": 5, "rate_per_s": 100.0, "think_s": 0.01}
    trial, _ = asking.made(load=load)
    assert trial.failed["kind"] == "trial"
