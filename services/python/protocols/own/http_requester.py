"""Calls somebody's own service by HTTP, GraphQL included, with the clients that all HTTP protocols share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar
from urllib.parse import urljoin, urlsplit

from services.python.codecs import coding
from services.python.contract.offers import Client
from services.python.contract.strict import part
from services.python.load.client import (
    AsyncConnection,
    AsyncDialer,
    CallFailed,
    CallSpec,
    Connection,
    Counting,
    Dialer,
    Dialing,
    Request,
)
from services.python.operations.call import GRAPHQL, OFFER
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import PLAIN, HttpReply, Route, authority, shown

_LEAST_SUCCESS, _MOST_SUCCESS = 200, 299
_REDIRECTS = (301, 302, 303, 307, 308)
_BECOME_GET = (301, 302, 303)  # a POST does, as clients do it (RFC 9110, 15.4)
_MOST_REDIRECTS = 10
_NO_BODY = ("content-type", "content-length")

Wrapped = TypeVar("Wrapped", Connection, AsyncConnection)


@part
class _AsItCame(Route):
    """The route of all calls: what a reply is worth depends on its request, so it stays status and body here."""

    def fields(self) -> dict[str, str]:
        return {}

    def read(self, status: int, body: bytes) -> Any:
        return status, body


class _Own(Counting, Generic[Wrapped]):
    """A client's connection whose replies are read as their calls say, within the timed call.

    A reply is its status, its body, the JSON document that is read from it where the call wants that, how many redirects
    led to it, and whether it was compressed.
    """

    def __init__(self, connection: Wrapped, origin: str) -> None:
        self._connection: Any = connection
        self._origin = origin
        self._is_as_it_came = True
        self.has_unasked = getattr(connection, "has_unasked", None)
        self.shared: int | None = getattr(connection, "shared", None)
        self._unpacked: dict[str, Callable[[bytes], bytes]] = {}

    @property
    def is_over(self) -> bool:
        return bool(self._connection.is_over)

    @property
    def body(self) -> bytes | None:
        """See `load.client.Readable.body`; none where redirects or compression are still to be counted."""
        return self._connection.body if self._is_as_it_came else None

    def _onward(self, request: Request, status: int, redirects: int) -> Request | None:
        """The request that a redirect leads to; None for every other reply, and where it is not to be followed."""
        if status not in _REDIRECTS or request["call"].get("redirects") != "follow":
            return None
        if redirects == _MOST_REDIRECTS:
            raise CallFailed("protocol", f"more than {_MOST_REDIRECTS} redirects, the last from {request['path']}")
        place = urljoin(self._origin + request["path"], self._connection.field("location") or "")
        parts = urlsplit(place)
        if f"{parts.scheme}://{parts.netloc}" != self._origin:
            raise CallFailed("protocol", f"a redirect to another server is not followed: {place}")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if status == _BECOME_GET[-1] or (request["method"] == "POST" and status in _BECOME_GET):
            headers = {name: text for name, text in request["headers"].items() if name not in _NO_BODY}
            return {**request, "path": path, "method": "GET", "body": b"", "headers": headers}
        return {**request, "path": path}

    def _read(self, request: Request, status: int, body: bytes, redirects: int) -> dict[str, Any]:
        call, connection, coded = request["call"], self._connection, None
        if request["headers"][OFFER] != "identity":
            coded = connection.field("content-encoding")
            coded = None if coded in PLAIN else coded
            body = body if coded is None or connection.unpacks else self._plain(coded, body)
        reply = {"status": status, "body": body}
        if redirects or coded:
            reply |= {"redirects": redirects, "coding": coded}
        self._is_as_it_came = len(reply) == 2
        wanted = call["expect"].get("status")
        if status not in wanted if wanted else not _LEAST_SUCCESS <= status <= _MOST_SUCCESS:
            raise self._failed(status, body)
        if not call["decode"] or not body:
            return reply
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise CallFailed("undecodable", f"{error} in {shown(body)}") from error
        if call["kind"] == GRAPHQL and isinstance(document, dict) and document.get("errors"):
            raise CallFailed("protocol", f"GraphQL errors: {json.dumps(document['errors'])[:200]}")
        reply["document"] = document
        return reply

    def _failed(self, status: int, body: bytes) -> CallFailed:
        if status not in _REDIRECTS:
            return CallFailed("protocol", f"HTTP {status}: {shown(body)}")
        place = self._connection.field("location")
        return CallFailed("protocol", f"HTTP {status}, a redirect to {place}: `redirects: follow` follows it")

    def _plain(self, name: str, body: bytes) -> bytes:
        try:
            unpack = self._unpacked.get(name) or self._unpacked.setdefault(name, coding.named(name).unpack)
            return unpack(body)
        except ValueError as error:
            raise CallFailed("undecodable", f"Content-Encoding {name}: {error}") from error


class _Blocking(_Own[Connection]):
    def call(self, request: Request) -> HttpReply:
        (status, body), sent, received = self._connection.call(request)
        redirects = 0
        while status in _REDIRECTS and (onward := self._onward(request, status, redirects)) is not None:
            request, redirects = onward, redirects + 1
            (status, body), more_sent, more_received = self._connection.call(request)
            sent, received = sent + more_sent, received + more_received
        return self._read(request, status, body, redirects), sent, received

    def close(self) -> None:
        self._connection.close()


class _Awaiting(_Own[AsyncConnection]):
    async def call(self, request: Request) -> HttpReply:
        (status, body), sent, received = await self._connection.call(request)
        redirects = 0
        while status in _REDIRECTS and (onward := self._onward(request, status, redirects)) is not None:
            request, redirects = onward, redirects + 1
            (status, body), more_sent, more_received = await self._connection.call(request)
            sent, received = sent + more_sent, received + more_received
        return self._read(request, status, body, redirects), sent, received

    async def close(self) -> None:
        await self._connection.close()


@dataclass(frozen=True)
class _AwaitingDialer:
    dialer: Any
    origin: str

    async def dial(self) -> AsyncConnection:
        return _Awaiting(await self.dialer.dial(), self.origin)


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    example = call.example
    route = _AsItCame(
        path=example["path"],
        content_type="",
        encode=itemgetter("body"),
        decode=bytes,
        method=example["method"],
        varies=itemgetter("method", "path", "headers"),
        unpacks=example["unpacks"],
    )
    origin = f"{call.http}://{authority(call.host, call.port)}"
    dialer: Any = dial_with(client, route, call)
    if client.style == "sync":
        return Dialing(lambda: _Blocking(dialer.dial(), origin))
    return _AwaitingDialer(dialer, origin)
