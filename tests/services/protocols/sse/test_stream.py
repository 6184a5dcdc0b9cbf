"""The body of a text/event-stream, however it comes."""

from __future__ import annotations

import pytest

from services.python.load.client import CallFailed
from services.python.protocols.sse import stream

EVENTS = [{"sequence": number, "sent_ns": 5, "data": "é" * number} for number in range(1, 6)]
BODY = b"".join(map(stream.encode, EVENTS))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 40, len(BODY)])
def test_a_body_in_parts_of_any_size_gives_every_event_once(size: int) -> None:
    reader, found = stream.Reader(), []
    for at in range(0, len(BODY), size):
        reader.feed(BODY[at : at + size])
        while (event := reader.next()) is not None:
            found.append(event)
    assert [event for event, _ in found] == EVENTS
    assert sum(length for _, length in found) == len(BODY)
    assert not reader.is_within


def test_an_event_without_an_end_is_refused_at_the_bound_on_messages() -> None:
    reader = stream.Reader(most_bytes=100)
    for _ in range(3):
        reader.feed(b"data: " + b"x" * 30)
        assert reader.next() is None
    with pytest.raises(CallFailed, match="an event of more than 100 bytes"):
        reader.feed(b"x")


@pytest.mark.parametrize(
    "body", [b": comment\n\n", b"data: {\n\n", b"data: [1]\n\n", b"data: " + b"[" * 200_000 + b"\n\n"]
)
def test_what_is_no_event_is_undecodable(body: bytes) -> None:
    reader = stream.Reader()
    reader.feed(body)
    with pytest.raises(CallFailed) as caught:
        reader.next()
    assert caught.value.status == "undecodable"


def test_why_a_stream_goes_no_further_stands_in_the_place_of_an_event() -> None:
    reader = stream.Reader()
    reader.feed(stream.encode(EVENTS[0]) + stream.encode_error(ValueError("the table is gone")))
    assert reader.next() is not None
    with pytest.raises(CallFailed, match="the table is gone") as failed:
        reader.next()
    assert failed.value.status == "protocol"
