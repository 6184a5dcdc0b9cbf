"""The one server configuration behind every ASGI protocol, so that what differs between them is not the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from services.python.codecs import coding
from services.python.contract.knobs import WORKERS
from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.serve.dispatcher import Dispatcher, Peer
from services.python.serve.responder import BACKLOG, Announce, listen, server_context

if TYPE_CHECKING:
    import socket

PACKAGES = ("uvicorn", "uvloop", "httptools")

SETTINGS: Mapping[str, str] = {
    "server": "uvicorn, uvloop, httptools, one process, one event loop",
    "access log": "off",
    "lifespan": "off",
    "proxy headers": "off, so that the peer is the socket's own",
    **coding.SETTINGS,
    "TCP_NODELAY": "on",
    "keep-alive": "one hour",
    "largest body": "not limited",
}

WORKERS_SETTINGS: Mapping[str, str] = {
    f"{WORKERS}: N": "so many processes with an event loop each, which accept from one listening socket, as under uvicorn's "
    "own --workers: who is there first has the connection, for as long as it lasts; none is started anew"
}

_KEEP_ALIVE_S = 3600


def serve(
    app: Any, dispatcher: Dispatcher, host: str, port: int, announce: Announce, *, websocket: bool = False
) -> None:
    """Serve an ASGI application on one event loop until the process is ended; announces the port once it accepts.

    CannotServe when the address cannot be listened on, or the certificate not used. Without `websocket` upgrades are not
    understood; with it there is neither compression nor a ping, as neither belongs to a request.
    """
    import uvicorn

    app = behind_compression(app, dispatcher.knobs)
    accepting, context = dispatcher.listener or listen(host, port), server_context(dispatcher.tls)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(accepting.getsockname()[1])

    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio" if websocket else "none",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        ws_ping_timeout=None,
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_level="warning",
        workers=1,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
        ssl_context_factory=None if context is None else lambda _config, _default: context,
    )
    Server(config).run(sockets=[accepting])


def behind_compression(app: Any, knobs: Mapping[str, str]) -> Any:
    """The application as a server is given it: behind what compresses bodies, where that is asked for."""
    compressing = coding.coding(knobs)
    if compressing is None:
        return app
    from services.python.transports.http.compression import CompressedAsgi

    return CompressedAsgi(app, compressing)


def peer_of(scope: Mapping[str, Any]) -> Peer:
    """Address and port of the other end of an ASGI connection."""
    host, port = scope["client"]
    return host, port


async def whole(receive: Any) -> bytes:
    """The request's body; most come in one piece, which is handed on as it is."""
    event = await receive()
    if not event.get("more_body"):
        body: bytes = event.get("body", b"")
        return body
    pieces = [event["body"]]
    while event.get("more_body"):
        event = await receive()
        pieces.append(event.get("body", b""))
    return b"".join(pieces)


async def respond(send: Any, status: int, media_type: str, body: bytes, *also: tuple[bytes, bytes]) -> None:
    """One whole reply; `also` are further header fields."""
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode()), *also]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
