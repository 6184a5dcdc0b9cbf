"""Avro over HTTP/1.1."""

from __future__ import annotations

from services.harness.spec import Protocol, Responder
from services.http.asgi import PACKAGES, SETTINGS
from services.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="avro",
    title="Avro",
    summary="Avro messages (fastavro) as HTTP/1.1 bodies, their schemas known to both ends",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.avro.responder",
            adds="routes every request with FastAPI",
            packages=("fastavro", "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
    ),
    clients=clients("services.avro.requester", "fastavro"),
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "Avro": "fastavro, compiled; schemas parsed once, bodies without schema (protos/operations.avsc)",
        "document": "JSON text in a string: Avro has no type for any JSON value",
    },
)
