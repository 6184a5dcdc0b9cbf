"""httpx, blocking and awaiting."""

from __future__ import annotations

import ssl
from functools import partial
from typing import Any

import httpx

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import no_connection, tls_failure
from services.python.transports.http import version
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route, ends_connection

# httpx makes a TLS context for every client, needed or not, and reads the system's certificates for it: 20 ms that
# have nothing to do with opening a connection. Where ours is plain HTTP, this one holds none, and serves all.
_UNUSED_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

# httpx has one class for a peer that left and a peer that talks nonsense; the first it puts in these words.
_LEFT = ("disconnected", "closed connection")

# What it calls the replies that may come, by the version that is asked for.
_EXPECTED = {version.ONE: (b"HTTP/1.1", b"HTTP/1.0"), version.TWO: (b"HTTP/2",)}


class _HttpxConnection(HttpConnection):
    """What blocking and awaiting have in common.

    httpx opens another socket when a kept one is gone, and has no switch for that; so a reply that came by another
    socket than the first is counted as `closed`. Over HTTP/2 it leaves a connection after a GOAWAY alone.
    """

    unpacks = True
    _client: Any

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._stream: Any = None
        self._version = version.asked(call.knobs)
        self._expected = _EXPECTED[self._version]

    def _asked(self, request: Request) -> dict[str, Any]:
        body = self._encode(request)
        if self._varies is None:
            return {"method": self._method, "url": self._url, "content": body}
        method, path, fields = self._varies(request)
        return {"method": method, "url": self._server + path, "content": body or None, "headers": fields}

    def _finish(self, response: httpx.Response, sent: int) -> HttpReply:
        stream = response.extensions["network_stream"]
        if stream is not self._stream:
            if self._stream is not None and not self.is_over:
                if self._version != version.TWO:
                    raise CallFailed("closed", GONE)
                self.is_over = True
            self._stream = stream
        if (came := response.extensions["http_version"]) not in self._expected:
            raise version.another(self._version, came.decode())
        if self._version == version.TWO:
            self.is_over |= not self._client._transport._pool.connections
        else:
            self.is_over |= ends_connection(came == b"HTTP/1.0", response.headers.get("connection"))
        self._head, body = response.headers, response.content
        # Response and stream hold each other, and the bodies with them: a requester that has switched the garbage
        # collector off would keep every one.
        del response.stream
        received = len(body)
        if (coding := self._route.coding) is not None:
            self._route.require_coding(coding, response.headers.get("content-encoding"))
            received = response.num_bytes_downloaded
        else:
            received = response.num_bytes_downloaded if self._route.unpacks else received
            self.body = body
        if self._has_type:
            self._route.require_type(response.status_code, response.headers.get("content-type"))
        return self._read(response.status_code, body), sent, received


class Connection(_HttpxConnection):
    """One httpx.Client, on one socket, which the first call opens."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._client = httpx.Client(**_options(route, call, partial(_look, route)))

    def call(self, request: Request) -> HttpReply:
        options = self._asked(request)
        try:
            response = self._client.request(**options)
        except (httpx.TransportError, ssl.SSLError) as error:
            raise _failure(error) from error
        return self._finish(response, len(options["content"] or b""))

    def close(self) -> None:
        self._client.close()


class AsyncConnection(_HttpxConnection):
    """One httpx.AsyncClient, on one socket, which the first call opens."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._client = httpx.AsyncClient(**_options(route, call, partial(_look_awaited, route)))

    async def call(self, request: Request) -> HttpReply:
        options = self._asked(request)
        try:
            response = await self._client.request(**options)
        except (httpx.TransportError, ssl.SSLError) as error:
            raise _failure(error) from error
        return self._finish(response, len(options["content"] or b""))

    async def close(self) -> None:
        await self._client.aclose()


def _look(route: Route, response: httpx.Response) -> None:
    route.require_plain(response.headers.get("content-encoding"))


async def _look_awaited(route: Route, response: httpx.Response) -> None:
    _look(route, response)


def _options(route: Route, call: CallSpec, hook: Any) -> dict[str, Any]:
    """`hook` looks at a reply's head, before httpx reads and unpacks its body."""
    return {
        "headers": route.fields(),
        "timeout": call.timeout_s,
        "limits": httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None),
        "trust_env": False,
        "http1": version.asked(call.knobs) == version.ONE,
        "http2": version.asked(call.knobs) == version.TWO,
        "verify": _UNUSED_TLS if call.tls is None else call.tls.context,
        "event_hooks": {"response": [hook]},
    }


def _failure(error: httpx.TransportError | ssl.SSLError) -> CallFailed:
    words = str(error) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return CallFailed("timeout", words)
    if isinstance(error, httpx.ConnectError | ssl.SSLError):
        return tls_failure(error) or no_connection(error)
    if isinstance(error, httpx.RemoteProtocolError) and not any(left in words for left in _LEFT):
        return CallFailed("undecodable", words)
    return CallFailed("closed", words)
