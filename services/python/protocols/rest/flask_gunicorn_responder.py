"""REST answered by Flask behind gunicorn, a production WSGI server.

gunicorn's arbiter would fork the worker, and the dispatcher with its counters would be in another process than the one that
is asked for them. So its threaded worker runs here by itself, in the one process that every responder has.
"""

from __future__ import annotations

import os
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from services.python.protocols.rest.flask_app import served
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import BACKLOG, Announce, listen

_KEEP_ALIVE_S = 3600
_THREADS = 16


class _Application(BaseApplication):  # type: ignore[misc]  # published without type information
    def __init__(self, dispatcher: Dispatcher, announce: Announce, port: int) -> None:
        self._dispatcher = dispatcher
        self._ready = lambda _worker: announce(port)
        super().__init__()

    def load_config(self) -> None:
        for name, value in {
            "threads": _THREADS,
            "keepalive": _KEEP_ALIVE_S,
            "backlog": BACKLOG,
            "forwarded_allow_ips": "",
            "loglevel": "warning",
            "post_worker_init": self._ready,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return served(self._dispatcher)


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    listener = listen(host, port)
    gunicorn = _Application(dispatcher, announce, listener.getsockname()[1])
    worker = ThreadWorker(
        age=0,
        ppid=os.getppid(),
        sockets=[listener],
        app=gunicorn,
        timeout=0,
        cfg=gunicorn.cfg,
        log=Logger(gunicorn.cfg),
    )
    worker.init_process()
