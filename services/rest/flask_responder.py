"""REST answered by Flask's development server, threaded as `flask run` starts it."""

from __future__ import annotations

import logging

from werkzeug.serving import make_server

from services.harness.desk import Desk
from services.harness.responder_api import Announce, listen
from services.rest.flask_app import application


def serve(desk: Desk, host: str, port: int, announce: Announce) -> None:
    """See `responder_api.Serve`."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    listener = listen(host, port)
    port = listener.getsockname()[1]
    server = make_server(host, port, application(desk), threaded=True, fd=listener.fileno())
    announce(port)
    server.serve_forever()
