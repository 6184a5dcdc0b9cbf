"""Load loops for clients whose calls block: one thread per request in flight, the main thread alone at concurrency 1."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from services.python.load.client import CallFailed, Connection, Dialer, Reply, Request
from services.python.load.loop import BREAKING, NO_CONNECTION, Lane, Work, cancel_rest, count_pauses, refuse
from services.python.load.phases import NS, Phase, Rests
from services.python.probes.clock import Clock

_SPIN_NS = 200_000  # a sleeping thread wakes up late by up to about this much
_LOOK_NS = 100_000_000  # a worker that rests looks so often whether the phase is over

Take = Callable[[int], int]
"""The next request's sequence number at a time, or 0: the phase is over. In an open loop, once it is due."""

Due = Callable[[int], int]  # when the request of a sequence number was due in an open loop


class _Resting:
    """How one worker rests between its requests. Each method returns when the rest was to end, once it is over."""

    def __init__(self, rests: Rests, worker: int, phase: Phase, clock: Clock) -> None:
        self._rests, self._worker, self._phase, self._clock = rests, worker, phase, clock
        self._spin_ns = _SPIN_NS if rests.workers == 1 else 0  # as in an open loop

    def first(self) -> int:
        return self._until(self._phase.begin_ns + self._rests.first_ns(self._worker))

    def after(self, sequence: int, now_ns: int) -> int:
        """After the request of that number, which the worker was done with at `now_ns`."""
        return self._until(now_ns + self._rests.after_ns(sequence - self._phase.first_sequence))

    def _until(self, due_ns: int) -> int:
        clock, phase, spin_ns = self._clock.monotonic_ns, self._phase, self._spin_ns
        while (now_ns := clock()) < due_ns and not phase.is_over(now_ns):
            left_ns = min(due_ns, phase.ends_ns, now_ns + _LOOK_NS) - now_ns
            if left_ns > spin_ns:
                self._clock.sleep((left_ns - spin_ns) / NS)
        return due_ns


def ask(dialer: Dialer, request: Request) -> tuple[Reply, tuple[int, int]]:
    """One request on a connection of its own: the reply's value, and both bodies' sizes. CallFailed otherwise."""
    connection = dialer.dial()
    try:
        reply = connection.call(request)
        return connection.value(reply), connection.sizes(request, reply)
    finally:
        connection.close()


class BlockingLoops:
    """See `loop.Loops`."""

    lag_ms: float | None = None

    def __init__(self, dialer: Dialer, work: Work) -> None:
        self._dialer = dialer
        self._work = work
        self._lanes = [Lane[Connection]() for _ in range(work.concurrency)]
        self._threads = ThreadPoolExecutor(work.concurrency)  # started with the first phase of several in flight

    def open(self) -> None:
        if self._work.policy == "reuse":
            for lane in self._lanes:
                self._dial(lane)

    def closed_loop(self, phase: Phase, rests: Rests | None = None) -> None:
        self._run(phase, phase.take, None, rests)
        count_pauses(self._work, self._lanes, is_closed_loop=True)

    def open_loop(self, phase: Phase, due: array[int], close_ns: int | None) -> None:
        """See `loop.Loops.open_loop`. Each thread sleeps until its own request is due."""
        work = self._work
        clock = work.clock.monotonic_ns
        # Spinning at the end is exact, but holds the interpreter: only where no other thread waits for a reply.
        spin_ns = _SPIN_NS if work.concurrency == 1 else 0

        def due_at(sequence: int) -> int:
            return phase.begin_ns + due[sequence - phase.first_sequence]

        def take(now_ns: int) -> int:
            if close_ns is not None and now_ns >= close_ns:
                return 0
            sequence = phase.take(now_ns)
            if not sequence:
                return 0
            due_ns = due_at(sequence)
            if due_ns - now_ns > spin_ns:
                work.clock.sleep((due_ns - now_ns - spin_ns) / NS)
            while clock() < due_ns:
                pass
            return sequence

        self._run(phase, take, due_at)
        count_pauses(work, self._lanes, is_closed_loop=False)
        cancel_rest(work, phase, due, clock())

    def wait(self, seconds: float) -> None:
        self._work.clock.sleep(seconds)

    def wait_for(self, hear: Callable[[], str]) -> str:
        return hear()

    def close(self, grace_s: float = 0) -> None:
        looks = [look for lane in self._lanes if (look := getattr(lane.connection, "has_unasked", None))]
        if looks:
            self.wait(grace_s)
        found = [look() for look in looks]
        for lane in self._lanes:
            self._drop(lane)
        self._threads.shutdown()
        refuse(found)

    def _run(self, phase: Phase, take: Take, due_at: Due | None, rests: Rests | None = None) -> None:
        worker = self._reuse if self._work.policy == "reuse" else self._per_request
        clock = self._work.clock
        resting = [
            None if rests is None else _Resting(rests, number, phase, clock) for number in range(len(self._lanes))
        ]
        if len(self._lanes) == 1:
            worker(self._lanes[0], take, due_at, resting[0])
            return

        def guarded(number: int) -> None:
            try:
                worker(self._lanes[number], take, due_at, resting[number])
            finally:
                phase.end()  # one that gave up ends the phase for all; one that ended found it over

        workers = [self._threads.submit(guarded, number) for number in range(len(self._lanes))]
        wait(workers)
        for worker_done in workers:
            worker_done.result()

    def _reuse(self, lane: Lane[Connection], take: Take, due_at: Due | None, resting: _Resting | None) -> None:
        work, clock, wall, make = self._work, self._work.clock.monotonic_ns, self._work.clock.wall_ns, self._work.make
        replied, failed = work.recorder.replied, work.recorder.failed
        # Local names, as they are quicker than attributes: this runs while the requests of other workers are in flight.
        pause_ns = paused_ns = 0
        due_ns = 0 if resting is None else resting.first()
        now_ns = clock()
        try:
            while sequence := take(now_ns):
                paused_ns += pause_ns
                if due_at is not None:
                    due_ns = due_at(sequence)
                request = make(sequence, wall)
                sent_ns = 0
                try:
                    connection = lane.connection or self._dial(lane)
                    sent_ns = clock()
                    reply = connection.call(request)
                    received_ns = clock()
                except CallFailed as failure:
                    received_ns = clock()
                    sent_ns = sent_ns or received_ns  # not even sent, as there was no connection
                    number = lane.number
                    if failure.status in BREAKING or getattr(lane.connection, "is_over", False):
                        self._drop(lane)
                        lane.dropping_ns += clock() - received_ns
                    failed(sequence, number, due_ns or sent_ns, sent_ns, received_ns, failure)
                else:
                    replied(sequence, lane.number, due_ns or sent_ns, sent_ns, received_ns, connection, request, reply)
                    reply = None  # freed here, and not when the next one takes its place: within that one's window
                    if getattr(connection, "is_over", False):
                        begun_ns = clock()
                        self._drop(lane)
                        lane.dropping_ns += clock() - begun_ns
                now_ns = clock()
                pause_ns = now_ns - received_ns
                if resting is not None:
                    due_ns = resting.after(sequence, now_ns)
                    now_ns = clock()
        finally:
            lane.pause_ns, lane.paused_ns = pause_ns, paused_ns

    def _per_request(self, lane: Lane[Connection], take: Take, due_at: Due | None, resting: _Resting | None) -> None:
        work, dial = self._work, self._dialer.dial
        clock, wall, make, recorder = work.clock.monotonic_ns, work.clock.wall_ns, work.make, work.recorder
        due_ns = 0 if resting is None else resting.first()
        while sequence := take(clock()):
            lane.paused_ns += lane.pause_ns
            if due_at is not None:
                due_ns = due_at(sequence)
            request = make(sequence, wall)
            connection: Connection | None = None
            sent_ns = clock()
            try:
                connection = dial()
                reply = connection.call(request)
                received_ns = clock()
            except CallFailed as failure:
                received_ns = clock()
                number = recorder.connected() if connection else NO_CONNECTION
                recorder.failed(sequence, number, due_ns or sent_ns, sent_ns, received_ns, failure)
            else:
                number = recorder.connected()
                recorder.replied(sequence, number, due_ns or sent_ns, sent_ns, received_ns, connection, request, reply)
                reply = None  # as in `_reuse`
                lane.entering_ns += clock() - received_ns
            finally:
                if connection is not None:
                    work.before_close()
                    connection.close()
            now_ns = clock()
            lane.pause_ns = now_ns - received_ns
            if resting is not None:
                due_ns = resting.after(sequence, now_ns)

    def _dial(self, lane: Lane[Connection]) -> Connection:
        connection = self._dialer.dial()
        lane.number = self._work.recorder.connected(getattr(connection, "shared", None))
        lane.connection = connection
        return connection

    def _drop(self, lane: Lane[Connection]) -> None:
        if lane.connection is not None:
            self._work.before_close()
            lane.connection.close()
        lane.connection, lane.number = None, NO_CONNECTION
