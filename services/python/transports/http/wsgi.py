"""How a WSGI application is served by gunicorn, in one process unless several workers are asked for.

gunicorn's arbiter would fork the worker, and the dispatcher with its counters would be in another process than the one that
is asked for them. So its threaded worker runs here by itself; with several workers, in each of them on the socket that they
share, as under the arbiter.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from services.python.codecs import coding
from services.python.contract.knobs import WORKERS
from services.python.serve.dispatcher import POOL_THREADS, Dispatcher
from services.python.serve.responder import BACKLOG, Announce, listen
from services.python.serve.tls import server_context

_KEEP_ALIVE_S = 3600
_THREADS = POOL_THREADS  # as many as every other responder has for its operations

WSGI_SETTINGS: Mapping[str, str] = {
    "access log": "off",
    **coding.SETTINGS,
    "TCP_NODELAY": "on",
    "largest body": "not limited",
}
GUNICORN_SETTINGS: Mapping[str, str] = {
    **WSGI_SETTINGS,
    "server": f"one gunicorn gthread worker of {_THREADS} threads, without its arbiter: one process, as everywhere",
    "keep-alive": "one hour",
}

WORKERS_SETTINGS: Mapping[str, str] = {
    f"{WORKERS}: N": f"so many gthread workers of {_THREADS} threads each, which accept from one listening socket, as under "
    "gunicorn's arbiter: who is there first has the connection, for as long as it lasts; none is started anew"
}


def behind_compression(wsgi: Any, knobs: Mapping[str, str]) -> Any:
    """The application as a server is given it: behind what compresses bodies, where that is asked for."""
    compressing = coding.coding(knobs)
    if compressing is None:
        return wsgi
    from services.python.transports.http.compression import CompressedWsgi

    return CompressedWsgi(wsgi, compressing)


def serve(app: Any, dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Serve a WSGI application until the process is ended; CannotServe when the address cannot be listened on."""
    from gunicorn.app.base import BaseApplication
    from gunicorn.glogging import Logger
    from gunicorn.workers.gthread import ThreadWorker

    wsgi, tls = behind_compression(app, dispatcher.knobs), dispatcher.tls
    listener, context = dispatcher.listener or listen(host, port), server_context(tls)
    actual_port = listener.getsockname()[1]
    # gunicorn would make a context for each connection, none of which could resume another's session.
    secured: dict[str, Any] = (
        {}
        if tls is None
        else {"certfile": tls.certificate, "keyfile": tls.key, "ssl_context": lambda _config, _default: context}
    )

    class Application(BaseApplication):  # type: ignore[misc]  # published without type information
        def load_config(self) -> None:
            for name, value in {
                "threads": dispatcher.threads,
                "keepalive": _KEEP_ALIVE_S,
                "backlog": BACKLOG,
                "forwarded_allow_ips": "",
                "loglevel": "warning",
                "post_worker_init": lambda _worker: announce(actual_port),
                **secured,
            }.items():
                self.cfg.set(name, value)

        def load(self) -> Any:
            return wsgi

    served = Application()
    worker = ThreadWorker(
        age=0, ppid=os.getppid(), sockets=[listener], app=served, timeout=0, cfg=served.cfg, log=Logger(served.cfg)
    )
    worker.init_process()
