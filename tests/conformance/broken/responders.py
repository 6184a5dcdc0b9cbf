"""Responders that break one promise each: `python -m tests.conformance.broken.responders NAME`."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
import traceback
from typing import Any, NoReturn

from tests.conformance.reference.contract import VERSION
from tests.conformance.reference.respond import Responder, leave
from tests.conformance.reference.server import Asked, Server
from tests.conformance.reference.wire import ERROR, Tcp


class WrongIdentity(Responder):
    def ready(self) -> dict[str, Any]:
        return {**super().ready(), "identity": "somebody else"}


class AnotherIdentityOnTheWire(Responder):
    def open(self, wire: Any, serve: dict[str, Any]) -> Server:
        return super().open(wire, {**serve, "identity": "somebody else"})

    def ready(self) -> dict[str, Any]:
        return {**super().ready(), "identity": self.serve_identity}

    def listen(self, serve: dict[str, Any]) -> Server:
        self.serve_identity = serve["identity"]
        return super().listen(serve)


class ReadyBeforeListening(Responder):
    def announce(self) -> None:
        port = self.server.port
        self.server.listener.shutdown(socket.SHUT_RDWR)
        self.server.listener.close()
        super().announce()
        threading.Thread(target=self.listen_late, args=(port,), daemon=True).start()

    def listen_late(self, port: int) -> None:
        time.sleep(1.5)
        self.server.listener = socket.create_server(("127.0.0.1", port))
        self.server.start()


class AnotherPort(Responder):
    def open(self, wire: Any, serve: dict[str, Any]) -> Server:
        return super().open(wire, {**serve, "port": 0})


class WrongSum(Responder):
    def open(self, wire: Any, serve: dict[str, Any]) -> Server:
        class Wrong(Server):
            def answer(self, asked: Asked) -> dict[str, Any]:
                reply = super().answer(asked)
                return {"sum": reply["sum"] & 0x3FFFFFFF} if "sum" in reply else reply

        return Wrong(wire, serve["identity"], host=serve["host"], port=serve["port"])


class ErrorsAsReplies(Responder):
    def open(self, wire: Any, serve: dict[str, Any]) -> Server:
        class Kind(Tcp):
            def error(self, words: str) -> bytes:
                return self.frame(ERROR - 255, words.encode())

        return super().open(Kind(), serve)


class AnyVersionWillDo(Responder):
    def read(self, text: str) -> dict[str, Any]:
        return super().read(text.replace('"contract": 99', f'"contract": {VERSION}'))


class NoStrictReading(Responder):
    def read(self, text: str) -> dict[str, Any]:
        return super().read(text.replace(', "colour": "red"', ""))


class TextOnStdout(Responder):
    def announce(self) -> None:
        super().announce()
        sys.stdout.write("Serving! Press Ctrl-C to quit\n")
        sys.stdout.flush()


class StaysWhenStdinCloses(Responder):
    def stdin_closed(self) -> NoReturn:
        while True:
            time.sleep(1)


class IgnoresSigterm(Responder):
    def await_signals(self) -> None:
        super().await_signals()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class EndsWithAnotherStatus(Responder):
    def stdin_closed(self) -> NoReturn:
        leave(1)


class CrashesOnGarbage(Responder):
    def obey(self, line: str) -> None:
        if line not in ("", "stats"):
            raise ValueError(line)
        super().obey(line)

    def refuse(self, error: Exception) -> NoReturn:
        traceback.print_exception(error)
        leave(1)


class WrongCounts(Responder):
    def stats(self) -> dict[str, Any]:
        return {**super().stats(), "peers": 1}


class NoLastWords(Responder):
    def refuse(self, error: Exception) -> NoReturn:
        leave(1)


class PassesKnobsOver(Responder):
    def listen(self, serve: dict[str, Any]) -> Server:
        return super().listen({**serve, "knobs": {}})


class PassesASchemaOver(Responder):
    def listen(self, serve: dict[str, Any]) -> Server:
        return super().listen({**serve, "schema": None})


class PassesACertificateOver(Responder):
    def listen(self, serve: dict[str, Any]) -> Server:
        return super().listen({**serve, "tls": None})


class PassesOperationsOver(Responder):
    def listen(self, serve: dict[str, Any]) -> Server:
        return super().listen({**serve, "operations": []})


BROKEN = {one.__name__: one for one in Responder.__subclasses__()}

if __name__ == "__main__":
    BROKEN[sys.argv[1]]().run()
