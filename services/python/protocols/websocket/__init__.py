"""Plain WebSocket (RFC 6455): a JSON text frame or a binary frame for each request and each reply."""

from __future__ import annotations

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi

PROTOCOL = Protocol(
    name="websocket",
    title="WebSocket",
    summary="JSON text frames, or binary frames for bytes and pictures, over one upgraded connection",
    messages=ANY,
    streams="also",
    responders=(
        Responder(
            name="uvicorn",
            module="services.python.protocols.websocket.responder",
            parts=Parts(codec="JSON", transport="WebSocket", server="uvicorn"),
            packages=(*asgi.PACKAGES, "websockets"),
            settings={**asgi.SETTINGS, "WebSocket": "websockets, sans-I/O", "framework": "none, bare ASGI"},
        ),
    ),
    clients=(
        Client(
            name="aiohttp",
            module="services.python.protocols.websocket.requester",
            style="async",
            packages=("aiohttp", "uvloop"),
            settings={"permessage-deflate": "off", "pings": "off", "proxies": "not used"},
        ),
    ),
    without_knobs={
        **AS_IT_IS,
        "compression": "its messages are sent as they are; permessage-deflate is off on both ends",
        "http": "a WebSocket is upgraded from HTTP/1.1, and its messages are no longer HTTP",
    },
    knobs=SECURED,
    sequential="aiohttp",
    concurrent="aiohttp",
    round_trips_to_open=2,  # TCP's handshake, and the HTTP upgrade
    settings={
        "permessage-deflate": "off",
        "pings": "off",
        "largest message": f"{MAX_MESSAGE_BYTES} bytes",
        "replies": "matched by order, one request in flight a connection",
        "TCP_NODELAY": "on",
        **TLS_SETTINGS,
    },
)
