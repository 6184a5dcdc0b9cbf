"""ASGI applications behind granian, which speaks HTTP/1.1 and HTTP/2: there the version is all that differs.

granian's own program starts the server in processes of its own, and the dispatcher with its counters would be in another one
than is asked for them. So its embedded server runs here, on a socket made as everybody's is; with several workers, in each
of them on the one that they share, as granian's own do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.python.codecs import coding
from services.python.contract.knobs import FLOW_WINDOW, WORKERS
from services.python.contract.limits import TLS, TLS_1_3
from services.python.contract.offers import Responder
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import BACKLOG, Announce, listen, server_context
from services.python.transports.http import asgi, version
from services.python.transports.http.asgi import behind_compression

PACKAGES = ("granian", "uvloop")

SETTINGS: Mapping[str, str] = {
    "server": "granian, embedded: one thread of its own for the network, one event loop (uvloop) for the application",
    "access log": "off",
    "lifespan": "off",
    **coding.SETTINGS,
    "TCP_NODELAY": "on",
    "keep-alive": "one hour",
    "HTTP": "the version that is asked for, and no other",
    "HTTP/2": "granian's defaults: windows of 1 MiB for a stream and a connection (of flow_window, where it is set); a "
    "body comes to the application in pieces of at most 16 KiB, a frame each",
    f"{FLOW_WINDOW}: SIZE": "given back once what was read is half of what is left of it: of 64 KiB and of 256 KiB three "
    "quarters pass in a round trip",
    "largest body": "not limited",
    f"{TLS}: {TLS_1_3}": "rustls, TLS 1.3 alone; by ALPN the version of HTTP that is asked for, and no other",
}

WORKERS_SETTINGS: Mapping[str, str] = {
    f"{WORKERS}: N": "so many processes with an embedded server each, which accept from one listening socket, as under "
    "granian's own --workers: who is there first has the connection, for as long as it lasts; none is started anew"
}


def served(responder: Responder, name: str, **settings: str) -> Responder:
    """The same application as that responder's, behind granian in place of uvicorn."""
    return replace(
        responder,
        name=name,
        served_by=__name__,
        parts=replace(responder.parts, server="granian"),
        without="",
        packages=(*(each for each in responder.packages if each not in asgi.PACKAGES), *PACKAGES),
        refuses={},
        settings={**SETTINGS, **settings},
    )


_KEEP_ALIVE_MS = 3_600_000
_WINDOW_BYTES = 1_048_576  # granian's default


def serve(app: Any, dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """As `asgi.serve`, over the version of HTTP that the knobs ask for."""
    import uvloop
    from granian._granian import SocketHolder
    from granian.constants import HTTPModes, Interfaces, SSLProtocols
    from granian.http import HTTP1Settings, HTTP2Settings
    from granian.server.embed import Server

    # What granian is published with types of says little of these.
    holder: Any = SocketHolder
    start: Any = Server.startup
    knobs, tls = dispatcher.knobs, dispatcher.tls
    server_context(tls)  # says what cannot be used; granian's own TLS reads the files again
    secured: dict[str, Any] = (
        {}
        if tls is None
        else {"ssl_cert": Path(tls.certificate), "ssl_key": Path(tls.key), "ssl_protocol_min": SSLProtocols.tls13}
    )
    window = int(knobs.get(FLOW_WINDOW, _WINDOW_BYTES))
    modes = {version.ONE: HTTPModes.http1, version.TWO: HTTPModes.http2}
    listener = dispatcher.listener or listen(host, port)
    actual_port = listener.getsockname()[1]

    class Embedded(Server):
        def _init_shared_socket(self) -> None:
            descriptor: Any = listener.fileno()
            self._shd, self._sfd = holder(descriptor, False, BACKLOG), descriptor

        def startup(self, *given: Any) -> None:
            start(self, *given)
            announce(actual_port)

    async def serving() -> None:
        server = Embedded(
            behind_compression(app, knobs),
            address=host,
            port=actual_port,
            interface=Interfaces.ASGINL,
            http=modes[version.asked(knobs)],
            http1_settings=HTTP1Settings(header_read_timeout=_KEEP_ALIVE_MS),
            http2_settings=HTTP2Settings(initial_stream_window_size=window, initial_connection_window_size=window),
            websockets=False,
            backlog=BACKLOG,
            log_enabled=False,
            **secured,
        )
        await server.serve()

    uvloop.run(serving())
