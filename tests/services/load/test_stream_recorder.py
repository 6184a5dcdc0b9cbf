"""What a requester enters of a stream: a row for each event, exact counts, and no more memory than there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.python.load.client import CallFailed
from services.python.load.record import KINDS, Record, Row, read_record
from services.python.load.stream_recorder import StreamRecorder, Subscription, TooMany

EVENT = KINDS.index("event")
REQUEST = {"count": 10, "interval_ns": 1000, "size": 1, "seed": 1}


def verify(_request: Any, event: Any) -> str | None:
    return None if event["data"] == "right" and 1 <= event["sequence"] <= 10 else "not what it should be"


def subscription(sequence: int = 1) -> Subscription:
    return Subscription(
        sequence=sequence, request=REQUEST, most=10, connection=3, sent_ns=5, ended_ns=99, bytes_sent=40
    )


def record_of(
    folder: Path, numbers: list[int], *, wrong: tuple[int, ...] = (), kept: int = 1 << 20, failure: Any = None
) -> tuple[StreamRecorder, list[Row]]:
    with Record(folder / "record", 64) as record:
        recorder = StreamRecorder(record, verify, progress=lambda told: None, most_kept_bytes=kept)
        recorder.begin(1, 0)
        one = subscription()
        one.failure = failure
        for place, number in enumerate(numbers):
            event = {"sequence": number, "sent_ns": 10 + place, "data": "wrong" if number in wrong else "right"}
            recorder.received(one, 20 + place, (event, 7))
        recorder.settle([one])
    return recorder, list(read_record(folder / "record"))


def counts(recorder: StreamRecorder) -> tuple[int, ...]:
    tally = recorder.tally
    return tally.offered, tally.delivered, tally.duplicated, tally.reordered, tally.wrong


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (list(range(1, 11)), (10, 10, 0, 0, 0)),
        ([1, 2, 4, 5], (10, 4, 0, 0, 0)),
        ([2, 1, 3, 3, 3], (10, 3, 2, 1, 0)),
        ([3, 1, 2, 1], (10, 3, 1, 2, 0)),
        ([], (10, 0, 0, 0, 0)),
        ([9, 11], (10, 1, 0, 0, 1)),
    ],
)
def test_events_are_counted_exactly(tmp_path: Path, numbers: list[int], expected: tuple[int, ...]) -> None:
    assert counts(record_of(tmp_path, numbers)[0]) == expected


def test_each_event_has_a_row_with_its_number_its_subscription_and_both_stamps(tmp_path: Path) -> None:
    recorder, rows = record_of(tmp_path, [1, 2, 2], wrong=(1,))
    events = [row for row in rows if row.kind == EVENT]
    assert [(row.sequence, row.parent, row.sent_ns, row.sender_ns, row.received_ns) for row in events] == [
        (1, 1, 5, 10, 20),
        (2, 1, 5, 11, 21),
        (2, 1, 5, 12, 22),
    ]
    assert [row.status for row in events] == [1, 0, 0]
    (request,) = (row for row in rows if row.kind == 0)
    assert (request.sequence, request.connection, request.received_ns, request.bytes_received) == (1, 3, 99, 21)
    assert recorder.tally.error_examples == {"wrong-reply": "not what it should be"}


def test_a_subscription_that_failed_keeps_the_events_that_it_had(tmp_path: Path) -> None:
    recorder, rows = record_of(tmp_path, [1, 2], failure=CallFailed("closed", "it went away"))
    assert counts(recorder) == (10, 2, 0, 0, 0)
    assert recorder.tally.errors == {"closed": 1}
    assert [row.status for row in rows] == [0, 0, 3]


def test_without_room_events_are_verified_at_once_and_counted(tmp_path: Path) -> None:
    recorder, rows = record_of(tmp_path, list(range(1, 11)), kept=0)
    assert counts(recorder) == (10, 10, 0, 0, 0)
    assert recorder.tally.verified_in_flight == 8  # the second shows how large they are
    assert sorted(row.sequence for row in rows if row.kind == EVENT) == list(range(1, 11))


def test_a_responder_that_does_not_stop_is_found_out(tmp_path: Path) -> None:
    with pytest.raises(TooMany, match="22 events came, 10 were asked for"):
        record_of(tmp_path, [1] * 22)


def test_an_event_of_any_nesting_is_a_wrong_event(tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]

    def shown(_request: Any, event: Any) -> str | None:
        return repr(event)

    with Record(tmp_path / "record", 64) as record:
        recorder = StreamRecorder(record, shown, progress=lambda told: None, most_kept_bytes=1 << 20)
        recorder.begin(1, 0)
        one = subscription()
        for number in range(1, 4):
            recorder.received(one, number, ({"sequence": number, "data": deep}, 50))
        recorder.settle([one])
    assert (recorder.tally.delivered, recorder.tally.wrong) == (0, 3)
    assert recorder.tally.error_examples == {"wrong-reply": "an event of too deep a nesting"}
