"""What a trial is: which requests are made, on which connections, and what is written down of each."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from typing import Any

import pytest

from tests.conformance.kit import IDENTITY, Asking
from tests.conformance.reference.contract import STATUS, STATUSES
from tests.conformance.reference.generator import pair as pair_of
from tests.conformance.reference.generator import records, stream
from tests.conformance.reference.operations import STAMP
from tests.conformance.reference.record import HEADER, ROW_BYTES
from tests.conformance.reference.server import Action, Asked, Close, Error, Garbage, LastReply, Reply, Server, Silence

pytestmark = pytest.mark.busy


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_lines_rows_and_requests_agree(asking: Asking, connection: str, concurrency: int):
    load = {"requests": 20, "concurrency": concurrency}
    trial, server = asking.made(connection=connection, load=load)
    done, rows = trial.done, trial.rows
    assert trial.types == ["checked", "start", "done"]
    assert (done["rows"], done["warmup_requests"], done["requests"], done["errors"]) == (23, 3, 20, {})
    assert (done["identity"], done.get("not_sent", 0)) == (IDENTITY, 0)
    assert done["verified_in_flight"] <= done["verified"] == 20
    assert len(server.operations) == 1 + 23
    assert [row.sequence for row in sorted(rows)] == list(range(1, 24))
    assert [row.phase for row in sorted(rows)] == [0] * 3 + [1] * 20
    measured = trial.phase(1)
    assert done["body_bytes_sent"] == sum(row.bytes_sent for row in measured)
    assert done["body_bytes_received"] == sum(row.bytes_received for row in measured)


def test_without_an_identity_it_says_whom_it_met(asking: Asking):
    with asking.server(identity="somebody") as server:
        target = {"host": "127.0.0.1", "port": server.port}
        trial = asking.ends.request(asking.line(target=target))
    assert trial.done["identity"] == "somebody"
    assert len(trial.rows) == 13


def test_one_that_is_anonymous_is_not_asked_who_it_is(asking: Asking):
    with asking.server(identity="somebody") as server:
        target = {"host": "127.0.0.1", "port": server.port, "anonymous": True}
        trial = asking.ends.request(asking.line(target=target))
    assert trial.done.get("identity") is None
    assert [asked.name for asked in server.asked] == ["add"] * (1 + 13)


def test_both_ends_are_checked_on_connections_of_their_own(asking: Asking):
    server: Server
    closed: list[bool] = []

    def when_it_warms_up(number: int, asked: Asked) -> Action | None:
        if number == 2:
            until = time.monotonic() + asking.ends.patience_s
            while server.open_now > 1 and time.monotonic() < until:
                time.sleep(0.01)
            closed.append(server.open_now == 1)
        return None

    with asking.server(when_it_warms_up) as server:
        trial = asking.ends.request(asking.line(server.port, timeout_s=2.0 * asking.ends.patience_s))
    carried = [asked.name for asked in server.asked if asked.connection == 0]
    assert (carried, [asked.name for asked in server.asked if asked.connection == 1]) == (["identity"], ["add"])
    assert closed == [True]
    (sent,) = {len(asked.body) for asked in server.asked if asked.connection == 1}
    assert trial.lines[0]["body_bytes_sent"] == sent


def test_kept_connections_carry_both_phases(asking: Asking):
    trial, server = asking.made()
    assert server.opened == 2 + 1
    assert trial.done["connections_opened"] == 0
    assert {row.connection for row in trial.rows} == {0}


def test_as_many_connections_are_kept_as_requests_are_in_flight(asking: Asking):
    load = {"requests": 30, "concurrency": 3}
    trial, server = asking.made(lambda number, asked: Reply({}, after_s=0.02), load=load)
    assert server.opened == 2 + 3
    assert {row.connection for row in trial.rows} == {0, 1, 2}
    assert max(asked.in_flight for asked in server.operations) <= 3


def test_per_request_means_a_connection_for_every_request(asking: Asking):
    trial, server = asking.made(connection="per-request")
    assert Counter(asked.connection for asked in server.asked) == dict.fromkeys(range(2 + 13), 1)
    assert trial.done["connections_opened"] == 10
    assert sorted(row.connection for row in trial.rows) == list(range(13))


def test_one_request_at_a_time_is_one_in_flight(asking: Asking):
    trial, server = asking.made(lambda number, asked: Reply({}, after_s=0.005))
    assert {asked.in_flight for asked in server.operations} == {1}
    rows = sorted(trial.rows)
    assert all(one.received_ns <= next_.sent_ns for one, next_ in itertools.pairwise(rows))


def test_the_record_is_that_of_the_page_byte_for_byte(asking: Asking):
    trial, _ = asking.made()
    content = trial.record.read_bytes()
    assert content[:512] == HEADER
    assert not any(content[512 + trial.done["rows"] * ROW_BYTES :])
    for row in trial.rows:
        assert (row.service_ns, row.kind, row.parent, row.sender_ns, row.sender_clock) == (-1, 0, 0, 0, 0)


def test_stamps_are_in_order_and_of_one_clock(asking: Asking):
    before_ns = time.monotonic_ns()
    trial, server = asking.made()
    after_ns = time.monotonic_ns()
    done = trial.done
    assert before_ns < done["anchor"]["monotonic_ns"] <= min(row.sent_ns for row in trial.rows)
    assert max(row.received_ns for row in trial.rows) <= done["anchor_end"]["monotonic_ns"] < after_ns
    for row, asked in zip(sorted(trial.rows), server.operations[1:], strict=True):
        assert row.sent_ns == row.intended_ns
        assert row.sent_ns < asked.came_ns < row.received_ns
        assert row.bytes_sent == len(asked.body)
    warm, measured = trial.phase(0), trial.phase(1)
    assert warm[-1].received_ns <= done["begin_ns"] <= measured[0].sent_ns
    span_s = (measured[-1].received_ns - measured[0].sent_ns) / 1e9
    assert done["measured_s"] == pytest.approx(span_s, rel=1e-6)
    under_way_s = sum(row.received_ns - row.sent_ns for row in measured) / 1e9
    assert done.get("paused_s") is None or 0 <= done["paused_s"] <= span_s - under_way_s + 10e-6


def kinds(number: int, asked: Asked) -> Action | None:
    """Request 1 is the check, 2 to 4 the warm-up."""
    return {3: Reply({"sum": 0}), 6: Reply({"sum": 0}), 8: Error(), 10: Close(), 12: Garbage()}.get(number)


def test_errors_are_counted_by_their_kind(asking: Asking):
    trial, _ = asking.made(kinds)
    done = trial.done
    assert done["errors"] == {"wrong-reply": 1, "protocol": 1, "closed": 1, "undecodable": 1}
    assert set(done["error_examples"]) == set(done["errors"])
    assert all(0 < len(words) <= 300 for words in done["error_examples"].values())
    assert (done["requests"], done["verified"]) == (10, 6)
    assert {row.sequence: STATUSES[row.status] for row in sorted(trial.rows) if row.status} == {
        2: "wrong-reply",
        5: "wrong-reply",
        7: "protocol",
        9: "closed",
        11: "undecodable",
    }


def test_an_announced_close_is_a_new_connection_and_no_error(asking_http: Asking):
    def each_fifth(number: int, asked: Asked) -> Action | None:
        return LastReply() if number % 5 == 0 else None

    trial, server = asking_http.made(each_fifth, load={"requests": 20})
    assert (trial.done["errors"], trial.done["requests"]) == ({}, 20)
    assert trial.done["connections_opened"] == 4  # after requests 5, 10, 15, 20, of which four warm up
    assert server.opened == 2 + 1 + 4
    carried = [
        [row.sequence for row in rows] for _, rows in itertools.groupby(sorted(trial.rows), lambda r: r.connection)
    ]
    assert carried == [[1, 2, 3, 4], [5, 6, 7, 8, 9], [10, 11, 12, 13, 14], [15, 16, 17, 18, 19], [20, 21, 22, 23]]


@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_nothing_is_asked_twice(asking: Asking, connection: str):
    trial, server = asking.made(kinds, connection=connection)
    assert len(server.operations) == 1 + trial.done["rows"]
    pairs = [asked.fields for asked in server.operations[1:]]
    assert pairs == [pair_of(7, sequence) for sequence in range(1, 14)]


def test_a_time_out_is_kept_and_is_no_more_than_that(asking: Asking):
    timeout_s = 0.6
    trial, _ = asking.made(lambda number, asked: Silence() if number == 8 else None, timeout_s=timeout_s)
    assert trial.done["errors"] == {"timeout": 1}
    (row,) = (row for row in trial.rows if row.status == STATUS["timeout"])
    assert row.sequence == 7
    waited_s = (row.received_ns - row.sent_ns) / 1e9
    assert waited_s > 0.9 * timeout_s, "it gave up too early"
    assert len(trial.rows) == 13


def test_fifty_failures_in_a_row_end_a_trial_and_the_rows_stay(asking: Asking):
    def broken(number: int, asked: Asked) -> Action | None:
        return Error("out of order") if number > 6 else None

    trial, server = asking.made(broken, load={"requests": 5000})
    assert trial.failed["kind"] == "protocol"
    assert [row.status for row in trial.phase(1)] == [0] * 2 + [STATUS["protocol"]] * 50
    assert len(server.operations) == 1 + 3 + 52


PAYLOADS: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("add", {"kind": "none"}),
    "bytes": ("echo", {"kind": "bytes", "size": 1000}),
    "records": ("echo", {"kind": "records", "count": 20}),
    "exchange": ("exchange", {"kind": "exchange", "size": 100, "reply_size": 50, "opening": 3}),
    "transfer": ("transfer", {"kind": "transfer", "size": 100, "reply_size": 50}),
    "timestamp": ("timestamp", {"kind": "none"}),
}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_requests_carry_what_the_generator_gives(asking: Asking, payload: str):
    operation, carried = PAYLOADS[payload]
    if operation not in asking.ends.operations(asking.protocol):
        pytest.skip(f"{asking.protocol} does not carry {operation}")
    trial, server = asking.made(operation=operation, payload=carried, seed=2**53 - 1)
    assert trial.done["verified"] == 10
    for sequence, asked in enumerate(server.operations[1:], start=1):
        assert_generated(payload, sequence, asked.fields)


def assert_generated(payload: str, sequence: int, fields: dict[str, Any]) -> None:
    seed, times = 2**53 - 1, 3 if sequence == 2 else 1
    if payload == "timestamp":
        assert STAMP.fullmatch(fields["request_timestamp"])
        return
    wanted = {
        "add": lambda: pair_of(seed, sequence),
        "bytes": lambda: {"data": stream(f"bytes/{seed}", 1000)},
        "records": lambda: {"records": records(seed, 20)},
        "exchange": lambda: {"data": stream(f"bytes/{seed}", 100 * times), "reply_size": 50 * times},
        "transfer": lambda: {"data": stream("request", 100), "reply_size": 50},
    }[payload]()
    assert fields == wanted


@pytest.mark.slow
def test_it_holds_back_the_measured_phase(asking: Asking):
    at_ns = time.time_ns() + 2_000_000_000
    trial, _ = asking.made(start_at_unix_ns=at_ns)
    anchor = trial.done["anchor"]
    begun_ns = anchor["wall_ns"] + trial.done["begin_ns"] - anchor["monotonic_ns"]
    assert begun_ns > at_ns - 10_000_000  # the wall clock may be slewed
    assert trial.done["warmup_requests"] == 3
