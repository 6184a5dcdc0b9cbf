"""JSON answered by Flask behind gunicorn: the codec and the paths of the ASGI responders, without models."""

from __future__ import annotations

from flask import Flask, Response, request

from services.python.codecs.json import CODEC
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce
from services.python.transports.http.wsgi import serve_gunicorn, with_knobs


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """See `responder.Serve`."""
    wsgi = with_knobs(application(dispatcher), dispatcher.knobs)
    serve_gunicorn(wsgi, host, port, announce, dispatcher.tls, threads=dispatcher.threads)


def application(dispatcher: Dispatcher) -> Flask:
    """The Flask application; it is asked from many threads."""
    app = Flask(__name__)
    messages = {
        path: (operation, CODEC.request(message).read, CODEC.reply(message).write)
        for path, (operation, message) in CODEC.carried().items()
    }

    def handle(path: str) -> Response:
        operation, read, write = messages[path]
        peer = (request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"])
        try:
            reply = dispatcher.answer(operation, read(request.get_data(cache=False)), peer)
        except (KeyError, ValueError) as error:
            return Response(f"{type(error).__name__}: {error}", 400, mimetype="text/plain")
        return Response(write(reply), mimetype=CODEC.media_type)

    for path in messages:
        app.add_url_rule(f"/{path}", endpoint=path, view_func=handle, methods=["POST"], defaults={"path": path})
    return app
