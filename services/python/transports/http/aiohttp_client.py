"""aiohttp: the thin awaiting client, on uvloop."""

from __future__ import annotations

import socket

import aiohttp

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import tls_failure
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route, authority

_KEEP_ALIVE_S = 3600.0
_READ_BUFFER_BYTES = 512 * 1024


class AsyncConnection(HttpConnection):
    """One ClientSession, on one socket, which the first call opens; a second one is never opened."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route)
        self._encode = route.encode
        self._read = route.reader()
        self._has_type = bool(route.reply_type)
        self._url = f"{call.http}://{authority(call.host, call.port)}{route.path}"
        self._opened = False
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=1,
                keepalive_timeout=_KEEP_ALIVE_S,
                use_dns_cache=False,
                socket_factory=self._open_once,
                ssl=True if call.tls is None else call.tls.context,
            ),
            headers=route.fields(),
            timeout=aiohttp.ClientTimeout(total=call.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=_READ_BUFFER_BYTES,
            trust_env=False,
            auto_decompress=False,  # a body that was compressed unasked stays what it is on the wire
        )

    def _open_once(self, address: aiohttp.AddrInfoType) -> socket.socket:
        if self._opened:
            raise OSError(GONE)
        self._opened = True
        family, kind, protocol, _, _ = address
        return socket.socket(family, kind, protocol)

    async def call(self, request: Request) -> HttpReply:
        """See `load.client.AsyncConnection.call`."""
        body = self._encode(request)
        again = self._opened
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                self.body = reply = await response.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _failure(error, again=again) from error
        if self._has_type:
            self._route.require_type(response.status, response.headers.get("Content-Type"))
        return self._read(response.status, reply), len(body), len(reply)

    async def close(self) -> None:
        """See `load.client.AsyncConnection.close`."""
        await self._session.close()


def _failure(error: Exception, *, again: bool) -> CallFailed:
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", "no whole reply in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return CallFailed("closed", GONE) if again else tls_failure(error) or CallFailed("refused", str(error))
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed("undecodable", error.message)
    return CallFailed("closed", str(error) or type(error).__name__)
