"""CBOR over HTTP/1.1."""

from __future__ import annotations

from services.harness.spec import Protocol, Responder
from services.http.asgi import PACKAGES, SETTINGS
from services.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="cbor",
    title="CBOR",
    summary="CBOR maps (cbor2) as HTTP/1.1 bodies; bytes and pictures as byte strings",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.cbor.responder",
            adds="routes every request with FastAPI",
            packages=("cbor2", "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
    ),
    clients=clients("services.cbor.requester", "cbor2"),
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"CBOR": "cbor2, compiled; maps of named fields, no schema"},
)
