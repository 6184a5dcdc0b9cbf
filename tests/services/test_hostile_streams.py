"""A stream of somebody whom nobody knows: whatever comes ends the trial as one clear line, and in time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.operations.events import text_of
from tests.support.ends import make_trial
from tests.support.wire import misbehaving

pytestmark = pytest.mark.busy

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
RIGHT = {"sequence": 1, "sent_ns": 5, "data": text_of(0, 20, 1)}


def a_trial(port: int, record: Path, **changes: Any) -> Trial:
    asked: dict[str, Any] = {
        "protocol": "sse",
        "client": "aiohttp",
        "payload": Payload(kind="events", size=20, per_second=100.0),
        "load": Load(concurrency=1, duration_s=0.1),
        "warmup": Warmup(requests=0, at_least_s=0.0),
        "timeout_s": 1.0,
        **changes,
    }
    target = Target(host="127.0.0.1", port=port, anonymous=True)
    return Trial(target=target, operation="events", record=str(record), **asked)


def chunks(*parts: bytes, head: bytes = HEAD, is_over: bool = False) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return head + b"\r\n" + body + (b"0\r\n\r\n" if is_over else b"")


def event(**changes: Any) -> bytes:
    return b"data: " + json.dumps({**RIGHT, **changes}).encode() + b"\n\n"


STREAMS = {
    "no event and no end": (chunks(), "timeout", "no event came within 1 s"),
    "an event and no end": (chunks(event()), "timeout", "the event came, and the stream did not end within 1 s"),
    "an event that never ends": (chunks(event()[:-1]), "timeout", "no event came"),
    "no event": (chunks(is_over=True), "wrong-reply", "without an event"),
    "two events": (chunks(event(), event(), is_over=True), "wrong-reply", "a second event"),
    "an error without end": (
        chunks(b"\x1b[31mno", head=HEAD.replace(b"200 OK", b"500 Oh")),
        "protocol",
        "HTTP 500",
    ),
    "a nesting without end": (chunks(b"data: " + b"[" * 200_000 + b"\n\n"), "undecodable", "recursion"),
    "packed events": (
        chunks(gzip.compress(event()), head=HEAD + b"Content-Encoding: gzip\r\n", is_over=True),
        "undecodable",
        "",
    ),
    "a number that is none": (chunks(event(sent_ns=float("nan")), is_over=True), "wrong-reply", "the stamp nan"),
    "a stamp of no clock": (chunks(event(sent_ns=10**30), is_over=True), "wrong-reply", "the stamp 1000"),
    "a stamp below nothing": (chunks(event(sent_ns=-1), is_over=True), "wrong-reply", "the stamp -1"),
    "a text of escape codes": (chunks(event(data="\x1b[2J\x07"), is_over=True), "wrong-reply", "event 1 carries"),
    "more fields": (chunks(event(more=["x"] * 9), is_over=True), "wrong-reply", "has the fields"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", STREAMS)
def test_what_is_no_stream_of_events_ends_the_trial_with_its_kind_and_a_short_line(tmp_path: Path, case: str) -> None:
    answer, kind, words = STREAMS[case]
    with misbehaving(answer, then_close=False) as port:
        (line,) = make_trial(a_trial(port, tmp_path / "record"))
    assert (line["type"], line["kind"]) == ("failed", kind), line
    assert words in line["message"]
    assert len(line["message"]) < 1_000
    assert line["message"].isprintable()
