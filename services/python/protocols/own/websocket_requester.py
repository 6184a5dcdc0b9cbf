"""Calls somebody's own service by WebSocket: one message, one reply, with the clients of the protocol `websocket`."""

from __future__ import annotations

import importlib
import json
from operator import itemgetter
from typing import Any

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.websocket import PROTOCOL
from services.python.protocols.websocket.frames import Frame, Speech
from services.python.transports.http.route import authority

_LIBRARYS_OWN = ("accept-encoding", "user-agent")


def dialer(call: CallSpec, client: Client) -> Any:
    """Opens connections of that WebSocket client."""
    example = call.example
    scheme = "ws" if call.tls is None else "wss"
    speech = Speech(
        url=f"{scheme}://{authority(call.host, call.port)}{example['path']}",
        encode=itemgetter("send"),
        decode=_document if example["call"]["decode"] else _frame,
        headers={name: text for name, text in example["headers"].items() if name not in _LIBRARYS_OWN},
    )
    return importlib.import_module(PROTOCOL.client(client.name).module).Dialer(call, client, speech)


def _frame(frame: Frame) -> dict[str, Any]:
    return {"status": 0, "body": frame}


def _document(frame: Frame) -> dict[str, Any]:
    try:
        return {"status": 0, "body": frame, "document": json.loads(frame)}
    except (ValueError, RecursionError) as error:
        raise CallFailed("undecodable", f"{error} in {frame[:200]!r}") from error
