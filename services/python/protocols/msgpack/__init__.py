"""MessagePack over HTTP/1.1."""

from __future__ import annotations

from services.python.codecs import gzipped
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, Client, Protocol
from services.python.transports.http.bodies import bare, responders
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="msgpack",
    title="MessagePack",
    summary="MessagePack maps (msgpack) as HTTP/1.1 bodies; bytes and pictures as binary values",
    messages=ANY,
    responders=responders("msgpack", bare("MessagePack"), "msgpack"),
    clients=(
        *clients("services.python.protocols.msgpack.requester", "msgpack"),
        Client(
            name="msgpack",
            module="services.python.protocols.msgpack.codec",
            style="sync",
            kind="codec",
            packages=("msgpack",),
        ),
    ),
    knobs={**gzipped.KNOBS, **SECURED},
    without_knobs=AS_IT_IS,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"MessagePack": "msgpack, compiled; maps of named fields, no schema"},
)
