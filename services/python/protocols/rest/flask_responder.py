"""REST answered by Flask's development server, threaded as `flask run` starts it."""

from __future__ import annotations

import logging

from werkzeug.serving import make_server

from services.python.protocols.rest.flask_app import application
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce, listen
from services.python.serve.tls import server_context


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    listener = listen(host, port)
    port = listener.getsockname()[1]
    server = make_server(
        host,
        port,
        application(dispatcher),
        threaded=True,
        fd=listener.fileno(),
        ssl_context=server_context(dispatcher.tls),
    )
    announce(port)
    server.serve_forever()
