"""`protos/fields.md`: both ends read every field of every message once, whatever the codec, and within the timed call."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.offers import Client, find_protocol
from services.python.load.client import Reply, Request
from services.python.operations import OPERATIONS
from tests.support import wire
from tests.support.costly_responder import READS
from tests.support.fields import parts, plain_fields, unread
from tests.support.matrix import is_default_client, is_default_responder, others_slow

pytestmark = pytest.mark.busy

ENDS = [(p.name, r.name) for p in wire.CALLING for r in p.responders]
CLIENTS = [(p.name, c.name) for p in wire.CALLING for c in p.clients if c.kind == "call"]
CODECS = [(p.name, c.name) for p in wire.CALLING for c in p.clients if c.kind == "codec"]

# What a request says besides its fields, where the path or the kind of frame says it.
CASES = {name: wire.REQUESTS[name] for name in wire.REQUESTS if name not in ("echo of no bytes", "echo of a bare null")}


@contextmanager
def reading(protocol: str, implementation: str, reads: Path) -> Iterator[int]:
    """The port of a responder that writes into `reads` what its operations are handed."""
    env = {**os.environ, READS: str(reads)}
    with wire.responding(protocol, implementation, module="tests.support.costly_responder", env=env) as running:
        yield running.port


def called(protocol: str, client: Client, port: int, operation: str, request: Request) -> tuple[Any, Reply]:
    """What `call` returned, and then `value`."""
    connection, [reply] = wire.converse(*wire.dialer_of(protocol, client.name, port, operation, request), [request])
    return reply, connection.value(reply)


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_a_responder_hands_the_operation_every_field_read(tmp_path: Path, protocol: str, implementation: str) -> None:
    client = find_protocol(protocol).default_client(1)
    reads = tmp_path / "reads"
    with reading(protocol, implementation, reads) as port:
        for case, (operation, request) in CASES.items():
            reads.write_text("")
            called(protocol, client, port, operation, request)
            [line] = [json.loads(text) for text in reads.read_text().splitlines()]
            # A binary frame carries an echo's bytes or a picture: its flag stands beside them in either case.
            beside = 1 if protocol == "websocket" and case == "echo of bytes" else 0
            assert (line["fields"], line["unread"]) == (plain_fields(request) + beside, []), case


@pytest.mark.parametrize(("protocol", "name"), others_slow(CLIENTS, is_default_client))
def test_a_clients_call_returns_with_every_field_of_the_reply_read(answering: Any, protocol: str, name: str) -> None:
    """`value` finds what is there: all that it gives, but for the outermost names, `call` had returned already."""
    client = find_protocol(protocol).client(name)
    for case, (operation, request) in CASES.items():
        reply, value = called(
            protocol, client, answering(protocol, find_protocol(protocol).responders[0].name).port, operation, request
        )
        assert unread(value) == set(), case
        if operation == "echo":
            assert plain_fields(value) == plain_fields(request), case
        there = {id(part) for part in parts(reply)}
        made_by_value = [part for part in list(parts(value))[1:] if id(part) not in there]
        assert made_by_value == [], case


@pytest.mark.parametrize(("protocol", "name"), CODECS)
def test_a_codec_alone_reads_every_field_of_both_messages_within_its_call(protocol: str, name: str) -> None:
    client = find_protocol(protocol).client(name)
    for case, (operation, request) in CASES.items():
        exchange = {"request": request, "reply": OPERATIONS[operation].answer(request, time.time_ns)}
        coded, value = called(protocol, client, 0, operation, exchange)
        assert unread(value) == set(), case
        assert plain_fields(value) == plain_fields(exchange), case
        assert bool(unread(coded)) is bool(client.omits), case
        there = {id(part) for part in parts(coded)}
        made_by_value = [part for message in value.values() for part in parts(message) if id(part) not in there]
        named = name == "stdlib" and protocol == "graphql"  # GraphQL's fields are named as the operation names them
        assert bool([part for part in made_by_value if not named or not isinstance(part, dict)]) is bool(
            client.omits
        ), case
