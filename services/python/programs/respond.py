"""The responder: `... programs.respond --protocol P --implementation I --host H --port N --identity NONCE`.

Starts one implementation of one protocol, and loads nothing of any other. The process contract is `protos/process.md`;
what a protocol's module must do is `services.python.serve.responder`.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import NoReturn

from services.python.contract.offers import Responder, find_protocol
from services.python.programs.lines import Lines, complain, leave
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import CannotServe, Serve

_ENDING = {signal.SIGTERM, signal.SIGINT}


class Control:
    """The line to whoever started this responder: answers what it asks, and ends the process when it goes."""

    def __init__(self, dispatcher: Dispatcher, responder: Responder, lines: Lines) -> None:
        self._dispatcher = dispatcher
        self._responder = responder
        self._lines = lines
        self._end: Callable[[], None] | None = None

    def announce(self, port: int, end: Callable[[], None] | None = None) -> None:
        """Print the ready line; see `responder.Announce`."""
        # Not needed to answer the first request, so not loaded before it can be answered.
        from services.python.probes.versions import versions

        self._end = end
        self._lines.write(
            {
                "ready": True,
                "port": port,
                "implementation": self._responder.name,
                "versions": versions(self._responder.packages),
                "identity": self._dispatcher.identity,
            }
        )

    def obey(self) -> None:
        """Answer the lines of stdin until it ends, then end the process."""
        for line in map(str.strip, sys.stdin):
            if line == "stats":
                self._lines.write({"stats": self._stats()})
            elif line:
                complain(f"respond: unknown line on stdin: {line[:80]!r}; known: stats")
        self._finish()

    def await_signal(self) -> None:
        """End the process at the first SIGTERM or SIGINT."""
        signal.sigwait(_ENDING)
        self._finish()

    def _finish(self) -> NoReturn:
        if self._end is not None:
            self._end()
        leave(0)

    def _stats(self) -> dict[str, object]:
        from services.python.probes.counters import host_counters

        return {
            "answered": self._dispatcher.answered,
            "peers": len(self._dispatcher.peers),
            "cpu_s": time.process_time(),
            "host": host_counters(),
        }


def main() -> NoReturn:
    """Answer until SIGTERM, SIGINT or the end of stdin."""
    lines = Lines()
    # Every thread started from here on inherits the mask, so that only `await_signal` gets these two.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    options = _options()
    try:
        protocol = find_protocol(options.protocol)
        responder = protocol.responder(options.implementation)
    except KeyError as error:
        _refuse(f"unknown protocol or implementation {error.args[0]!r}; `orch services` lists what there is")
    knobs = dict(options.knob)
    if reason := protocol.refusal_of(knobs):
        _refuse(reason)
    dispatcher = Dispatcher(identity=options.identity, knobs=knobs)
    control = Control(dispatcher, responder, lines)
    threading.Thread(target=control.await_signal, name="signals", daemon=True).start()
    threading.Thread(target=control.obey, name="control", daemon=True).start()
    where = f"{options.protocol}/{responder.name}"
    try:
        serve: Serve = importlib.import_module(responder.module).serve
        serve(dispatcher, options.host, options.port, control.announce)
    except CannotServe as error:
        _refuse(f"{where}: {error}")
    except ImportError as error:
        _refuse(f"{where}: {error}; install the project's `services` extra on this host")
    except OSError as error:
        _refuse(f"{where}: cannot listen on {options.host}:{options.port}: {error}; give a free port, or 0 for any")
    except SystemExit as error:
        _refuse(f"{where}: the implementation gave up with status {error.code}; its own words stand above")
    except Exception as error:  # noqa: BLE001 - whatever a framework raises becomes this program's one line
        at = traceback.extract_tb(error.__traceback__)[-1]
        _refuse(f"{where}: {type(error).__name__}: {error} ({at.filename}:{at.lineno})")
    _refuse(f"{where}: serve() returned; it must answer until the process is ended")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m services.python.programs.respond", description="Answer one protocol."
    )
    parser.add_argument("--protocol", required=True)
    parser.add_argument("--implementation", help="the protocol's first responder when left out")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--identity", required=True, help="the nonce that proves which responder answered")
    parser.add_argument("--knob", type=_knob, action="append", default=[], metavar="NAME=VALUE", help="not its default")
    return parser.parse_args()


def _knob(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _refuse(message: str) -> NoReturn:
    complain(f"respond: {message}")
    leave(1)


if __name__ == "__main__":
    main()
