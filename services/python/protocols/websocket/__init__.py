"""Plain WebSocket (RFC 6455): a JSON text frame or a binary frame for each request and each reply."""

from __future__ import annotations

from collections.abc import Mapping

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi

_CLIENT_SETTINGS: Mapping[str, str] = {"permessage-deflate": "off", "pings": "off", "proxies": "not used"}

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
            name="websocket-client",
            module="services.python.protocols.websocket.requester",
            style="sync",
            adds="masks frames in Python",
            packages=("websocket-client",),
            refuses={"stream": "it blocks a thread; streams are read by awaiting clients"},
            settings={**_CLIENT_SETTINGS, "UTF-8 validation": "by the JSON decoder alone"},
        ),
        *(
            Client(
                name=name,
                module=f"services.python.protocols.websocket.{name}_requester",
                style="async",
                packages=(name, "uvloop"),
                settings=_CLIENT_SETTINGS,
            )
            for name in ("websockets", "aiohttp")
        ),
    ),
    # Level with websocket-client (a tenth quicker) on small messages; at 1.58 MB websocket-client takes four times as long,
    # since it masks frames in Python and reads 16 KiB at a time.
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
