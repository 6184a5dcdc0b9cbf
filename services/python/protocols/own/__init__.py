"""How somebody's own service is called: no responder of ours, and the clients of the protocols that there are.

`TABLE` has a row for each kind of call (`operations.call`); an experiment names the kind, never the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from services.python.contract.knobs import CONNECTIONS, HTTP_3
from services.python.contract.knobs import HTTP as HTTP_VERSION
from services.python.contract.limits import TLS
from services.python.contract.messages import CALL
from services.python.contract.offers import AS_IT_IS, SECURED, Protocol, find_protocol
from services.python.operations.call import GRAPHQL, GRPC, HTTP, SOCKETIO, SSE, WEBSOCKET
from services.python.transports.http import version
from services.python.transports.http.clients import DEFAULT, clients

PREFIX = "own_"


def _borrowed(
    kind: str, *names: str, knobs: Mapping[str, tuple[str, ...]] = SECURED, **settings: str
) -> dict[str, Any]:
    """The clients of those names of another protocol, with the dialer of this kind of call, and what else is that one's."""
    known = find_protocol(kind)
    module = f"{__name__}.{kind}_requester"
    every = [replace(known.client(name), module=module, loads=()) for name in names]
    return {
        "clients": tuple(replace(client, settings={**client.settings, **settings}) for client in every),
        "knobs": knobs,
        "sequential": known.sequential,
        "concurrent": known.concurrent,
        "round_trips_to_open": known.round_trips_to_open,
    }


def _over_http() -> dict[str, Any]:
    """The clients of HTTP; those of libcurl alone speak HTTP/3."""
    every = clients(f"{__name__}.http_requester")
    refused = {f"{HTTP_VERSION}: {HTTP_3}": "of the Python clients pycurl and pycurl-multi alone speak it"}
    return {
        "clients": tuple(
            client if "pycurl" in client.packages else replace(client, refuses={**client.refuses, **refused})
            for client in every
        ),
        "knobs": {
            HTTP_VERSION: (*version.KNOBS[HTTP_VERSION], HTTP_3),
            CONNECTIONS: version.KNOBS[CONNECTIONS],
            **SECURED,
        },
        "sequential": DEFAULT,
        "concurrent": DEFAULT,
    }


_websocket = partial(_borrowed, WEBSOCKET, "websocket-client", "websockets", "aiohttp")
_socketio = partial(_borrowed, SOCKETIO, "socketio", "socketio-polling")
_sse = partial(_borrowed, SSE, "aiohttp")
_grpc = partial(
    _borrowed,
    GRPC,
    "grpcio",
    "grpc-aio",
    knobs={CONNECTIONS: ("each", "1..10000"), TLS: SECURED[TLS]},
    requests="serialised before the timed call",
)


def _protocol(kind: str, title: str, summary: str, more: Callable[[], dict[str, Any]]) -> Protocol:
    return Protocol(
        name=PREFIX + kind,
        title=title,
        summary=summary,
        messages=frozenset({CALL.name}),
        responders=(),
        without_knobs=AS_IT_IS,
        **more(),
    )


_KINDS = (
    (HTTP, "HTTP", "any request to an own service by HTTP, and its reply", _over_http),
    (GRAPHQL, "GraphQL", "a GraphQL document to an own service, by HTTP POST", _over_http),
    (WEBSOCKET, "WebSocket", "a text message to an own service, and its reply", _websocket),
    (SOCKETIO, "Socket.IO", "an event to an own service, and its acknowledgement", _socketio),
    (SSE, "Server-sent events", "a request to an own service, and its events to their end or to a number", _sse),
    (
        GRPC,
        "gRPC",
        "any unary method or server stream of an own service, by its .proto, descriptor set or reflection",
        _grpc,
    ),
)
TABLE: Mapping[str, Callable[[], Protocol]] = {PREFIX + row[0]: partial(_protocol, *row) for row in _KINDS}
NAMES = tuple(TABLE)


def protocol(name: str) -> Protocol:
    """The protocol of that name; KeyError."""
    return TABLE[name]()
