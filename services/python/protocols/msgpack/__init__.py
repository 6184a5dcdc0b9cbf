"""MessagePack over HTTP."""

from __future__ import annotations

from services.python.codecs import coding
from services.python.contract.judgement import Judgement
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, Client, Protocol
from services.python.transports.http import version
from services.python.transports.http.bodies import bare, responders
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="msgpack",
    title="MessagePack",
    summary="MessagePack maps (msgpack) as HTTP bodies; bytes and pictures as binary values",
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
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"MessagePack": "msgpack, compiled; maps of named fields, no schema"},
    browser=Judgement(answer="yes", why="`fetch()` with a MessagePack library"),
    schema=Judgement(answer="no", why="MessagePack maps name their fields"),
)
