"""Avro over HTTP."""

from __future__ import annotations

from services.python.codecs import coding
from services.python.contract.judgement import Judgement
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import AS_IT_IS, SECURED, Client, Protocol
from services.python.transports.http import version
from services.python.transports.http.bodies import bare, responders
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="avro",
    title="Avro",
    summary="Avro messages (fastavro) as HTTP bodies, their schemas known to both ends",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE,
    responders=responders("avro", bare("Avro"), "fastavro"),
    clients=(
        *clients("services.python.protocols.avro.requester", "fastavro"),
        Client(
            name="fastavro",
            module="services.python.protocols.avro.codec",
            style="sync",
            kind="codec",
            packages=("fastavro",),
        ),
    ),
    knobs={**coding.KNOBS, **version.KNOBS, **SECURED},
    without_knobs={**AS_IT_IS, **version.WITHOUT},
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "Avro": "fastavro, compiled; schemas parsed once, bodies without schema (protos/operations.avsc)",
        "document": "JSON text in a string: Avro has no type for any JSON value",
    },
    browser=Judgement(answer="yes", why="`fetch()` with an Avro library"),
    schema=Judgement(answer="yes", why="a body holds values alone, and cannot be read without the writer's schema"),
)
