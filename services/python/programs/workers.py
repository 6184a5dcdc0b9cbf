"""Several worker processes that answer as one responder: one port, one nonce, one line to whoever started it.

The process that was started forks them before it loads any library, and becomes their head: it answers no request, adds up
what they count, and ends with all of them as soon as one has died. Their stdin and real stdout are pipes to the head: they
end when these do. Signals that end a responder are blocked in them, as they often go to all processes of a group.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any, Literal, NoReturn

from services.python.contract.counters import HostCounters
from services.python.contract.responder_lines import EventsSent, Ready, Stats, WorkerStats
from services.python.contract.strict import Line, parse, part, read_line
from services.python.programs.lines import Lines, complain, leave, lines_of_stdin
from services.python.serve.dispatcher import Peer

if TYPE_CHECKING:
    from services.python.probes.memory import PeakMemory

_ENDING = {signal.SIGTERM, signal.SIGINT}
_END_S = 4.0  # what workers hold is closed meanwhile; whoever ends a responder kills it after five
_REFUSAL_ENDS = '"type":"refused"}\n'
_ANSWER_S = 10.0  # to `stats`; the orchestrator waits for 15
_LAST_ANSWER_S = 0.5  # to what was asked before stdin ended: one worker that hangs must not keep the others
_LOOK_S = 0.005


@part
class Refused(Line):
    """A worker cannot start; it ends when it has said why."""

    message: str
    type: Literal["refused"] = "refused"


@part
class Peers(Line):
    """Everybody whom a worker has met: one that comes back to another worker is still one peer. Before each `stats` line."""

    peers: list[str]
    type: Literal["peers"] = "peers"


@dataclass(kw_only=True)
class Worker:
    """A worker as its head sees it. `heard`: the lines that it has written, None at their end."""

    number: int
    pid: int
    inlet: IO[str]
    says: IO[str]
    heard: SimpleQueue[str | None] = field(default_factory=SimpleQueue)


def fork(count: int, lines: Lines) -> tuple[Worker, ...]:
    """Start so many workers, while this process has one thread; returns in each of them, too, which is given none.

    There, stdin and what `lines` writes to are pipes to this process. OSError when the system has no room for them.
    """
    workers: list[Worker] = []
    for number in range(1, count + 1):
        hears, inlet = os.pipe()
        heard, says = os.pipe()
        pid = os.fork()
        if pid == 0:
            for ours in (inlet, heard):
                os.close(ours)
            for other in workers:  # or a worker would outlive the head for as long as the others do
                other.inlet.close()
                other.says.close()
            os.dup2(hears, 0)
            os.close(hears)
            sys.stdin = os.fdopen(0, encoding="utf-8", errors="replace", closefd=False)
            lines.lead_to(says)
            return ()
        os.close(hears)
        os.close(says)
        workers.append(
            Worker(number=number, pid=pid, inlet=os.fdopen(inlet, "w"), says=os.fdopen(heard, encoding="utf-8"))
        )
    return tuple(workers)


class Head:
    """The process that whoever started a responder with several workers speaks with."""

    def __init__(self, workers: Sequence[Worker], lines: Lines, where: str) -> None:
        """`where` stands before each of its words on stderr."""
        self._workers = workers
        self._lines = lines
        self._where = where
        self._left = {worker.number for worker in workers}
        self._lock = threading.Lock()
        self._asked: SimpleQueue[threading.Event] = SimpleQueue()  # set once it is answered
        self._all_ready, self._are_gone = threading.Event(), threading.Event()
        self._is_ending = self._has_said_why = False
        self._memory: PeakMemory | None = None
        lines.leave = self.leave

    def lead(self) -> NoReturn:
        """Say that they are ready when each of them is, then answer the lines of stdin until the end."""
        for task, name in ((self._await_signal, "signals"), (self._obey, "control"), (self._answer, "stats")):
            threading.Thread(target=task, name=name, daemon=True).start()
        for worker in self._workers:
            threading.Thread(target=self._listen, args=(worker,), name=f"worker-{worker.number}", daemon=True).start()
        said = [self._line(worker, Ready) for worker in self._workers]
        if len({ready.port for ready in said}) > 1:
            self._give_up(f"{self._where}: the workers answer on different ports: {[ready.port for ready in said]}")
        count = len(said)
        gc.enable()
        self._lines.write(
            replace(
                said[0],
                workers=count,
                cpus=len(os.sched_getaffinity(0)),
                settings={**said[0].settings, "workers": f"{count} processes, and one that adds up what they count"},
            )
        )
        self._all_ready.set()
        _stay()

    def leave(self, status: int) -> NoReturn:
        """End the workers, then this process, once; whoever comes later waits for that."""
        with self._lock:
            is_first, self._is_ending = not self._is_ending, True
        if not is_first:
            _stay()
        for worker in self._workers:
            _closed(worker.inlet)
        if not self._are_gone.wait(_END_S):
            with self._lock:
                left = [worker for worker in self._workers if worker.number in self._left]
                for worker in left:
                    os.kill(worker.pid, signal.SIGKILL)  # not reaped yet, so that the number is still its own
            complain(
                f"respond: {self._where}: workers that did not end were killed: {len(left)} of {len(self._workers)}"
            )
            self._are_gone.wait(1.0)
        leave(status)

    def _give_up(self, why: str) -> NoReturn:
        with self._lock:
            is_first = not (self._is_ending or self._has_said_why)
            self._has_said_why = True
        if is_first:
            complain(f"respond: {why}")
        self.leave(1)

    def _await_signal(self) -> None:
        signal.sigwait(_ENDING)
        self.leave(0)

    def _obey(self) -> None:
        last = None
        for line in lines_of_stdin():
            if line == "stats":
                last = threading.Event()
                self._asked.put(last)
            elif line:
                complain(f"respond: unknown line on stdin: {line[:80]!r}; known: stats")
        if last is not None:
            last.wait(_LAST_ANSWER_S)
        self.leave(0)

    def _answer(self) -> None:
        self._all_ready.wait()
        while True:
            request = self._asked.get()
            self._lines.write(self._stats())
            request.set()

    def _listen(self, worker: Worker) -> None:
        """Take in a worker's lines to their end, which is its own; one that nobody asked for ends them all."""
        why = ""
        for line in worker.says:
            if line.endswith(_REFUSAL_ENDS):
                why = read_line((Refused,), parse(line), reader="responder", writer="worker").message
            elif line.endswith("\n"):  # or it was killed while it wrote
                worker.heard.put(line)
        worker.heard.put(None)
        while (status := self._reaped(worker)) is None:
            time.sleep(_LOOK_S)
        with self._lock:
            is_expected = self._is_ending
            if not self._left:
                self._are_gone.set()
        if not is_expected:
            how = os.waitstatus_to_exitcode(status)
            words = f"exit status {how}" if how >= 0 else f"killed by signal {-how}"
            self._give_up(why or f"{self._called(worker)} died ({words})")

    def _reaped(self, worker: Worker) -> int | None:
        """Its wait status once it has ended; from then on its number may be another process's, and nobody signals it."""
        with self._lock:
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if not pid:
                return None
            self._left.discard(worker.number)
            return status

    def _called(self, worker: Worker) -> str:
        return f"{self._where}: worker {worker.number} of {len(self._workers)}"

    def _line(self, worker: Worker, kind: type[Any], timeout_s: float | None = None) -> Any:
        try:
            text = worker.heard.get(timeout=timeout_s)
        except Empty:
            self._give_up(f"{self._called(worker)} has not answered for {timeout_s:g} s")
        if text is None:
            _stay()  # `_listen` has seen it end, and says how
        return read_line((kind,), parse(text), reader="responder", writer="worker")

    def _stats(self) -> Stats:
        from services.python.probes.counters import host_counters
        from services.python.probes.memory import PeakMemory

        own_s = time.process_time() - time.thread_time()  # this thread does nothing but answer these lines
        self._memory = self._memory or PeakMemory()
        own_memory = self._memory.read()
        for worker in self._workers:
            try:
                worker.inlet.write("stats\n")
                worker.inlet.flush()
            except (OSError, ValueError):
                _stay()  # it has died, or is being ended
        peers: set[str] = set()
        each: list[Stats] = []
        for worker in self._workers:
            peers.update(self._line(worker, Peers, _ANSWER_S).peers)
            each.append(self._line(worker, Stats, _ANSWER_S))
        self._memory.begin()
        return added_up(each, len(peers), own_s, own_memory, host_counters())


def added_up(each: Sequence[Stats], peers: int, own_s: float, own_memory: tuple[int, str], host: HostCounters) -> Stats:
    """What the workers of a responder count, as that of one; `own_s`, `own_memory` and `host` are of their head.

    CPU time and peaks of memory are sums over all processes, the head's among them: peaks need not fall together, and pages
    that processes share count for each.
    """
    events = [stats.events for stats in each if stats.events is not None]
    used = [stats.cpu_s for stats in each]
    most = [stats.memory_bytes for stats in each]
    since = {own_memory[1], *(stats.memory_since for stats in each)}
    counted = [host.process or {}, *(stats.host.process or {} for stats in each if stats.host)]
    return Stats(
        answered=sum(stats.answered for stats in each),
        peers=peers,
        cpu_s=None if None in used else own_s + sum(s for s in used if s is not None),
        memory_bytes=None if None in most else own_memory[0] + sum(b for b in most if b is not None),
        memory_since="phase" if since == {"phase"} else "process",
        host=replace(host, process={key: sum(of.get(key, 0.0) for of in counted) for key in counted[0]}),
        events=EventsSent(
            offered=sum(stats.offered for stats in events),
            sent=sum(stats.sent for stats in events),
            worst_late_ns=max(stats.worst_late_ns or 0 for stats in events),
        )
        if events
        else None,
        workers=[
            WorkerStats(answered=stats.answered, peers=stats.peers, cpu_s=stats.cpu_s, memory_bytes=stats.memory_bytes)
            for stats in each
        ],
    )


def told_of(peers: set[Peer]) -> Peers:
    """Whom a worker has met, as its head is told."""
    return Peers(peers=[peer if isinstance(peer, str) else f"{peer[0]} {peer[1]}" for peer in peers.copy()])


def _closed(pipe: IO[str]) -> None:
    with suppress(OSError, ValueError):  # the other end is gone, and with it what was to be flushed
        pipe.close()


def _stay() -> NoReturn:
    while True:
        threading.Event().wait()
