"""REST as a Flask application: the same paths and bodies as FastAPI's, in the way its documentation writes it."""

from __future__ import annotations

from typing import Any

from flask import Flask, Response, jsonify, request
from flask.typing import ResponseReturnValue

from services.python.serve.dispatcher import Dispatcher, Peer
from services.python.transports.http.wsgi import with_knobs


def application(dispatcher: Dispatcher) -> Flask:
    """The Flask application; it is asked from many threads."""
    app = Flask(__name__)

    @app.post("/identity")
    def identity() -> dict[str, Any]:
        return dispatcher.answer("identity", {}, _peer())

    @app.post("/timestamp")
    def timestamp() -> dict[str, Any]:
        return dispatcher.answer("timestamp", _fields(), _peer())

    @app.post("/add")
    def add() -> dict[str, Any]:
        return dispatcher.answer("add", _fields(), _peer())

    @app.post("/echo/data")
    def echo_data() -> ResponseReturnValue:
        reply = dispatcher.answer("echo", {"data": request.get_data(cache=False)}, _peer())
        return Response(reply["data"], mimetype="application/octet-stream")

    @app.post("/echo/<any(records, document):form>")
    def echo_json(form: str) -> ResponseReturnValue:
        return jsonify(dispatcher.answer("echo", {form: request.get_json()}, _peer())[form])

    @app.post("/image")
    def image() -> dict[str, Any]:
        full_decode = request.args.get("full_decode") == "true"
        return dispatcher.answer("image", {"data": request.get_data(cache=False), "full_decode": full_decode}, _peer())

    @app.errorhandler(KeyError)
    @app.errorhandler(ValueError)
    def unanswerable(error: Exception) -> ResponseReturnValue:
        return {"detail": f"{type(error).__name__}: {error}"}, 400

    return app


def served(dispatcher: Dispatcher) -> Any:
    """The application as a server is given it: behind gzip where that is asked for."""
    return with_knobs(application(dispatcher), dispatcher.knobs)


def _fields() -> dict[str, Any]:
    fields = request.get_json()
    if not isinstance(fields, dict):
        raise ValueError("the body has no named fields")
    return fields


def _peer() -> Peer:
    return request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"]
