"""The protocols of `bodies` answered by Flask, without models."""

from __future__ import annotations

from flask import Flask, Response, request

from services.python.codecs.base import Codec
from services.python.serve.dispatcher import Dispatcher


def application(dispatcher: Dispatcher, codec: Codec) -> Flask:
    """The Flask application; it is asked from many threads."""
    app = Flask(__name__)
    messages = {
        path: (operation, codec.request(message).read, codec.reply(message).write)
        for path, (operation, message) in codec.carried().items()
    }

    def handle(path: str) -> Response:
        operation, read, write = messages[path]
        peer = (request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"])
        try:
            reply = dispatcher.answer(operation, read(request.get_data(cache=False)), peer)
        except (KeyError, ValueError) as error:
            return Response(f"{type(error).__name__}: {error}", 400, mimetype="text/plain")
        return Response(write(reply), mimetype=codec.media_type)

    for path in messages:
        app.add_url_rule(f"/{path}", endpoint=path, view_func=handle, methods=["POST"], defaults={"path": path})
    return app
