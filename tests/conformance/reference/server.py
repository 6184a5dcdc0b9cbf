"""Answers on a socket as it is scripted, and remembers what came: the other end of a requester that is tested."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.reference.operations import answer
from tests.conformance.reference.wire import Came, Ended, Tcp, Undecodable, Wire


@dataclass(frozen=True)
class Asked:
    """One request that came: on which connection (from 0), its message, its raw body, and when (monotonic)."""

    connection: int
    name: str
    fields: dict[str, Any]
    body: bytes
    came_ns: int
    in_flight: int  # with it, of all connections, identity left out


@dataclass(frozen=True)
class Reply:
    """A reply with these fields, so many seconds later."""

    fields: dict[str, Any]
    after_s: float = 0


@dataclass(frozen=True)
class Error:
    """An error in the protocol's own words."""

    words: str = "on purpose"


@dataclass(frozen=True)
class Garbage:
    """A reply whose body is none."""


@dataclass(frozen=True)
class Close:
    """The connection ends without a reply."""


@dataclass(frozen=True)
class LastReply:
    """A right reply over HTTP that announces the connection's end, and the end."""


@dataclass(frozen=True)
class Silence:
    """Nothing comes back; the connection stays open."""


Action = Reply | Error | Garbage | Close | LastReply | Silence
Script = Callable[[int, Asked], Action | None]
"""What to do with the n-th request (from 1, identity left out); None: answer rightly."""


class Server:
    """Listens as soon as it is made; a thread for each connection. A context manager."""

    def __init__(
        self,
        wire: Wire,
        identity: str = "nonce",
        script: Script = lambda number, asked: None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.wire, self.identity, self.script = wire, identity, script
        self.asked: list[Asked] = []
        self.answered = 0
        self.peers: set[tuple[str, int]] = set()
        self.opened = 0
        self.open_now = 0
        self.most_open = 0
        self.open_when_opened: list[int] = []  # how many stood when each was opened, itself left out
        self._number = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self.listener = socket.create_server((host, port), backlog=1024)
        self.port: int = self.listener.getsockname()[1]

    def start(self) -> Server:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    @property
    def operations(self) -> list[Asked]:
        """What was asked, identity left out."""
        return [asked for asked in self.asked if asked.name != "identity"]

    def _accept(self) -> None:
        while True:
            try:
                connection, peer = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                number = self.opened
                self.opened += 1
                self.open_when_opened.append(self.open_now)
                self.open_now += 1
                self.most_open = max(self.most_open, self.open_now)
            threading.Thread(target=self._serve, args=(connection, peer[:2], number), daemon=True).start()

    def _serve(self, connection: socket.socket, peer: tuple[str, int], number: int) -> None:
        stream = connection.makefile("rb")
        try:
            with contextlib.suppress(OSError, Ended, Undecodable):
                while self._converse(connection, self.wire.read(stream), peer, number):
                    pass
        finally:
            with self._lock:
                self.open_now -= 1
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            stream.close()
            connection.close()

    def _converse(self, connection: socket.socket, came: Came, peer: tuple[str, int], number: int) -> bool:
        came_ns = time.monotonic_ns()
        try:
            fields = self.wire.read_request(came)
            if came.name == "add":
                _expect_whole_numbers(fields)
        except (ValueError, KeyError) as error:
            connection.sendall(self.wire.error(str(error)))
            return True
        counts = came.name != "identity"
        with self._lock:
            self.answered += 1
            self.peers.add(peer)
            self._in_flight += counts
            self._number += counts
            asked = Asked(number, came.name, fields, came.body, came_ns, self._in_flight)
            place = self._number
            self.asked.append(asked)
        return self._act(connection, self.script(place, asked) if counts else None, asked)

    def _act(self, connection: socket.socket, action: Action | None, asked: Asked) -> bool:
        counts = asked.name != "identity"
        if isinstance(action, Reply) and action.after_s:
            time.sleep(action.after_s)
        with self._lock:
            self._in_flight -= counts
        if isinstance(action, Close):
            return False
        if isinstance(action, Silence):
            return True
        connection.sendall(self.reply(action, asked))
        return not isinstance(action, LastReply)

    def reply(self, action: Action | None, asked: Asked) -> bytes:
        """The bytes that go back."""
        if isinstance(action, Error):
            return self.wire.error(action.words)
        if isinstance(action, Garbage):
            return self.wire.frame(77, b"") if isinstance(self.wire, Tcp) else self.wire.reply("", b"{")
        try:
            fields = action.fields if isinstance(action, Reply) and action.fields else self.answer(asked)
        except (ValueError, KeyError) as error:
            return self.wire.error(str(error))
        write = self.wire.last_reply if isinstance(action, LastReply) else self.wire.reply
        return write(asked.name, self.wire.reply_body(asked.name, fields))

    def answer(self, asked: Asked) -> dict[str, Any]:
        """The right reply's fields."""
        return answer(asked.name, asked.fields, self.identity)


def _expect_whole_numbers(fields: dict[str, Any]) -> None:
    for key in ("a", "b"):
        if type(fields[key]) is not int:
            raise Undecodable(f"{key} is no whole number")
