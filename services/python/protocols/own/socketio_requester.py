"""Calls somebody's own service by Socket.IO, an event and its acknowledgement, with the clients of `socketio`."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Reply
from services.python.protocols.socketio.events import Speech
from services.python.protocols.socketio.requester import TRANSPORTS, SocketIoDialer

_LIBRARYS_OWN = ("accept-encoding",)


def dialer(call: CallSpec, client: Client) -> SocketIoDialer:
    """Opens sessions of that Socket.IO client."""
    example = call.example
    speech = Speech(
        emits=itemgetter("event", "send"),
        read=_reply,
        path=example["path"].strip("/"),
        headers={name: text for name, text in example["headers"].items() if name not in _LIBRARYS_OWN},
    )
    return SocketIoDialer(call, TRANSPORTS[client.name], speech)


def _reply(arguments: tuple[Any, ...]) -> Reply:
    """What was acknowledged: one value, or a list of several."""
    return {"status": 0, "document": arguments[0] if len(arguments) == 1 else list(arguments)}
