"""Keeps aiohttp with the address of a trial: it follows redirects where it opens WebSockets, and cannot be told not to."""

from __future__ import annotations

from typing import Any

import aiohttp

from services.python.load.tls import ClientTls


class OneAddress(aiohttp.TCPConnector):
    """Connects to one host and port. ClientConnectionError for any other: a reply has named it."""

    def __init__(self, host: str, port: int, tls: ClientTls | None) -> None:
        super().__init__(ssl=True if tls is None else tls.context)
        self._only = (host, port)

    async def connect(self, req: aiohttp.ClientRequest, *rest: Any, **named: Any) -> Any:
        if (req.url.host, req.url.port) != self._only:
            raise aiohttp.ClientConnectionError(f"a redirect to {req.url.host}:{req.url.port} is not followed")
        return await super().connect(req, *rest, **named)
