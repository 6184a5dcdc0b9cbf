"""Protocol Buffers in raw HTTP bodies: gRPC's messages without gRPC."""

from __future__ import annotations

from services.python.codecs import coding
from services.python.contract.judgement import Judgement
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import AS_MESSAGES, SECURED, Client, Protocol
from services.python.transports.http import version
from services.python.transports.http.bodies import bare, responders
from services.python.transports.http.clients import DEFAULT, clients

PROTOCOL = Protocol(
    name="protobuf",
    title="Protocol Buffers",
    summary="Protocol Buffers messages (protos/orch.proto) as HTTP bodies, without gRPC",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE,
    responders=responders("protobuf", bare("Protocol Buffers"), "protobuf"),
    clients=(
        *clients("services.python.protocols.protobuf.requester", "protobuf"),
        Client(
            name="protobuf",
            module="services.python.protocols.protobuf.codec",
            style="sync",
            kind="codec",
            packages=("protobuf",),
        ),
        Client(
            name="protobuf-parse-only",
            module="services.python.protocols.protobuf.codec",
            style="sync",
            kind="codec",
            omits="stops the clock before any field is read",
            packages=("protobuf",),
            refuses={"evolution": "whether a field came is known once it is read"},
        ),
    ),
    knobs={**coding.KNOBS, **version.KNOBS, **AS_MESSAGES, **SECURED},
    without_knobs=version.WITHOUT,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "Protocol Buffers": "protobuf's own runtime, compiled (upb); the messages of gRPC",
        "document": "a message made from its shape (protos/documents.md)",
        "document: value": "google.protobuf.Value, whose numbers are doubles",
    },
    browser=Judgement(answer="yes", why="`fetch()` with a Protocol Buffers library"),
    schema=Judgement(answer="yes", why="fields travel as numbers, whose names and types are in the .proto file"),
)
