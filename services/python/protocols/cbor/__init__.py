"""CBOR over HTTP."""

from __future__ import annotations

from services.python.codecs import coding
from services.python.contract.judgement import Judgement
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, Client, Protocol
from services.python.transports.http import version
from services.python.transports.http.bodies import bare, responders
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="cbor",
    title="CBOR",
    summary="CBOR maps (cbor2) as HTTP bodies; bytes and pictures as byte strings",
    messages=ANY,
    responders=responders("cbor", bare("CBOR"), "cbor2"),
    clients=(
        *clients("services.python.protocols.cbor.requester", "cbor2"),
        Client(
            name="cbor2", module="services.python.protocols.cbor.codec", style="sync", kind="codec", packages=("cbor2",)
        ),
    ),
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"CBOR": "cbor2, compiled; maps of named fields, no schema"},
    browser=Judgement(answer="yes", why="`fetch()` with a CBOR library"),
    schema=Judgement(answer="no", why="CBOR maps name their fields"),
)
