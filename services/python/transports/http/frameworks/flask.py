"""Flask with views that take and give raw bodies."""

from __future__ import annotations

from flask import Flask, Response, request

from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.paths import Paths, refusal


def application(dispatcher: Dispatcher, paths: Paths) -> Flask:
    """The Flask application; it is called from many threads."""
    app = Flask(__name__)

    def view(name: str) -> Response:
        path, peer = paths[name], (request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"])
        try:
            reply = dispatcher.answer(
                path.operation, path.read(request.get_data(cache=False), request.query_string), peer
            )
        except path.errors as error:
            return Response(refusal(error), 400, mimetype="text/plain")
        return Response(path.write(reply), mimetype=path.media_type)

    for name in paths:
        app.add_url_rule(name, endpoint=name, view_func=view, methods=["POST"], defaults={"name": name})
    return app
