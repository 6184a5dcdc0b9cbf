"""Subscribes with aiohttp's WebSocket client, which knows nothing of GraphQL: messages are written and read here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import aiohttp

from services.python.codecs.base import expect_mapping
from services.python.codecs.json import json_text
from services.python.contract.messages import Field, camel
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Counted, Counting, Event, Request
from services.python.operations import message_named
from services.python.transports.http import aiohttp_websocket
from services.python.transports.http.route import authority

SUBPROTOCOL = "graphql-transport-ws"
INIT = '{"type":"connection_init"}'
PONG = '{"type":"pong"}'
PING = "ping"
ID = "1"  # of every operation: there is one at a time on a connection

_TYPES: Mapping[Field, str] = {"long": "Long", "integer": "Int"}

_SHOWN = 300


def text_of(operation: str) -> str:
    """The text of the operation: a query for who answers, else a subscription, its fields named as in `operations.avsc`."""
    if operation == "identity":
        return "query Identity { identity }"
    message, field = message_named(operation), camel(operation)
    variables = ", ".join(f"${name}: {_TYPES[kind]}!" for name, kind in message.request.items())
    arguments = ", ".join(f"{camel(name)}: ${name}" for name in message.request)
    fields = " ".join(name if camel(name) == name else f"{name}: {camel(name)}" for name in message.reply)
    return f"subscription {field[0].upper()}{field[1:]}({variables}) {{ {field}({arguments}) {{ {fields} }} }}"


def subscribe(text: str, request: Request) -> str:
    """The frame that asks; ValueError, TypeError or RecursionError where JSON cannot carry the request."""
    payload: dict[str, Any] = {"query": text}
    if request:
        payload["variables"] = dict(request)
    return json_text({"id": ID, "type": "subscribe", "payload": payload})


def read(frame: str) -> Mapping[str, Any]:
    """A message; CallFailed `undecodable` for what is none, or is of another operation."""
    try:
        message = expect_mapping(json.loads(frame))
    except (ValueError, RecursionError) as error:
        raise CallFailed("undecodable", f"{error} in {frame[:_SHOWN]!r}") from error
    if "id" in message and message["id"] != ID:
        raise CallFailed("undecodable", f"a message of an operation that was not asked for: {frame[:_SHOWN]!r}")
    return message


def result(message: Mapping[str, Any], field: str) -> Any:
    """What a message of an operation carries; None for the one that ends it. CallFailed for an error."""
    kind = message.get("type")
    if kind == "complete":
        return None
    payload = message.get("payload")
    if kind == "error":
        raise CallFailed("protocol", f"GraphQL errors: {json.dumps(payload)[:_SHOWN]}")
    if kind != "next" or not isinstance(payload, dict):
        raise CallFailed("undecodable", f"no message of an operation: {json.dumps(message)[:_SHOWN]}")
    if payload.get("errors"):
        raise CallFailed("protocol", f"GraphQL errors: {json.dumps(payload['errors'])[:_SHOWN]}")
    data = payload.get("data")
    if not isinstance(data, dict) or data.get(field) is None:
        raise CallFailed("undecodable", f"a result without {field}: {json.dumps(message)[:_SHOWN]}")
    return data[field]


class SubscriptionDialer:
    """Opens upgraded connections on the running event loop."""

    def __init__(self, call: CallSpec) -> None:
        self._call = call
        scheme = "ws" if call.tls is None else "wss"
        self._url = f"{scheme}://{authority(call.host, call.port)}/graphql"
        self._text = text_of(call.operation)
        try:
            subscribe(self._text, call.example)
        except (ValueError, TypeError, RecursionError) as error:
            raise CallFailed("protocol", f"{call.operation} cannot be encoded as JSON: {error}") from error

    async def dial(self) -> SubscriptionConnection:
        """Connect, upgrade, and be acknowledged; CallFailed when any of them is refused."""
        session, opened = await aiohttp_websocket.opened(self._call, self._url, subprotocols=(SUBPROTOCOL,))
        connection = SubscriptionConnection(session, opened, self._text, self._call)
        try:
            async with asyncio.timeout(self._call.timeout_s):
                await connection.begin()
        except TimeoutError as error:
            await connection.close()
            raise CallFailed("timeout", f"no connection_ack within {self._call.timeout_s:g} s") from error
        except CallFailed:
            await connection.close()
            raise
        return connection


class SubscriptionConnection(Counting):
    """One upgraded connection, with one operation at a time."""

    body: None = None  # messages are not kept as they came

    def __init__(
        self, session: aiohttp.ClientSession, opened: aiohttp.ClientWebSocketResponse, text: str, call: CallSpec
    ) -> None:
        self._session, self._socket = session, opened
        self._text, self._field = text, camel(call.operation)
        self._timeout_s = call.timeout_s

    async def begin(self) -> None:
        if self._socket.protocol != SUBPROTOCOL:
            raise CallFailed("protocol", f"the responder does not speak {SUBPROTOCOL}")
        await self._send(INIT)
        message = read(await self._receive())
        if message.get("type") != "connection_ack":
            raise CallFailed("protocol", f"no connection_ack, but {message!r:.200}")

    async def call(self, request: Request) -> Counted:
        """An operation of a single result: who answers."""
        try:
            async with asyncio.timeout(self._timeout_s):
                sent = await self.subscribe(request)
                first = await self._next()
                if first is None or await self._next() is not None:
                    raise CallFailed("undecodable", "not an operation of one result")
        except TimeoutError as error:
            raise CallFailed("timeout", f"no reply within {self._timeout_s:g} s") from error
        return {self._field: first[0]}, sent, first[1]

    async def subscribe(self, request: Request) -> int:
        """Send the text with the request as its variables; the events are read by `next_event`."""
        frame = subscribe(self._text, request)
        await self._send(frame)
        return len(frame.encode())

    async def next_event(self) -> tuple[Event, int] | None:
        event = await self._next()
        if event is not None and not isinstance(event[0], dict):
            raise CallFailed("undecodable", f"an event of {event[0]!r:.200}, not of named fields")
        return event

    async def close(self) -> None:
        await aiohttp_websocket.close(self._session, self._socket)

    async def _next(self) -> tuple[Any, int] | None:
        while True:
            frame = await self._receive()
            message = read(frame)
            if message.get("type") == PING:
                await self._send(PONG)
                continue
            value = result(message, self._field)
            return None if value is None else (value, len(frame) if frame.isascii() else len(frame.encode()))

    async def _send(self, frame: str) -> None:
        try:
            await self._socket.send_str(frame)
        except (aiohttp.ClientError, OSError) as error:
            raise aiohttp_websocket.failure(error) from error

    async def _receive(self) -> str:
        try:
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            raise aiohttp_websocket.failure(error) from error
        if message.type is aiohttp.WSMsgType.BINARY:
            raise CallFailed("undecodable", "a binary frame, where messages are text")
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise aiohttp_websocket.ended(message)
        text: str = message.data
        return text


def dialer(call: CallSpec, client: Client) -> SubscriptionDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited subscriptions; CallFailed when JSON cannot carry the example request."""
    return SubscriptionDialer(call)
