"""REST as a Flask application: the same paths and bodies as FastAPI's, in the way its documentation writes it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, jsonify, request
from flask.typing import ResponseReturnValue
from werkzeug.serving import make_server

from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import ECHO, IMAGE, TRANSFER, Message
from services.python.operations import OPERATIONS
from services.python.protocols.rest import PROTOCOL
from services.python.serve.dispatcher import Dispatcher, Peer
from services.python.serve.responder import Announce, listen, server_context


def application(dispatcher: Dispatcher) -> Flask:
    """The Flask application; it is asked from many threads."""
    app = Flask(__name__)

    @app.post("/identity")
    def identity() -> dict[str, Any]:
        return dispatcher.answer("identity", {}, _peer())

    for operation in OPERATIONS.values():
        if PROTOCOL.carries(operation.message):
            for path, view in _views(dispatcher, operation.name, operation.message).items():
                app.add_url_rule(path, endpoint=path, view_func=view, methods=["POST"])

    @app.errorhandler(KeyError)
    @app.errorhandler(ValueError)
    def unanswerable(error: Exception) -> ResponseReturnValue:
        return {"detail": f"{type(error).__name__}: {error}"}, 400

    return app


def _views(dispatcher: Dispatcher, operation: str, message: Message) -> dict[str, Callable[..., ResponseReturnValue]]:
    """What answers an operation, by its paths."""
    bytes_asked, bytes_answered = bytes_of(message.request), bytes_of(message.reply)

    def echo_data() -> ResponseReturnValue:
        reply = dispatcher.answer(operation, {"data": request.get_data(cache=False)}, _peer())
        return Response(reply["data"], mimetype="application/octet-stream")

    def echo_json(form: str) -> ResponseReturnValue:
        return jsonify(dispatcher.answer(operation, {form: request.get_json()}, _peer())[form])

    def image() -> ResponseReturnValue:
        full_decode = request.args.get("full_decode") == "true"
        picture = {"data": request.get_data(cache=False), "full_decode": full_decode}
        return dispatcher.answer(operation, picture, _peer())

    def transfer() -> ResponseReturnValue:
        sized = {"data": request.get_data(cache=False), "reply_size": int(request.args["reply_size"])}
        reply = dispatcher.answer(operation, sized, _peer())
        return Response(reply["data"], mimetype="application/octet-stream")

    def named_fields() -> ResponseReturnValue:
        fields = _fields()
        reply = dispatcher.answer(operation, as_bytes(fields, bytes_asked) if bytes_asked else fields, _peer())
        return as_text(reply, bytes_answered) if bytes_answered else reply

    if message.name == IMAGE.name:
        return {f"/{operation}": image}
    if message.name == TRANSFER.name:
        return {f"/{operation}": transfer}
    if message.name == ECHO.name:
        return {f"/{operation}/data": echo_data, f"/{operation}/<any(records, document):form>": echo_json}
    return {f"/{operation}": named_fields}


def _fields() -> dict[str, Any]:
    fields = request.get_json()
    if not isinstance(fields, dict):
        raise ValueError("the body has no named fields")
    return fields


def _peer() -> Peer:
    return request.environ["REMOTE_ADDR"], request.environ["REMOTE_PORT"]


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
