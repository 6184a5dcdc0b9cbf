"""A responder of `tcp`, `http+json` and `rest`, of the standard library. `python -m tests.conformance.reference.respond`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any, NoReturn

from tests.conformance.reference.contract import VERSION, read_line, with_defaults
from tests.conformance.reference.server import Server
from tests.conformance.reference.wire import WIRES, Wire

IMPLEMENTATION = "reference"


class Refused(Exception):
    """The responder cannot start; the message says why."""


class Responder:
    """One process. What a broken one does otherwise is a method of its own."""

    server: Server

    def run(self) -> NoReturn:
        try:
            serve = with_defaults("serve", self.read(sys.stdin.readline()))
            self.server = self.listen(serve)
        except (ValueError, Refused, OSError) as error:
            self.refuse(error)
        self.await_signals()
        self.announce()
        for line in map(str.strip, sys.stdin):
            self.obey(line)
        self.stdin_closed()

    def read(self, text: str) -> dict[str, Any]:
        return read_line("serve", text)

    def refuse(self, error: Exception) -> NoReturn:
        sys.stderr.write(f"cannot start: {error}\n".replace("\n", " ").strip() + "\n")
        leave(1)

    def listen(self, serve: dict[str, Any]) -> Server:
        if serve["protocol"] not in WIRES:
            raise Refused(f"the protocol {serve['protocol']!r} is not known")
        if serve["implementation"] not in (None, IMPLEMENTATION):
            raise Refused(f"the implementation {serve['implementation']!r} is not known")
        for key in ("knobs", "schema", "resources", "tls"):
            if serve.get(key):
                raise Refused(f"{key} are not supported")
        carried = {name.partition("/")[0] for name in WIRES[serve["protocol"]].messages}
        if unknown := [name for name in serve.get("operations", ()) if name not in carried]:
            raise Refused(f"the operation {unknown[0]!r} is not known")
        return self.open(WIRES[serve["protocol"]], serve).start()

    def open(self, wire: Wire, serve: dict[str, Any]) -> Server:
        return Server(wire, serve["identity"], host=serve["host"], port=serve["port"])

    def await_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: leave(0))

    def ready(self) -> dict[str, Any]:
        return {
            "type": "ready",
            "contract": VERSION,
            "port": self.server.port,
            "implementation": IMPLEMENTATION,
            "identity": self.server.identity,
            "versions": {},
        }

    def announce(self) -> None:
        self.print_line(self.ready())

    def stats(self) -> dict[str, Any]:
        return {
            "type": "stats",
            "answered": self.server.answered,
            "peers": len(self.server.peers),
            "cpu_s": time.process_time(),
            "host": None,
        }

    def obey(self, line: str) -> None:
        if line == "stats":
            self.print_line(self.stats())
        elif line:
            sys.stderr.write(f"unknown line on stdin: {line[:80]!r}\n")

    def stdin_closed(self) -> NoReturn:
        leave(0)

    def print_line(self, line: dict[str, Any]) -> None:
        print_line(line)


_PRINTING = threading.Lock()


def print_line(line: dict[str, Any]) -> None:
    with _PRINTING:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def leave(status: int) -> NoReturn:
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    Responder().run()
