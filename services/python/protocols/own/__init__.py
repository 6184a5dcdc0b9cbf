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
from services.python.contract.offers import AS_IT_IS, SECURED, Client, Protocol, find_protocol
from services.python.operations.call import GRAPHQL, GRPC, HTTP, SOCKETIO, SSE, WEBSOCKET
from services.python.transports.http import version
from services.python.transports.http.clients import DEFAULT, clients

PREFIX = "own_"


def _borrowed(kind: str, *names: str, **settings: str) -> tuple[Client, ...]:
    """The clients of those names of another protocol, with the dialer of this kind of call."""
    every = {client.name: client for client in find_protocol(kind).clients}
    return tuple(
        replace(
            every[name], module=f"{__name__}.{kind}_requester", loads=(), settings={**every[name].settings, **settings}
        )
        for name in names
    )


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


def _websocket() -> dict[str, Any]:
    return {
        "clients": _borrowed(WEBSOCKET, "websocket-client", "websockets", "aiohttp"),
        "knobs": SECURED,
        "sequential": "aiohttp",
        "concurrent": "aiohttp",
        "round_trips_to_open": 2,
    }


def _socketio() -> dict[str, Any]:
    return {
        "clients": _borrowed(SOCKETIO, "socketio", "socketio-polling"),
        "knobs": SECURED,
        "sequential": "socketio",
        "concurrent": "socketio",
        "round_trips_to_open": 3,
    }


def _sse() -> dict[str, Any]:
    return {"clients": _borrowed(SSE, "aiohttp"), "knobs": SECURED, "sequential": "aiohttp", "concurrent": "aiohttp"}


def _grpc() -> dict[str, Any]:
    return {
        "clients": _borrowed(GRPC, "grpcio", "grpc-aio", requests="serialised before the timed call"),
        "knobs": {CONNECTIONS: ("each", "1..10000"), TLS: SECURED[TLS]},
        "sequential": "grpcio",
        "concurrent": "grpc-aio",
        "round_trips_to_open": 2,
    }


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
