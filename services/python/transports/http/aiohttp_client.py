"""aiohttp: the thin awaiting client, on uvloop."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import no_connection, tls_failure
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route, ends_connection, family_of

_KEEP_ALIVE_S = 3600.0
_READ_BUFFER_BYTES = 512 * 1024


class OneSocket:
    """Opens a socket once: aiohttp asks again, on a new connection, where the kept one is gone."""

    def __init__(self) -> None:
        self.is_open = False

    def open(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """The socket; OSError for a second one."""
        if self.is_open:
            raise OSError(GONE)
        self.is_open = True
        family, kind, protocol, _, _ = address
        return socket.socket(family, kind, protocol)


def session_on(
    connection: OneSocket, call: CallSpec, headers: Mapping[str, str], **options: Any
) -> aiohttp.ClientSession:
    """A session with one kept connection; a body that was compressed unasked stays what it is on the wire."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=1,
            keepalive_timeout=_KEEP_ALIVE_S,
            use_dns_cache=False,
            socket_factory=connection.open,
            family=family_of(call.host),
            ssl=True if call.tls is None else call.tls.context,
        ),
        headers=headers,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        **options,
    )


def failure(error: Exception, *, again: bool = False) -> CallFailed:
    """What a request ended with; `again`: on a connection that had been opened."""
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", str(error) or "no whole reply in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return CallFailed("closed", GONE) if again else tls_failure(error) or no_connection(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed("undecodable", error.message)
    return CallFailed("closed", str(error) or type(error).__name__)


class AsyncConnection(HttpConnection):
    """One ClientSession, on one socket, which the first call opens; another one is opened after an announced close alone."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._socket = OneSocket()
        timeout = aiohttp.ClientTimeout(total=call.timeout_s)
        self._session = session_on(self._socket, call, route.fields(), timeout=timeout, read_bufsize=_READ_BUFFER_BYTES)

    async def call(self, request: Request) -> HttpReply:
        body = self._encode(request)
        again = self._socket.is_open
        method, fields = self._method, None
        url: str | URL = self._url
        if self._varies is not None:
            method, path, fields = self._varies(request)
            url = URL(self._server + path, encoded=True)
        try:
            async with self._session.request(method, url, data=body, headers=fields, allow_redirects=False) as response:
                self.body = reply = await response.read()
                self._head = response.headers
                if ends_connection(response.version == aiohttp.HttpVersion10, response.headers.get("Connection")):
                    self.is_over, self._socket.is_open = True, False
        except (aiohttp.ClientError, TimeoutError) as error:
            raise failure(error, again=again) from error
        if self._has_type:
            self._route.require_type(response.status, response.headers.get("Content-Type"))
        return self._read(response.status, reply), len(body), len(reply)

    async def close(self) -> None:
        await self._session.close()
