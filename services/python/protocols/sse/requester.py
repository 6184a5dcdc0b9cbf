"""Subscribes with aiohttp's HTTP client, and reads the body as it comes."""

from __future__ import annotations

import socket

import aiohttp

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Event, Reply, Request
from services.python.load.handshake import tls_failure
from services.python.protocols.sse import stream
from services.python.transports.http.route import GONE, authority, shown

_KEEP_ALIVE_S = 3600.0
_SHOWN_BYTES = 1024

Exchange = tuple[Event, int, int]
"""What `call` returns: the one event of the reply, and the bytes of query and event."""


class SseDialer:
    """Opens sessions on the running event loop; the TCP connection comes with the first subscription."""

    def __init__(self, call: CallSpec) -> None:
        self._call = call

    async def dial(self) -> SseConnection:
        """A session of its own."""
        return SseConnection(self._call)


class SseConnection:
    """One session on one kept connection, with one subscription at a time."""

    body: None = None  # events are not kept as they came

    def __init__(self, call: CallSpec) -> None:
        self._url = f"{call.http}://{authority(call.host, call.port)}/{call.operation}"
        self._response: aiohttp.ClientResponse | None = None
        self._opened = False
        self._reader = stream.Reader()
        within_s = None if call.kind == "stream" else call.timeout_s
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=1,
                keepalive_timeout=_KEEP_ALIVE_S,
                use_dns_cache=False,
                socket_factory=self._open_once,
                ssl=True if call.tls is None else call.tls.context,
            ),
            headers={"Accept": stream.MEDIA_TYPE, "Accept-Encoding": "identity", "User-Agent": "orch"},
            timeout=aiohttp.ClientTimeout(total=within_s, sock_connect=call.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,  # nobody asked for it: a few bytes may stand for any number
        )

    def _open_once(self, address: aiohttp.AddrInfoType) -> socket.socket:
        """The socket; OSError for a second one: aiohttp asks again on a new connection where the kept one is gone."""
        if self._opened:
            raise OSError(GONE)
        self._opened = True
        family, kind, protocol, _, _ = address
        return socket.socket(family, kind, protocol)

    async def call(self, request: Request) -> Exchange:
        """A body of a single event: who answers."""
        sent = await self.subscribe(request)
        first = await self.next_event()
        if first is None or await self.next_event() is not None:
            raise CallFailed("undecodable", "not a body of one event")
        return first[0], sent, first[1]

    def value(self, reply: Exchange) -> Reply:
        """The event's fields."""
        return reply[0]

    def sizes(self, request: Request, reply: Exchange) -> tuple[int, int]:  # noqa: ARG002 - counted when it was sent
        """Bytes of the query and of the event."""
        return reply[1], reply[2]

    async def subscribe(self, request: Request) -> int:
        """Send a GET, and await the head of the reply."""
        query = stream.query_of(request)
        url = f"{self._url}?{query}" if query else self._url
        again = self._opened
        try:
            response = await self._session.get(url, allow_redirects=False)
            if response.status != 200:
                said = await response.content.read(_SHOWN_BYTES)  # of a body that may have no end
                response.close()
                raise CallFailed("protocol", f"HTTP {response.status}: {shown(said)}")
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error, again=again) from error
        self._response, self._reader = response, stream.Reader()
        return len(query)

    async def next_event(self) -> tuple[Event, int] | None:
        """The next event of the body."""
        assert self._response is not None  # noqa: S101 - `subscribe` came before
        reader, content = self._reader, self._response.content
        while (event := reader.next()) is None:
            try:
                data = await content.readany()
            except (aiohttp.ClientError, OSError) as error:
                raise _failure(error) from error
            if not data:
                if reader.is_within:
                    raise CallFailed("undecodable", "the body ends within an event")
                return None
            reader.feed(data)
        return event

    async def close(self) -> None:
        """End the session and its connection."""
        if self._response is not None:
            self._response.close()
        await self._session.close()


def _failure(error: Exception, *, again: bool = False) -> CallFailed:
    """`again`: on a connection that had been opened, so that another one was wanted where none could be had."""
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", str(error) or "nothing came in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return CallFailed("closed", GONE) if again else tls_failure(error) or CallFailed("refused", str(error))
    if isinstance(error, aiohttp.ClientResponseError):
        return CallFailed("undecodable", error.message)
    return CallFailed("closed", str(error) or type(error).__name__)


def dialer(call: CallSpec, client: Client) -> SseDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited subscriptions."""
    return SseDialer(call)
