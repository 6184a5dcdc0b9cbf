"""GraphQL subscriptions: events in the frames of graphql-transport-ws, over one upgraded connection."""

from __future__ import annotations

from services.python.contract.limits import MAX_MESSAGE_BYTES, SESSION, TLS
from services.python.contract.messages import OF_STREAMS
from services.python.contract.offers import AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi

PROTOCOL = Protocol(
    name="graphqlws",
    title="GraphQL subscriptions",
    summary="GraphQL subscriptions in JSON text frames over WebSocket (graphql-transport-ws); a stream alone, no calls",
    messages=OF_STREAMS,
    streams="alone",
    responders=(
        Responder(
            name="strawberry",
            module="services.python.protocols.graphqlws.responder",
            parts=Parts(
                codec="GraphQL in JSON",
                bytes_as="base64",
                transport="graphql-transport-ws over WebSocket",
                server="uvicorn",
                framework="Strawberry",
                validation="GraphQL types, the query once a subscription",
            ),
            adds="executes the selection of fields anew for every event",
            packages=("strawberry-graphql", "graphql-core", "starlette", *asgi.PACKAGES, "websockets"),
            settings={
                **asgi.SETTINGS,
                "WebSocket": "websockets, sans-I/O",
                "subscriptions": "of graphql-transport-ws alone; at most one at a time on a connection",
            },
        ),
    ),
    clients=(
        Client(
            name="aiohttp",
            module="services.python.protocols.graphqlws.requester",
            style="async",
            packages=("aiohttp", "uvloop"),
            settings={
                "messages": "of graphql-transport-ws, in Python",
                "permessage-deflate": "off",
                "pings": "answered",
            },
        ),
    ),
    knobs={TLS: SECURED[TLS]},
    without_knobs={
        **AS_IT_IS,
        "compression": "its messages are sent as they are; permessage-deflate is off on both ends",
        SESSION: "a subscription has one connection for as long as it lasts, so there is none to resume",
        "http": "a WebSocket is upgraded from HTTP/1.1, and its messages are no longer HTTP",
    },
    sequential="aiohttp",
    concurrent="aiohttp",
    round_trips_to_open=3,  # TCP's handshake, the upgrade, and connection_init with its connection_ack
    settings={
        "permessage-deflate": "off",
        "pings": "off",
        "largest message": f"{MAX_MESSAGE_BYTES} bytes",
        "64-bit integers": "of a scalar of their own (Long): GraphQL's Int has 32 bits",
        "TCP_NODELAY": "on",
        **TLS_SETTINGS,
    },
)
