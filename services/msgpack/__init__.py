"""MessagePack over HTTP/1.1."""

from __future__ import annotations

from services.harness.spec import Protocol, Responder
from services.http.asgi import PACKAGES, SETTINGS
from services.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="msgpack",
    title="MessagePack",
    summary="MessagePack maps (msgpack) as HTTP/1.1 bodies; bytes and pictures as binary values",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.msgpack.responder",
            adds="routes every request with FastAPI",
            packages=("msgpack", "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
    ),
    clients=clients("services.msgpack.requester", "msgpack"),
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={"MessagePack": "msgpack, compiled; maps of named fields, no schema"},
)
