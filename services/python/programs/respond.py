"""The responder, `python -m services.python.programs.respond`: what it answers stands in the *serve* line on its stdin.

Starts one implementation of one protocol, and loads nothing of any other. The process contract is `protos/process.md`;
what a protocol's module must do is `services.python.serve.responder`.
"""

from __future__ import annotations

import gc
import importlib
import signal
import sys
import threading
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from services.python.contract.knobs import TCP_WINDOW, WORKERS
from services.python.contract.lines import read_stdin_line
from services.python.contract.offers import Responder, find_protocol, operations
from services.python.contract.responder_lines import EventsSent, Ready, Serve, Stats, StoreTimes
from services.python.operations.base import PayloadError
from services.python.operations.files import read_schema
from services.python.programs.lines import Lines, complain, leave, lines_of_stdin, prepare
from services.python.serve import responder as serving
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import CannotServe, Holding

if TYPE_CHECKING:
    import socket

    from services.python.probes.memory import PeakMemory

_NS = 1_000_000_000
_ENDING = {signal.SIGTERM, signal.SIGINT}


class Control:
    """The line to whoever started this responder: answers what it asks, and ends the process when it goes."""

    def __init__(
        self, dispatcher: Dispatcher, responder: Responder, lines: Lines, holding: Holding, *, is_worker: bool = False
    ) -> None:
        """`is_worker`: it is one of several, whose head (`programs.workers`) hears whom it met or why it cannot start."""
        self._is_worker = is_worker
        self._dispatcher = dispatcher
        self._responder = responder
        self._lines = lines
        self._holding = holding
        self._memory: PeakMemory | None = None
        self._port = 0

    def announce(self, port: int) -> None:
        """Print the ready line, as the responder accepts connections on `port`."""
        gc.enable()
        # Not needed to answer the first request, so not loaded before it can be answered.
        from services.python.probes import sockets
        from services.python.probes.versions import versions

        if self._dispatcher.knobs:
            self._on_sockets(is_ready=False)

        self._port = port
        self._lines.write(
            Ready(
                port=port,
                implementation=self._responder.name,
                identity=self._dispatcher.identity,
                versions=versions(self._responder.packages),
                settings={**self._of_what_is_held(), **sockets.in_force(sockets.congestion_of_listeners())},
            )
        )

    def obey(self) -> None:
        """Answer the lines of stdin until it ends, then end the process."""
        for line in lines_of_stdin():
            if line == "stats":
                self._lines.write(self._stats())
            elif line:
                complain(f"respond: unknown line on stdin: {line[:80]!r}; known: stats")
        self.leave(0)

    def await_signal(self) -> None:
        signal.sigwait(_ENDING)
        self.leave(0)

    def leave(self, status: int) -> NoReturn:
        """End the process, and before that what it holds."""
        self._holding.close()
        if self._holding.complaint:
            complain(f"respond: {self._holding.complaint}")
        leave(status)

    def refuse(self, message: str) -> NoReturn:
        if self._is_worker:
            from services.python.programs.workers import Refused

            self._lines.write(Refused(message=message))
        else:
            complain(f"respond: {message}")
        self.leave(1)

    def _on_sockets(self, *, is_ready: bool) -> None:
        """Set what listens, or what was accepted: a window must be set again on connections that have carried requests."""
        from services.python.probes.sockets import CannotSet, bound_accepted, set_listeners

        try:
            if is_ready:
                bound_accepted(self._dispatcher.knobs, self._port)
            else:
                set_listeners(self._dispatcher.knobs)
        except CannotSet as error:
            self.refuse(str(error))

    def _stats(self) -> Stats:
        from services.python.probes.counters import host_counters
        from services.python.probes.memory import PeakMemory

        if TCP_WINDOW in self._dispatcher.knobs:
            self._on_sockets(is_ready=True)
        cpu_s = time.process_time() - time.thread_time()  # this thread does nothing but answer these lines
        self._memory = self._memory or PeakMemory()
        memory_bytes, memory_since = self._memory.read()
        if self._is_worker:
            from services.python.programs.workers import told_of

            self._lines.write(told_of(self._dispatcher.peers))
        self._memory.begin()
        events = self._dispatcher.events
        return Stats(
            events=EventsSent(offered=events.offered, sent=events.sent, worst_late_ns=events.worst_late_ns)
            if events.subscriptions
            else None,
            answered=self._dispatcher.answered,
            peers=len(self._dispatcher.peers),
            cpu_s=cpu_s,
            memory_bytes=memory_bytes,
            memory_since=memory_since,
            host=host_counters(),
            store=self._store_times(),
        )

    def _of_what_is_held(self) -> dict[str, str]:
        held = self._dispatcher.held.values()
        return {name: text for each in held for name, text in getattr(each, "settings", {}).items()}

    def _store_times(self) -> StoreTimes | None:
        times = next((each.times for each in self._dispatcher.held.values() if hasattr(each, "times")), None)
        if times is None:
            return None
        now = times.copy()
        return StoreTimes(
            requests=now.requests,
            handling_s=now.handling_ns / _NS,
            queue_s=now.queue_ns / _NS,
            pool_s=now.pool_ns / _NS,
            database_s=now.database_ns / _NS,
            service_s=now.service_ns / _NS,
            queries=now.queries,
            storeless=now.storeless,
        )


def main() -> NoReturn:
    """Answer until SIGTERM, SIGINT or the end of stdin."""
    gc.disable()  # until it is ready: next to nothing of what libraries make while they are loaded is garbage
    lines = Lines()
    prepare()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until it knows what to answer, a signal just ends it
    try:
        serve: Serve = read_stdin_line(Serve, sys.stdin.buffer, "responder")
    except ValueError as error:
        _refuse(f"not a serve line on stdin: {error}")
    try:
        protocol = find_protocol(serve.protocol)
        responder = protocol.responder(serve.implementation)
    except KeyError as error:
        _refuse(f"unknown protocol or implementation {error.args[0]!r}; `orch services` lists what there is")
    where = f"{serve.protocol}/{responder.name}"
    has_schema, has_tls = serve.schema is not None, serve.tls is not None
    if reason := protocol.refusal_of(serve.knobs, responder, has_schema=has_schema, has_tls=has_tls):
        _refuse(reason)
    if uncarried := sorted(set(serve.operations) & operations().keys() - protocol.operations):
        _refuse(f"{serve.protocol} does not carry {', '.join(uncarried)}")
    try:
        schema = read_schema(serve.schema)
        # Every thread started from here on inherits the mask, so that only `await_signal` gets these two.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        holding = Holding(serve.operations, serve.resources or {})
    except (PayloadError, CannotServe) as error:
        _refuse(f"{where}: {error}")
    port, listener, is_worker = serve.port, None, int(serve.knobs.get(WORKERS, "1")) > 1
    if is_worker:
        port, listener = _go_on_as_worker(serve, responder, lines, where)
    dispatcher = Dispatcher(identity=serve.identity, knobs=serve.knobs, schema=schema, tls=serve.tls, listener=listener)
    control = Control(dispatcher, responder, lines, holding, is_worker=is_worker)
    lines.leave = control.leave
    if not is_worker:  # which its head ends
        threading.Thread(target=control.await_signal, name="signals", daemon=True).start()
    threading.Thread(target=control.obey, name="control", daemon=True).start()
    try:
        dispatcher.held = holding.open()
        _serving(responder, dispatcher)(dispatcher, serve.host, port, control.announce)
    except CannotServe as error:
        control.refuse(f"{where}: {error}")
    except ImportError as error:
        control.refuse(f"{where}: {error}; install the project's `services` extra on this host")
    except OSError as error:
        control.refuse(f"{where}: cannot listen on {serve.host}:{serve.port}: {error}; give a free port, or 0 for any")
    except SystemExit as error:
        control.refuse(f"{where}: the implementation gave up with status {error.code}; its own words stand above")
    except Exception as error:  # noqa: BLE001 - whatever a framework raises becomes this program's one line
        at = traceback.extract_tb(error.__traceback__)[-1]
        control.refuse(f"{where}: {type(error).__name__}: {error} ({at.filename}:{at.lineno})")
    control.refuse(f"{where}: serve() returned; it must answer until the process is ended")


def _serving(responder: Responder, dispatcher: Dispatcher) -> serving.Serve:
    """How it answers; ImportError where a library is not here, ValueError for a schema that is none."""
    module = importlib.import_module(responder.module)
    if not responder.served_by:
        serve: serving.Serve = module.serve
        return serve
    from services.python.codecs.base import codec_named

    codec = (codec_named(responder.codec, dispatcher.schema),) if responder.codec else ()
    if responder.framework:
        application = importlib.import_module(responder.framework).application(dispatcher, module.paths(*codec))
    else:
        application = module.application(dispatcher, *codec)
    return partial(importlib.import_module(responder.served_by).serve, application)


def _go_on_as_worker(serve: Serve, responder: Responder, lines: Lines, where: str) -> tuple[int, socket.socket | None]:
    """Fork the workers: the process that was started stays here as their head, and each of them returns.

    A worker is given the port, and the socket that it accepts from where they share one.
    """
    from services.python.programs.workers import Head, fork

    has_one = responder.shares == "socket"
    try:
        shared = (serving.listen if has_one else serving.reserve)(serve.host, serve.port)
        workers = fork(int(serve.knobs[WORKERS]), lines)
    except CannotServe as error:
        _refuse(f"{where}: {error}")
    except OSError as error:
        _refuse(f"{where}: {WORKERS}: {serve.knobs[WORKERS]} cannot be started: {error.strerror}; give fewer")
    if workers:
        if has_one:
            shared.close()  # nobody must wait for a worker that is gone
        Head(workers, lines, where).lead()
    port = int(shared.getsockname()[1])
    if not has_one:
        shared.close()
    return port, shared if has_one else None


def _refuse(message: str) -> NoReturn:
    complain(f"respond: {message}")
    leave(1)


if __name__ == "__main__":
    main()
