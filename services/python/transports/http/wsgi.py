"""How a WSGI application is served by gunicorn, in one process unless several workers are asked for.

gunicorn's arbiter would fork the worker, and the dispatcher with its counters would be in another process than the one that
is asked for them. So its threaded worker runs here by itself; with several workers, in each of them on the socket that they
share, as under the arbiter.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from services.python.codecs.coding import GZIP, ZSTD
from services.python.contract.knobs import NO_LOOP, WORKERS
from services.python.serve.dispatcher import POOL_THREADS, Dispatcher
from services.python.serve.responder import BACKLOG, Announce, listen, server_context
from services.python.transports.http import version

_KEEP_ALIVE_S = 3600
_THREADS = POOL_THREADS  # as many as every other responder has for its operations

WSGI_SETTINGS: Mapping[str, str] = {
    "access log": "off",
    "compression": "off",
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


def refuses(instead: str) -> Mapping[str, str]:
    """What a responder behind WSGI cannot do; `instead` names one of its protocol that speaks HTTP/2."""
    plain = "its WSGI server sends bodies as they are"
    return {
        **version.one_alone("a WSGI server", instead),
        **NO_LOOP,
        **{f"compression: {name}": plain for name in (GZIP, ZSTD)},
    }


def serve(app: Any, dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Serve a WSGI application until the process is ended; CannotServe when the address cannot be listened on."""
    from gunicorn.app.base import BaseApplication
    from gunicorn.glogging import Logger
    from gunicorn.workers.gthread import ThreadWorker

    tls = dispatcher.tls
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
            return app

    served = Application()
    worker = ThreadWorker(
        age=0, ppid=os.getppid(), sockets=[listener], app=served, timeout=0, cfg=served.cfg, log=Logger(served.cfg)
    )
    worker.init_process()
