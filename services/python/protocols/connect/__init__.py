"""Connect: the procedures and messages of gRPC as plain POSTs, over HTTP/1.1 or HTTP/2. Unary calls alone."""

from __future__ import annotations

from services.python.codecs import coding
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import AS_MESSAGES, SECURED, Parts, Protocol, Responder
from services.python.transports.http import asgi, granian, version
from services.python.transports.http.clients import DEFAULT, clients

_ON_GRANIAN = "asgi-granian"

_BARE = Responder(
    name="asgi",
    module="services.python.protocols.connect.application",
    served_by=asgi.__name__,
    parts=Parts(codec="Protocol Buffers", transport="Connect over HTTP/1.1", server="uvicorn"),
    packages=("protobuf", *asgi.PACKAGES),
    refuses=version.one_alone("uvicorn", _ON_GRANIAN),
    settings=asgi.SETTINGS,
)

PROTOCOL = Protocol(
    name="connect",
    title="Connect",
    summary="Connect's unary calls: the procedures and messages of gRPC as HTTP bodies, without its frames and trailers",
    messages=frozenset({"timestamp", "add", "echo", "image", "transfer"}) | OF_THE_STORE,
    responders=(_BARE, granian.served(_BARE, _ON_GRANIAN)),
    clients=clients("services.python.protocols.connect.requester", "protobuf"),
    knobs={**coding.KNOBS, **version.KNOBS, **AS_MESSAGES, **SECURED},
    without_knobs=version.WITHOUT,
    sequential=DEFAULT,
    concurrent=DEFAULT,
    settings={
        "Connect": "written here to its specification, version 1; application/proto; no Connect-Timeout-Ms is sent",
        "Protocol Buffers": "protobuf's own runtime, compiled (upb); the messages of gRPC",
        "document": "a message made from its shape (protos/documents.md)",
        "document: value": "google.protobuf.Value, whose numbers are doubles",
    },
)
