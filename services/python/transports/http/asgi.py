"""The one server configuration behind every ASGI protocol, so that what differs between them is not the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from services.python.codecs import coding
from services.python.contract.knobs import WORKERS
from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.strict import Part, part
from services.python.serve.dispatcher import Peer
from services.python.serve.responder import BACKLOG, Announce, listen
from services.python.serve.tls import server_context

if TYPE_CHECKING:
    import socket

    from services.python.contract.responder_lines import Tls

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
    "own --workers: who is there first has the connection, for as long as it lasts; none is started anew",
}

_KEEP_ALIVE_S = 3600


@part
class WebSocketOptions(Part):
    """How uvicorn speaks WebSocket, where a protocol needs it.

    `implementation` is uvicorn's name of it. Messages above `max_message_bytes` are refused. Compression and pings
    are off: neither belongs to a request.
    """

    implementation: str = "websockets-sansio"
    max_message_bytes: int = MAX_MESSAGE_BYTES


def serve_asgi(
    app: Any,
    host: str,
    port: int,
    announce: Announce,
    *,
    websocket: WebSocketOptions | None = None,
    knobs: Mapping[str, str] | None = None,
    tls: Tls | None = None,
    listener: socket.socket | None = None,
) -> None:
    """Serve an ASGI application on one event loop until the process is ended; announces the port once it accepts.

    CannotServe when the address cannot be listened on, or the certificate not used. Without `websocket` upgrades are not
    understood. With a `listener` it accepts from that, and makes none.
    """
    import uvicorn

    app = behind_compression(app, knobs or {})
    accepting, context = listener or listen(host, port), server_context(tls)
    options = websocket or WebSocketOptions()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(accepting.getsockname()[1])

    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        ws=options.implementation if websocket else "none",
        ws_max_size=options.max_message_bytes,
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
