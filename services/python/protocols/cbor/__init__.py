"""CBOR over HTTP/1.1."""

from __future__ import annotations

from services.python.codecs import gzipped
from services.python.contract.offers import Protocol, Responder
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="cbor",
    title="CBOR",
    summary="CBOR maps (cbor2) as HTTP/1.1 bodies; bytes and pictures as byte strings",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.python.protocols.cbor.responder",
            adds="routes every request with FastAPI",
            packages=("cbor2", "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
    ),
    clients=clients("services.python.protocols.cbor.requester", "cbor2"),
    knobs=gzipped.KNOBS,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"CBOR": "cbor2, compiled; maps of named fields, no schema"},
)
