"""Asks with python-socketio's blocking client, which reads and writes in threads of its own."""

from __future__ import annotations

import socket
import threading
from typing import Any

import socketio
from socketio.exceptions import SocketIOError

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Request
from services.python.protocols.socketio import events
from services.python.protocols.socketio.packets import Traffic
from services.python.transports.http.route import authority

_WEBSOCKET_OPTIONS = {
    "sockopt": ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
    "skip_utf8_validation": True,
    "redirect_limit": 0,
    "http_no_proxy": ["*"],
}


class SocketIoSyncDialer:
    """Opens Socket.IO sessions."""

    def __init__(self, call: CallSpec, speech: events.Speech) -> None:
        self._call = call
        self._speech = speech

    def dial(self) -> SocketIoSyncConnection:
        traffic = Traffic()
        client = socketio.Client(
            reconnection=False,
            handle_sigint=False,
            serializer=traffic.packet_class(),
            request_timeout=self._call.timeout_s,
            websocket_extra_options=_WEBSOCKET_OPTIONS,
        )
        connection = SocketIoSyncConnection(client, traffic, self._call, self._speech)
        try:
            client.connect(
                f"{self._call.http}://{authority(self._call.host, self._call.port)}",
                headers=dict(self._speech.headers),
                socketio_path=self._speech.path,
                transports=["websocket"],
                wait_timeout=self._call.timeout_s,
            )
        except (SocketIOError, OSError, ValueError) as error:
            connection.close()
            raise events.connection_failure(error) from error
        return connection


class SocketIoSyncConnection(events.ConnectionBase):
    """One Socket.IO session."""

    def __init__(self, client: Any, traffic: Traffic, call: CallSpec, speech: events.Speech) -> None:
        self._client = client
        self._emits, self._read = speech.emits, speech.read
        self._traffic = traffic
        self._timeout_s = call.timeout_s
        self._done = threading.Event()
        self._arguments: tuple[Any, ...] | None = None
        client.on("disconnect", self._disconnected)

    def call(self, request: Request) -> events.Exchange:
        """Emit an event, await its acknowledgement.

        What `Client.call` does, save that it would go on waiting after the connection has ended.
        """
        self._arguments = None
        self._done.clear()
        try:
            self._client.emit(*self._emits(request), callback=self._acknowledged)
        except SocketIOError as error:
            raise CallFailed("closed", str(error)) from error
        if not self._done.wait(self._timeout_s):
            raise CallFailed("timeout", f"no acknowledgement within {self._timeout_s} s")
        if self._arguments is None:
            raise CallFailed("closed", "the connection ended before the acknowledgement")
        return self._read(self._arguments), self._traffic.sent, self._traffic.received

    def _acknowledged(self, *arguments: Any) -> None:
        self._arguments = arguments
        self._done.set()

    def _disconnected(self, _reason: str) -> None:
        self._done.set()

    def close(self) -> None:
        self._client.disconnect()


def dialer(call: CallSpec, client: Client) -> SocketIoSyncDialer:  # noqa: ARG001 - this module has one client
    """Opens sessions for blocking calls; CallFailed when JSON cannot carry the example request."""
    return SocketIoSyncDialer(call, events.speech_of(call))
