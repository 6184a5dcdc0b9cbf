"""Routes of FastAPI for messages that are one JSON object each way, held against pydantic models."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, HTTPException, Request

from services.python.codecs.json import as_bytes, as_text, bytes_of
from services.python.contract.messages import Message
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.asgi import peer_of
from services.python.transports.http.models import models_of


def add_object_route(app: FastAPI, dispatcher: Dispatcher, operation: str, message: Message) -> None:
    """Answer an operation at the path of its name; bytes are base64."""
    asked, answered = models_of(message)
    bytes_asked, bytes_answered = bytes_of(message.request), bytes_of(message.reply)

    async def handle(fields: Any, request: Request) -> Any:
        values = fields.model_dump()
        try:
            if bytes_asked:
                values = as_bytes(values, bytes_asked)
            reply = dispatcher.answer_async(operation, values, peer_of(request.scope))
            if not isinstance(reply, dict):
                reply = await reply
        except ValueError as error:
            raise HTTPException(400, str(error)) from error
        return answered(**(as_text(reply, bytes_answered) if bytes_answered else reply))

    handle.__annotations__ = {"fields": asked, "request": Request, "return": answered}
    app.post(f"/{operation}")(handle)
