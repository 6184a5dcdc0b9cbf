"""Server-sent events: a GET over HTTP/1.1, and a body of events that ends with the subscription."""

from __future__ import annotations

from services.python.contract.limits import SESSION, TLS
from services.python.contract.messages import OF_STREAMS
from services.python.contract.offers import AS_IT_IS, SECURED, TLS_SETTINGS, Client, Parts, Protocol, Responder
from services.python.transports.http import asgi

PROTOCOL = Protocol(
    name="sse",
    title="Server-sent events",
    summary="JSON in the events of a text/event-stream body over HTTP/1.1; a stream alone, no calls",
    messages=OF_STREAMS,
    streams="alone",
    responders=(
        Responder(
            name="uvicorn",
            module="services.python.protocols.sse.responder",
            served_by=asgi.__name__,
            parts=Parts(codec="JSON", transport="server-sent events over HTTP/1.1", server="uvicorn"),
            packages=asgi.PACKAGES,
            settings={**asgi.SETTINGS, "framework": "none, bare ASGI"},
        ),
    ),
    clients=(
        Client(
            name="aiohttp",
            module="services.python.protocols.sse.requester",
            style="async",
            packages=("aiohttp", "uvloop"),
            settings={"events": "split and decoded in Python", "proxies, redirects": "not used"},
        ),
    ),
    knobs={TLS: SECURED[TLS]},
    without_knobs={
        **AS_IT_IS,
        "compression": "an event is sent as it is: a compressed body would hold events back",
        SESSION: "a subscription has one connection for as long as it lasts, so there is none to resume",
        "http": "its responders and its client speak HTTP/1.1 alone",
    },
    sequential="aiohttp",
    concurrent="aiohttp",
    settings={"HTTP": "1.1; chunked bodies", "reconnecting": "never", "TCP_NODELAY": "on", **TLS_SETTINGS},
)
