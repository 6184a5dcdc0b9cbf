"""What the pages promise of streams: both ends together, the sender of `sse` by itself, and its receiver likewise."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.certificates import certificates
from tests.conformance.kit import IDENTITY, Implementation, Trial
from tests.conformance.reference.store import TRANSACTIONS, after_of, row_of
from tests.conformance.reference.streams import EventServer, Faults, due_in, events_of, subscribed, text_of

pytestmark = pytest.mark.busy

CLIENTS, PER_SECOND, SECONDS, SIZE = 2, 200.0, 0.1, 30
EVENT, OF_RESPONDER = 3, 2
QUERY = "events?interval_ns=2000000&count=20&size=10&seed=5"
OF_THE_TABLE = {"operation": "activity", "payload": {"kind": "events", "per_second": PER_SECOND}}
OF = {"events": {}, "activity": OF_THE_TABLE}


STREAM = {
    "operation": "events",
    "payload": {"kind": "events", "size": SIZE, "per_second": PER_SECOND},
    "load": {"concurrency": CLIENTS, "duration_s": SECONDS},
    "warmup": {"requests": 0, "at_least_s": 0.02},
}
ONE = {"load": {"concurrency": 1, "duration_s": SECONDS}, "warmup": {"at_least_s": 0}}


def received(
    ends: Implementation, client: str, folder: Path, server: EventServer | None = None, **more: Any
) -> tuple[Trial, EventServer]:
    """A trial of the receiver of `sse`, and the server that sent it events."""
    server = server or EventServer(IDENTITY)
    with server.running() as port:
        return ends.request(ends.trial("sse", client, port, folder / "record", **{**STREAM, **more})), server


def met(
    ends: Implementation,
    pair: tuple[str, str, str, str],
    folder: Path,
    serve: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[Trial, dict[str, Any]]:
    """A trial between both ends, and what the responder counted."""
    *ends_of, operation = pair
    asked = {**STREAM, **OF[operation], **more}
    return ends.meet(tuple(ends_of), folder / "record", serve={"operations": [operation], **(serve or {})}, **asked)


def test_every_event_comes_once_on_time_and_is_counted_on_both_ends(
    ends: Implementation, stream_pair: tuple[str, str, str, str], tmp_path: Path
):
    trial, stats = met(ends, stream_pair, tmp_path)
    interval_ns, count = due_in(SECONDS, PER_SECOND)
    warm = due_in(0.02, PER_SECOND)[1]
    done, offered = trial.done, CLIENTS * count
    assert trial.types == ["checked", "start", "done"]
    assert (done["warmup_requests"], done["requests"], done["errors"]) == (CLIENTS, CLIENTS, {})
    assert done["verified"] == offered
    assert done["events"] == {
        "offered": offered, "delivered": offered, "dropped": 0, "duplicated": 0, "reordered": 0, "wrong": 0,
    }  # fmt: skip
    subscriptions = {row.sequence: row for row in trial.rows if row.kind == 0}
    assert sorted(subscriptions) == list(range(1, 2 * CLIENTS + 1))
    for number, subscription in subscriptions.items():
        mine = sorted((row for row in trial.rows if row.parent == number), key=lambda row: row.received_ns)
        assert [row.sequence for row in mine] == list(range(1, (count if subscription.phase else warm) + 1))
        assert {(row.kind, row.sender_clock, row.status) for row in mine} == {(EVENT, OF_RESPONDER, 0)}
        assert {row[1:5] for row in mine} == {subscription[1:5]}
        assert sum(row.bytes_received for row in mine) == subscription.bytes_received
        begin = min(row.sender_ns - (row.sequence - 1) * interval_ns for row in mine)
        # Both ends are on this machine, and on one clock: nothing was sent before it was due, or came before it was sent.
        assert all(row.sent_ns <= row.sender_ns <= row.received_ns <= subscription.received_ns for row in mine)
        assert subscription.sent_ns <= begin
    every = 1 + CLIENTS * warm + offered
    assert (stats["events"]["offered"], stats["events"]["sent"]) == (every, every)
    assert stats["answered"] == 1 + 1 + 2 * CLIENTS
    if stream_pair[3] == "activity":
        assert stats["store"]["requests"] == every


def test_a_stream_that_has_no_requests_to_make_is_checked_alone(
    ends: Implementation, stream_pair: tuple[str, str, str, str], tmp_path: Path
):
    trial, stats = met(ends, stream_pair, tmp_path, load={"requests": 0, "concurrency": 1})
    assert trial.types == ["checked", "done"]
    assert (trial.done["requests"], stats["answered"], stats["events"]["sent"]) == (0, 2, 1)


def test_events_travel_over_tls(ends: Implementation, stream_pair: tuple[str, str, str, str], tmp_path: Path):
    protocol, implementation, _, operation = stream_pair
    responder = next(end for end in ends.protocol(protocol)["responders"] if end["name"] == implementation)
    if operation != "events" or "tls1.3" not in responder.get("knobs", {}).get("tls", ()):
        pytest.skip("one stream shows it, where there is TLS")
    made, told = certificates(tmp_path / "right"), {"tls": "tls1.3"}
    serve = {"knobs": told, "tls": made.serving}
    trial, _ = met(ends, stream_pair, tmp_path, serve, knobs=told, tls=made.trusted)
    assert trial.done["events"]["delivered"] == trial.done["events"]["offered"] > 0
    assert trial.done["tls"]["version"] in ("TLSv1.3", None)


def test_a_sender_keeps_to_the_schedule_and_to_the_generator(ends: Implementation, sending: tuple[str, str]):
    with ends.respond(*sending) as responder:
        with subscribed(responder.ready["port"], "identity", ends.patience_s) as reply:
            assert list(events_of(reply)) == [{"identity": IDENTITY}]
        asked_ns = time.monotonic_ns()
        with subscribed(responder.ready["port"], QUERY, ends.patience_s) as reply:
            assert (reply.status, reply.getheader("content-type")) == (200, "text/event-stream")
            events = list(events_of(reply))
        stats = responder.stats()
    assert [event["sequence"] for event in events] == list(range(1, 21))
    assert [event["data"] for event in events] == [text_of(5, 10, number) for number in range(1, 21)]
    assert all(event["sent_ns"] >= asked_ns + place * 2_000_000 for place, event in enumerate(events))
    assert (stats["events"]["offered"], stats["events"]["sent"], stats["answered"]) == (20, 20, 2)


def test_before_a_subscription_there_are_no_events_to_tell_of(ends: Implementation, sending: tuple[str, str]):
    with ends.respond(*sending) as responder:
        assert responder.stats().get("events") is None


def test_a_client_that_leaves_ends_its_stream(ends: Implementation, sending: tuple[str, str]):
    with ends.respond(*sending) as responder:
        query = "events?interval_ns=1000000&count=1000000&size=10&seed=5"
        with subscribed(responder.ready["port"], query, ends.patience_s) as reply:
            assert next(events_of(reply))["sequence"] == 1
        until = time.monotonic() + ends.patience_s
        while (events := responder.stats().get("events")) is None:
            assert time.monotonic() < until, "its stream goes on"
            time.sleep(0.02)
        assert events["sent"] <= events["offered"] < 1_000_000


@pytest.mark.parametrize("query", ["events", "events?count=x", "events?interval_ns=1&count=1&size=1&seed=1", "nothing"])
def test_a_subscription_that_cannot_be_met_is_an_error(ends: Implementation, sending: tuple[str, str], query: str):
    with ends.respond(*sending) as responder, subscribed(responder.ready["port"], query, ends.patience_s) as reply:
        assert 400 <= reply.status < 500


FAULTS = [
    pytest.param(Faults(dropped=frozenset({3, 20})), {"delivered": 18, "dropped": 2}, id="dropped"),
    pytest.param(Faults(repeated=frozenset({4, 5})), {"duplicated": 2}, id="repeated"),
    pytest.param(Faults(held=frozenset({6, 9})), {"reordered": 2}, id="reordered"),
    pytest.param(Faults(wrong=frozenset({7})), {"delivered": 19, "dropped": 1, "wrong": 1}, id="wrong"),
]


@pytest.mark.parametrize(("faults", "changed"), FAULTS)
def test_what_became_of_events_is_counted_exactly(
    ends: Implementation, receiving: str, faults: Faults, changed: dict[str, int], tmp_path: Path
):
    trial, server = received(ends, receiving, tmp_path, EventServer(IDENTITY, faults), **ONE)
    expected = {"offered": 20, "delivered": 20, "dropped": 0, "duplicated": 0, "reordered": 0, "wrong": 0} | changed
    assert trial.done["events"] == expected
    assert trial.done["rows"] == len(trial.rows) == 2 + 1 + 20 + len(faults.repeated) - len(faults.dropped)
    assert [asked["count"] for asked in server.asked] == [1, 1, 20]
    assert [row.sequence for row in trial.rows if row.status] == sorted(faults.wrong)


def test_streams_that_all_break_end_the_trial_and_the_rows_stay(ends: Implementation, receiving: str, tmp_path: Path):
    server = EventServer(IDENTITY, Faults(cut_after=5))
    trial, _ = received(ends, receiving, tmp_path, server, warmup={"at_least_s": 0})
    assert trial.failed["kind"] == "closed"
    assert len([row for row in trial.rows if row.kind == EVENT and row.phase == 1]) == CLIENTS * 5


def test_a_stream_that_does_not_end_is_given_up_after_the_time_out_and_its_events_count(
    ends: Implementation, receiving: str, tmp_path: Path
):
    server = EventServer(IDENTITY, Faults(never_ends=True, dropped=frozenset({20})))
    trial, _ = received(ends, receiving, tmp_path, server, timeout_s=1.0, **ONE)
    assert trial.done["errors"] == {"timeout": 1}
    assert (trial.done["events"]["delivered"], trial.done["events"]["dropped"]) == (19, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"load": {"concurrency": 1, "requests": 10}},
        {"load": {"concurrency": 1, "duration_s": 1, "rate_per_s": 5}},
        {"connection": "per-request"},
        {"payload": {"kind": "events", "size": 5}},
    ],
)
def test_a_load_that_streams_do_not_have_is_refused(
    ends: Implementation, receiving: str, changes: dict[str, Any], tmp_path: Path
):
    trial, _ = received(ends, receiving, tmp_path, **changes)
    assert trial.failed["kind"] == "trial"


def test_a_slow_reader_reads_no_faster_than_it_was_told_and_is_given_the_time(
    ends: Implementation, receiving: str, tmp_path: Path
):
    clients = next(protocol["clients"] for protocol in ends.protocols if protocol["name"] == "sse")
    if "read_rate" not in next(client for client in clients if client["name"] == receiving).get("knobs", {}):
        pytest.skip("it cannot be told read_rate")
    more = {**ONE, "warmup": {"at_least_s": 0.02}, "timeout_s": 2.0}
    # 20 events take 2.4 s: longer than the time-out after their schedule.
    trial, server = received(ends, receiving, tmp_path, knobs={"read_rate": "8"}, **more)
    assert (trial.done["events"]["delivered"], trial.done["errors"]) == (20, {})
    came = sorted(row.received_ns for row in trial.rows if row.kind == EVENT and row.phase == 1)
    assert all(stamp - came[0] >= place * 10**9 // 8 for place, stamp in enumerate(came))
    assert [asked["count"] for asked in server.asked] == [1, 4, 20]


def needs(ends: Implementation, operation: str) -> None:
    if operation not in ends.operations("sse"):
        pytest.skip(f"it has no {operation}")


@pytest.mark.slow
def test_a_sender_follows_the_table_and_begins_anew_behind_its_last_row(ends: Implementation, sending: tuple[str, str]):
    needs(ends, "activity")
    after, count = TRANSACTIONS - 120, 250  # more than a page on both sides of the end
    with ends.respond(*sending, operations=["activity"]) as responder:
        query = f"activity?interval_ns=20000&count={count}&after={after}"
        with subscribed(responder.ready["port"], query, ends.patience_s) as reply:
            events = list(events_of(reply))
        stats = responder.stats()
    assert [event.pop("sequence") for event in events] == list(range(1, count + 1))
    stamps = [event.pop("sent_ns") for event in events]
    assert stamps == sorted(stamps)
    assert events == [row_of(after, number) for number in range(1, count + 1)]
    assert (stats["events"]["sent"], stats["store"]["requests"]) == (count, count)


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    [
        "activity",
        "activity?interval_ns=20000&count=1",
        "activity?interval_ns=20000&count=0&after=0",
        "activity?interval_ns=1&count=1&after=0",
        "activity?interval_ns=20000&count=1&after=-1",
        f"activity?interval_ns=20000&count=1&after={TRANSACTIONS}",
    ],
)
def test_what_does_not_follow_the_table_is_an_error(ends: Implementation, sending: tuple[str, str], query: str):
    needs(ends, "activity")
    with ends.respond(*sending, operations=["activity"]) as responder:
        with subscribed(responder.ready["port"], query, ends.patience_s) as reply:
            assert 400 <= reply.status < 500
        with subscribed(
            responder.ready["port"], "activity?interval_ns=20000&count=1&after=0", ends.patience_s
        ) as reply:
            assert [event["transaction"] for event in events_of(reply)] == [1]


@pytest.mark.slow
def test_a_receiver_asks_from_where_the_seed_says_and_compares_every_row(
    ends: Implementation, receiving: str, tmp_path: Path
):
    needs(ends, "activity")
    server = EventServer(IDENTITY, Faults(wrong=frozenset({7}), dropped=frozenset({9})))
    trial, _ = received(ends, receiving, tmp_path, server, **ONE, **OF_THE_TABLE)
    assert [asked["after"] for asked in server.asked] == [after_of(7)] * 3
    assert [asked.keys() for asked in server.asked] == [{"interval_ns", "count", "after"}] * 3
    assert (trial.done["events"]["delivered"], trial.done["events"]["wrong"]) == (18, 1)
    assert [row.sequence for row in trial.rows if row.status] == [7]


@pytest.mark.slow
def test_a_stream_that_says_why_it_ends_early_has_failed_in_its_words(
    ends: Implementation, receiving: str, tmp_path: Path
):
    server = EventServer(IDENTITY, Faults(error_after=5))
    trial, _ = received(ends, receiving, tmp_path, server, warmup={"at_least_s": 0})
    assert trial.failed["kind"] == "protocol"
    assert "the table is gone" in trial.failed["message"]
    assert len([row for row in trial.rows if row.kind == EVENT and row.phase == 1]) == CLIENTS * 5
