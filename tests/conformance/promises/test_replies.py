"""What a responder of `tcp`, `http+json` or `rest` answers, message by message (`protos/tcp.md`, `protos/http.md`)."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tests.conformance.kit import Implementation
from tests.conformance.reference.generator import records, stamp, stream
from tests.conformance.reference.operations import is_right, make_png
from tests.conformance.reference.wire import CODES, LARGEST, WIRES, Connection, Ended, ProtocolError, Tcp, Wire

pytestmark = pytest.mark.busy

DOCUMENT = {"": None, "nested": [[], {}, [True, False, 1, -2.5, 1e100, "ü\u0000\U0001f600\n"]], "large": 2**53}
MESSAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "timestamp": ("timestamp", {"request_timestamp": stamp()}),
    "add": ("add", {"a": -(2**30), "b": 2**30 - 1}),
    "the-largest-sum": ("add", {"a": 2**30 - 1, "b": 2**30 - 1}),
    "bytes": ("echo/data", {"data": bytes(range(256)) * 5}),
    "no-bytes": ("echo/data", {"data": b""}),
    "many-bytes": ("echo/data", {"data": stream("bytes/1", 3_000_000)}),
    "records": ("echo/records", {"records": records(1, 20)}),
    "no-records": ("echo/records", {"records": []}),
    "document": ("echo/document", {"document": DOCUMENT}),
    "picture": ("image", {"data": make_png(31, 17), "full_decode": False}),
    "every-pixel": ("image", {"data": make_png(31, 17), "full_decode": True}),
    "exchange": ("exchange", {"data": b"abc", "reply_size": 1000}),
    "nothing-for-something": ("exchange", {"data": b"abc", "reply_size": 0}),
    "transfer": ("transfer", {"data": stream("request", 1000), "reply_size": 30}),
    "a-transfer-of-nothing": ("transfer", {"data": b"", "reply_size": 0}),
    "a-large-transfer": ("transfer", {"data": stream("request", 30), "reply_size": 3_000_000}),
}


def test_every_message_is_answered_rightly(ends: Implementation, answering: tuple[str, str]):
    carried = [key for key, (name, _) in MESSAGES.items() if name.partition("/")[0] in ends.operations(answering[0])]
    with ends.respond(*answering) as responder:
        wrong = {}
        for key in carried:
            name, fields = MESSAGES[key]
            with responder.connect() as connection:
                for _ in range(2 if ends.keeps_connections(*answering) else 1):
                    reply = connection.ask(name, fields)
                    if not is_right(name, fields, reply):
                        wrong[key] = str(reply)[:200]
    assert wrong == {}


def wrong_requests(wire: Wire) -> dict[str, bytes]:
    if isinstance(wire, Tcp):
        return {
            "an-unknown-code": wire.frame(len(CODES), b""),
            "a-body-that-does-not-fit": wire.frame(CODES.index("add"), b"123"),
            "no-JSON": wire.frame(CODES.index("echo/document"), b"{"),
            "no-picture": wire.frame(CODES.index("image"), b"\0no picture"),
            "other-bytes": wire.frame(CODES.index("transfer"), b"\0\0\0\1other bytes"),
            "a-body-too-large": struct.pack("!IB", LARGEST + 1, CODES.index("echo/data")),
        }
    return {
        "an-unknown-code": wire.request("no/such/message", b"{}"),
        "a-body-that-does-not-fit": wire.request("add", b'{"a": "one", "b": 2}'),
        "no-JSON": wire.request("add", b"{"),
        "no-picture": wire.request("image", wire.request_body("image", {"data": b"no picture", "full_decode": False})),
    }


def test_what_is_no_message_gets_an_error_and_others_an_answer(ends: Implementation, answering: tuple[str, str]):
    with ends.respond(*answering) as responder:
        for case, raw in wrong_requests(WIRES[answering[0]]).items():
            with responder.connect() as connection:
                assert is_refused(connection, raw), case
            with responder.connect() as connection:
                assert connection.ask("add", {"a": 1, "b": 2}) == {"sum": 3}, f"after {case}"


def is_refused(connection: Connection, raw: bytes) -> bool:
    """Whether it is answered with an error whose words are UTF-8, or, where nothing more can be read, the end."""
    try:
        came = connection.send(raw)
    except Ended:
        return raw[:4] == struct.pack("!I", LARGEST + 1)
    came.body.decode("utf-8")
    try:
        connection.wire.read_reply("add", came)
    except ProtocolError:
        return True
    return False
