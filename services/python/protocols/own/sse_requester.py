"""Reads server-sent events of somebody's own service with aiohttp: a request, and its events to their end or to a number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import aiohttp
from yarl import URL

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialing, CallFailed, CallSpec, Counted, Counting, Request
from services.python.transports.http.aiohttp_client import OneSocket, failure, session_on
from services.python.transports.http.route import authority, ends_connection, shown

_MEDIA_TYPE = "text/event-stream"
_SHOWN_BYTES = 1024
_LINE_END = re.compile(rb"\r\n|\n|\r(?=.)", re.DOTALL)  # a last \r may be half of \r\n


class Events:
    """Splits a body into the data of its events as it comes (WHATWG HTML, 9.2.6); names and numbers are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Yield the data of the events that end in this part. CallFailed `undecodable` for a line without end."""
        *lines, self._rest = _LINE_END.split(self._rest + part)
        if len(self._rest) > MAX_MESSAGE_BYTES:
            raise CallFailed("undecodable", f"an event of more than {MAX_MESSAGE_BYTES:,} bytes")
        for line in lines:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif not line and self._data:
                yield b"\n".join(self._data)
                self._data = []


class Connection(Counting):
    """One session on one kept connection, which a stream that is left before its end takes with it."""

    body: None = None  # events are not kept as they came

    def __init__(self, call: CallSpec) -> None:
        self._server = f"{call.http}://{authority(call.host, call.port)}"
        self._socket = OneSocket()
        self._session = session_on(self._socket, call, {}, timeout=aiohttp.ClientTimeout(total=call.timeout_s))
        self.is_over = False

    async def call(self, request: Request) -> Counted:
        """See `load.client.AsyncConnection.call`; the reply has the events' data, JSON where they are such."""
        again, body, most = self._socket.is_open, request["body"], request["call"]["events"]
        url = URL(self._server + request["path"], encoded=True)
        events, received = list[bytes](), 0
        try:
            async with self._session.request(
                request["method"], url, data=body or None, headers=request["headers"], allow_redirects=False
            ) as response:
                await _require_events(request, response)
                reader = Events()
                async for part in response.content.iter_any():
                    received += len(part)
                    events += reader.feed(part)
                    if most and len(events) >= most:
                        response.close()
                        break
                ended = ends_connection(response.version == aiohttp.HttpVersion10, response.headers.get("Connection"))
                if ended or not response.content.at_eof():
                    self.is_over, self._socket.is_open = True, False
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise failure(error, again=again) from error
        if len(events) < (most or 0):
            raise CallFailed("wrong-reply", f"the stream ended after {len(events):,} of {most:,} events")
        data = events[:most]
        reply = {"status": response.status, "body": b"\n".join(data)}
        if request["call"]["decode"]:
            reply["document"] = [_decoded(each) for each in data]
        return reply, len(body), received

    async def close(self) -> None:
        await self._session.close()


async def _require_events(request: Request, response: aiohttp.ClientResponse) -> None:
    """CallFailed for a reply of another status than is expected, or without events."""
    wanted = request["call"]["expect"].get("status") or range(200, 300)
    if response.status not in wanted:
        beginning = await response.content.read(_SHOWN_BYTES)  # of a body that may have no end
        response.close()
        raise CallFailed("protocol", f"HTTP {response.status}: {shown(beginning)}")
    if response.content_type != _MEDIA_TYPE:
        response.close()
        raise CallFailed("undecodable", f"a reply with Content-Type {response.content_type}, not {_MEDIA_TYPE}")


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode(errors="replace")


def dialer(call: CallSpec, client: Client) -> AsyncDialing:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited calls."""
    return AsyncDialing(partial(Connection, call))
