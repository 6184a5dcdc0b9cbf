"""Servers whose bodies are compressed both ways: around an ASGI application, which sees plain bodies.

Every request's body is one gzip member or zstd frame (Content-Encoding says which), and so is every reply's, an error's too.
A request that is not gets a 415: a responder that was told to compress answers nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from services.python.codecs.coding import Coding

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_REFUSED = b"this responder was started with compression: %b, and the body is not compressed so"
_ABOUT_THE_BODY = (b"content-encoding", b"content-length")


class CompressedAsgi:
    """An ASGI application behind one coding."""

    def __init__(self, app: Any, coding: Coding) -> None:
        self._app = app
        self._coding = coding
        self._name = coding.name.encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            if dict(scope["headers"]).get(b"content-encoding") != self._name:
                raise ValueError("another Content-Encoding")
            body = self._coding.unpack(await _whole(receive))
        except ValueError:
            start: Message = {"type": "http.response.start", "status": 415, "headers": []}
            await _reply(send, start, _REFUSED % self._name, self._coding)
            return
        fields = [field for field in scope["headers"] if field[0] not in _ABOUT_THE_BODY]
        fields.append((b"content-length", b"%d" % len(body)))
        is_given = False
        start = {}
        parts: list[bytes] = []

        async def plain() -> Message:
            nonlocal is_given
            if is_given:
                return await receive()
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def compress(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            parts.append(message.get("body", b""))
            if not message.get("more_body", False):
                await _reply(send, start, b"".join(parts), self._coding)

        await self._app({**scope, "headers": fields}, plain, compress)


async def _whole(receive: Receive) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


async def _reply(send: Send, start: Message, plain: bytes, coding: Coding) -> None:
    body = coding.pack(plain)
    fields = [field for field in start["headers"] if field[0].lower() not in _ABOUT_THE_BODY]
    fields += [(b"content-encoding", coding.name.encode()), (b"content-length", b"%d" % len(body))]
    await send({**start, "headers": fields})
    await send({"type": "http.response.body", "body": body})
