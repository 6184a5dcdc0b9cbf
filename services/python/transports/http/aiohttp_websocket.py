"""Connections of aiohttp's WebSocket client, for every protocol whose messages are frames: how they open and end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import aiohttp

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.load.client import CallFailed, CallSpec
from services.python.load.handshake import socket_failure
from services.python.load.tls import ClientTls

_CLOSE_TIMEOUT_S = 1


class OneAddress(aiohttp.TCPConnector):
    """Connects to one host and port. ClientConnectionError for any other: a reply has named it.

    aiohttp follows redirects where it opens WebSockets, and cannot be told not to.
    """

    def __init__(self, host: str, port: int, tls: ClientTls | None) -> None:
        super().__init__(ssl=True if tls is None else tls.context)
        self._only = (host, port)

    async def connect(self, req: aiohttp.ClientRequest, *rest: Any, **named: Any) -> Any:
        if (req.url.host, req.url.port) != self._only:
            raise aiohttp.ClientConnectionError(f"a redirect to {req.url.host}:{req.url.port} is not followed")
        return await super().connect(req, *rest, **named)


async def opened(
    call: CallSpec, url: str, *, subprotocols: Iterable[str] = (), headers: Mapping[str, str] | None = None
) -> tuple[aiohttp.ClientSession, aiohttp.ClientWebSocketResponse]:
    """A session of its own, and its upgraded connection; CallFailed when either is refused."""
    session = aiohttp.ClientSession(
        connector=OneAddress(call.host, call.port, call.tls),
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=call.timeout_s),
    )
    # How far apart a stream's events are is their sender's to say.
    patience_s = None if call.kind == "stream" else call.timeout_s
    try:
        connection = await session.ws_connect(
            url,
            protocols=tuple(subprotocols),
            headers=headers,
            timeout=aiohttp.ClientWSTimeout(ws_receive=patience_s, ws_close=_CLOSE_TIMEOUT_S),
            compress=0,
            max_msg_size=MAX_MESSAGE_BYTES,
        )
    except (aiohttp.ClientError, OSError) as error:
        await session.close()
        raise failure(error) from error
    return session, connection


async def close(session: aiohttp.ClientSession, connection: aiohttp.ClientWebSocketResponse) -> None:
    """Close the connection as RFC 6455 says, and the session that held it."""
    if not session.closed:
        await connection.close()
    await session.close()


def ended(message: aiohttp.WSMessage) -> CallFailed:
    """What a message says that is no frame of data."""
    if message.type is aiohttp.WSMsgType.ERROR:
        return CallFailed("undecodable", str(message.data))
    return CallFailed("closed", f"the connection ended: {message.extra or message.type.name}")


def failure(error: Exception) -> CallFailed:
    """An error of the library, or of its socket, in the record's words."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return CallFailed("protocol", str(error))
    if isinstance(error, aiohttp.ClientConnectionResetError | aiohttp.ServerDisconnectedError):
        return CallFailed("closed", str(error))
    if isinstance(error, OSError):
        return socket_failure(error)
    return CallFailed("undecodable", f"{type(error).__name__}: {error}")
