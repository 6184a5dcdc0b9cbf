"""How somebody's own service is called: no responder of ours, and the clients of the protocols that there are.

`TABLE` has a row for each kind of call (`operations.call`); an experiment names the kind, never the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from services.python.contract.knobs import CONNECTIONS
from services.python.contract.knobs import HTTP as HTTP_VERSION
from services.python.contract.limits import TLS
from services.python.contract.messages import CALL
from services.python.contract.offers import AS_IT_IS, SECURED, Client, Protocol, find_protocol
from services.python.operations.call import GRAPHQL, GRPC, HTTP, WEBSOCKET
from services.python.transports.http import version
from services.python.transports.http.clients import DEFAULT, clients

PREFIX = "own_"
_HTTP = f"{__name__}.http_requester"
_WEBSOCKET = f"{__name__}.websocket_requester"
_GRPC = f"{__name__}.grpc_requester"


def _borrowed(protocol: str, module: str, names: tuple[str, ...]) -> tuple[Client, ...]:
    """The clients of those names of another protocol, with the dialer of this module."""
    every = find_protocol(protocol).clients
    return tuple(replace(client, module=module, loads=()) for client in every if client.name in names)


def _over_http(kind: str, title: str, summary: str) -> Protocol:
    return _protocol(
        kind,
        title,
        summary,
        clients=clients(_HTTP),
        knobs={HTTP_VERSION: version.KNOBS[HTTP_VERSION], CONNECTIONS: version.KNOBS[CONNECTIONS], **SECURED},
        without_knobs=version.WITHOUT,
        sequential=DEFAULT,
        concurrent=DEFAULT,
    )


def _websocket() -> Protocol:
    return _protocol(
        WEBSOCKET,
        "WebSocket",
        "a text message to an own service, and its reply",
        clients=_borrowed("websocket", _WEBSOCKET, ("websocket-client", "websockets", "aiohttp")),
        knobs=SECURED,
        sequential="aiohttp",
        concurrent="aiohttp",
        round_trips_to_open=2,
    )


def _grpc() -> Protocol:
    return _protocol(
        GRPC,
        "gRPC",
        "any unary method or server stream of an own service, by its .proto, descriptor set or reflection",
        clients=_borrowed("grpc", _GRPC, ("grpcio", "grpc-aio")),
        knobs={CONNECTIONS: ("each", "1..10000"), TLS: SECURED[TLS]},
        sequential="grpcio",
        concurrent="grpc-aio",
        round_trips_to_open=2,
    )


def _protocol(
    kind: str, title: str, summary: str, *, without_knobs: Mapping[str, str] | None = None, **more: Any
) -> Protocol:
    return Protocol(
        name=PREFIX + kind,
        title=title,
        summary=summary,
        messages=frozenset({CALL.name}),
        responders=(),
        without_knobs={**AS_IT_IS, **(without_knobs or {})},
        **more,
    )


TABLE: Mapping[str, Callable[[], Protocol]] = {
    PREFIX + HTTP: lambda: _over_http(HTTP, "HTTP", "any request to an own service by HTTP, and its reply"),
    PREFIX + GRAPHQL: lambda: _over_http(GRAPHQL, "GraphQL", "a GraphQL document to an own service, by HTTP POST"),
    PREFIX + WEBSOCKET: _websocket,
    PREFIX + GRPC: _grpc,
}
NAMES = tuple(TABLE)


def protocol(name: str) -> Protocol:
    """The protocol of that name; KeyError."""
    return TABLE[name]()
