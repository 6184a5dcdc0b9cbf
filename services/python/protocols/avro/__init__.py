"""Avro over HTTP/1.1."""

from __future__ import annotations

from services.python.codecs import gzipped
from services.python.contract.offers import Protocol, Responder
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="avro",
    title="Avro",
    summary="Avro messages (fastavro) as HTTP/1.1 bodies, their schemas known to both ends",
    operations=frozenset({"timestamp", "add", "echo", "image"}),
    responders=(
        Responder(
            name="fastapi",
            module="services.python.protocols.avro.responder",
            adds="routes every request with FastAPI",
            packages=("fastavro", "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
    ),
    clients=clients("services.python.protocols.avro.requester", "fastavro"),
    knobs=gzipped.KNOBS,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "Avro": "fastavro, compiled; schemas parsed once, bodies without schema (protos/operations.avsc)",
        "document": "JSON text in a string: Avro has no type for any JSON value",
    },
)
