"""Socket.IO 5 over Engine.IO 4: a request is an event, its reply the acknowledgement of that event."""

from __future__ import annotations

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import ANY, AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi

_PACKAGES = ("python-socketio", "python-engineio")

PROTOCOL = Protocol(
    name="socketio",
    title="Socket.IO",
    summary="Events and acknowledgements in JSON, bytes as binary attachments, over WebSocket (or long polling)",
    messages=ANY,
    streams="also",
    responders=(
        Responder(
            name="python-socketio",
            module="services.python.protocols.socketio.responder",
            parts=Parts(
                codec="JSON",
                bytes_as="attachments",
                transport="Socket.IO over WebSocket",
                server="uvicorn",
                framework="python-socketio",
            ),
            adds="starts a task for every event",
            packages=(*_PACKAGES, *asgi.PACKAGES, "websockets"),
            settings={
                **asgi.SETTINGS,
                "WebSocket": "websockets, sans-I/O",
                "event handlers": "a task each",
                "events of a stream": "queued by the library without a bound, so that no reader holds its sender back",
            },
        ),
    ),
    clients=(
        Client(
            name="socketio",
            module="services.python.protocols.socketio.requester",
            style="async",
            packages=(*_PACKAGES, "aiohttp", "uvloop"),
            settings={
                "transport": "WebSocket from the start",
                "events of a stream": "read by the library as they come, and queued until they are asked for",
            },
        ),
        Client(
            name="socketio-polling",
            module="services.python.protocols.socketio.requester",
            style="async",
            packages=(*_PACKAGES, "aiohttp", "uvloop"),
            settings={"transport": "long polling: POST to send, GET to receive, on two TCP connections"},
            transport="Socket.IO over long polling",
            refuses={
                "stream": "its library gives up a poll that brings more than 16 packets, as those of a stream may"
            },
            round_trips_to_open=4,  # TCP's handshake, the GET that opens, the POST of CONNECT, the GET that confirms
        ),
    ),
    without_knobs={
        **AS_IT_IS,
        "compression": "its packets are sent as they are; permessage-deflate is off on both ends",
        "http": "a WebSocket is upgraded from HTTP/1.1, and its packets are no longer HTTP",
    },
    knobs=SECURED,
    sequential="socketio",
    concurrent="socketio",
    # TCP's handshake; the upgrade, right behind whose reply comes Engine.IO's own "open" packet; and Socket.IO's CONNECT,
    # which the responder confirms. Counted by putting 20 ms each way between both ends.
    round_trips_to_open=3,
    settings={
        "compression": "off",
        "pings": "once an hour",
        "largest message": f"{MAX_MESSAGE_BYTES} bytes",
        "reconnection": "off",
        "TCP_NODELAY": "on",
        **TLS_SETTINGS,
    },
)
