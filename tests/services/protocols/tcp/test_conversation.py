"""`tcp` carries every operation, between the real responder and both clients, and the responder bears bad peers."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.operations.picture import picture
from services.python.protocols.tcp.frames import ERROR, IDENTITY
from services.python.protocols.tcp.stream import FrameReader, send_frame
from tests.support.ends import make_trial, responder

pytestmark = pytest.mark.busy


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with responder("tcp") as (_, ready):
        yield ready["port"]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Payload]:
    made = {}
    for kind, name, content in (
        ("image", "picture.png", picture(1_580_000)),
        ("json", "document.json", json.dumps({"ü": [1, 2.5, None]}).encode()),
    ):
        (tmp_path / name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        made[kind] = Payload(kind=kind, path=str(tmp_path / name), sha256=digest)  # type: ignore[arg-type]
    return made


@pytest.mark.parametrize("client", ["socket", "uvloop"])
@pytest.mark.parametrize(
    ("operation", "payload"),
    [
        ("timestamp", Payload()),
        ("add", Payload()),
        ("echo", Payload(kind="bytes", size=5_000_000)),
        ("echo", Payload(kind="bytes", size=0)),
        ("echo", Payload(kind="records", count=100)),
        ("echo", "json"),
        ("image", "image"),
        ("exchange", Payload(kind="exchange", size=1_580_000, reply_size=10)),
        ("exchange", Payload(kind="exchange", size=0, reply_size=1_580_000)),
    ],
)
def test_every_operation_is_carried(
    port: int, files: dict[str, Payload], client: str, operation: str, payload: Payload | str
):
    trial = Trial(
        target=Target(host="127.0.0.1", port=port, identity="nonce"),
        protocol="tcp",
        client=client,
        operation=operation,
        record="",
        payload=payload if isinstance(payload, Payload) else files[payload],
        load=Load(requests=0),
    )
    assert [line["type"] for line in make_trial(trial)] == ["checked", "done"]


def test_a_request_that_makes_no_sense_is_answered_with_an_error_and_the_connection_stays(port: int):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        reader = FrameReader(sock)
        send_frame(sock, 99, b"")
        answer: Any = reader.read()
        assert answer[0] == ERROR
        send_frame(sock, IDENTITY, b"")
        assert reader.read() == (IDENTITY, b"nonce")
