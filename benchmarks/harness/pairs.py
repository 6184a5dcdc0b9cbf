"""Segments of one stack, with the requester's own loop and with a bare one in turn, on the same connections."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import bare
from benchmarks.harness.ends import IDENTITY
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.load.client import Request
from services.python.load.loop import Work
from services.python.load.phases import MEASURED, WARM_UP, Phase, measured
from services.python.load.record import Record, read_record
from services.python.load.recorder import Recorder
from services.python.probes.clock import Clock
from services.python.trial.parts import Parts, load_parts

_FIRST_REQUESTS = 200
_WARM_UP = Warmup().requests  # the recorder knows a right reply to each row of the data from then on
_LEAST_ROUNDS = 5  # requests per request in flight, so that a segment's ends do not weigh in
MOST_REQUESTS = 5_000


@dataclass(frozen=True, kw_only=True)
class Stack:
    """What is asked, and how: `records` 0 asks for `timestamp`, else for `echo` of so many records."""

    protocol: str
    client: str
    records: int
    in_flight: int

    def trial(self, port: int, record: Path) -> Trial:
        """As the orchestrator would have it made."""
        return Trial(
            target=Target(host="127.0.0.1", port=port, identity=IDENTITY),
            protocol=self.protocol,
            client=self.client,
            operation="echo" if self.records else "timestamp",
            payload=Payload(kind="records", count=self.records) if self.records else Payload(),
            load=Load(requests=1, concurrency=self.in_flight),
            record=str(record),
        )


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One run of a loop."""

    p50_ns: float
    mean_ns: float
    took_ns: int
    cpu_ns: int
    verified_in_flight: int = 0


def pairs_of(
    stack: Stack, port: int, folder: Path, *, pairs: int, segment_s: float, most_kept_bytes: int
) -> dict[str, Any]:
    """Both segments of each pair, and their ratios: harness over bare, of p50, duration and CPU time.

    Of each ratio the median over the pairs, and the 95 % interval of that median.

    With one request in flight, verifying and recording stand between two requests: in the duration alone. CPU time is
    this process's; beside other load it says more than the clock does.
    """
    parts = load_parts(stack.trial(port, folder / "record"))
    request = parts.make(1, time.time_ns)
    with _connections(stack, parts, request) as connections:
        run_bare = _bare(parts, connections)
        run_bare(_FIRST_REQUESTS)  # warm-up of both ends
        rate_per_ns = _FIRST_REQUESTS / run_bare(_FIRST_REQUESTS).took_ns
        requests = min(MOST_REQUESTS, max(_LEAST_ROUNDS * stack.in_flight, int(rate_per_ns * segment_s * 1e9)))
        harness: list[Segment] = []
        plain: list[Segment] = []
        for number in range(pairs):
            for is_bare in (bool(number % 2), not number % 2):
                with _collector_off():
                    if is_bare:
                        plain.append(run_bare(requests))
                    else:
                        harness.append(_harness(stack, parts, connections, requests, folder, most_kept_bytes))
    both = list(zip(harness, plain, strict=True))
    return {
        "protocol": stack.protocol,
        "client": stack.client,
        "records": stack.records,
        "in_flight": stack.in_flight,
        "requests": requests,
        "pairs": [{"harness": vars(h), "bare": vars(b)} for h, b in both],
        "p50_ratio": interval_of_median([h.p50_ns / b.p50_ns for h, b in both]),
        "mean_ratio": interval_of_median([h.mean_ns / b.mean_ns for h, b in both]),
        "duration_ratio": interval_of_median([h.took_ns / b.took_ns for h, b in both]),
        "cpu_ratio": interval_of_median([h.cpu_ns / b.cpu_ns for h, b in both]),
        "bare_p50_us": statistics.median(b.p50_ns for b in plain) / 1000,
        "bare_per_s": statistics.median(requests / b.took_ns for b in plain) * 1e9,
        "verified_in_flight": statistics.median(h.verified_in_flight / requests for h in harness),
    }


def interval_of_median(ratios: list[float]) -> tuple[float, float, float]:
    """The median, and its 95 % interval by ranks: below it lie as many of the pairs as heads fall in so many throws."""
    count, ordered = len(ratios), sorted(ratios)
    left = max(0, int((count - 1.96 * count**0.5) / 2))
    return statistics.median(ordered), ordered[left], ordered[count - 1 - left]


@contextmanager
def _collector_off() -> Iterator[None]:
    """As the requester measures; what was left by the segment before is collected first."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _connections(stack: Stack, parts: Parts, request: Request) -> Iterator[list[Any]]:
    dialer = parts.dialer(parts.operation.name, request)
    if parts.client.style == "sync":
        opened = [dialer.dial() for _ in range(stack.in_flight)]
        yield opened
        for connection in opened:
            connection.close()
        return
    loop = asyncio.get_event_loop()

    async def dial_all() -> list[Any]:
        return [await dialer.dial() for _ in range(stack.in_flight)]

    async def close_all() -> None:
        for connection in opened:
            await connection.close()

    opened = loop.run_until_complete(dial_all())
    yield opened
    loop.run_until_complete(close_all())


def _bare(parts: Parts, connections: list[Any]) -> Callable[[int], Segment]:
    def run(requests: int) -> Segment:
        began_ns = time.process_time_ns()
        if parts.client.style == "sync":
            times, took_ns = bare.blocking(connections, parts.make, requests)
        else:
            times, took_ns = bare.awaiting(asyncio.get_event_loop(), connections, parts.make, requests)
        cpu_ns = time.process_time_ns() - began_ns
        return Segment(p50_ns=statistics.median(times), mean_ns=statistics.fmean(times), took_ns=took_ns, cpu_ns=cpu_ns)

    return run


class _Given:
    """A dialer that gives out the connections there are."""

    def __init__(self, parts: Parts, connections: list[Any]) -> None:
        self._is_awaited = parts.client.style == "async"
        self._left = list(connections)

    def dial(self) -> Any:
        connection = self._left.pop()
        return _at_once(connection) if self._is_awaited else connection


async def _at_once(connection: Any) -> Any:
    return connection


def _phase(number: int, clock: Clock, load: Load, *, first_sequence: int) -> Phase:
    return Phase(
        number=number,
        begin_ns=clock.monotonic_ns(),
        first_sequence=first_sequence,
        extent=measured(load),
        most=load.requests,
    )


def _harness(
    stack: Stack, parts: Parts, connections: list[Any], requests: int, folder: Path, most_kept_bytes: int
) -> Segment:
    """Verifying what was kept is not timed: it follows the phase. As in a trial, a warm-up comes before."""
    clock, load, warmup = Clock(), Load(requests=requests), Load(requests=_WARM_UP)
    with Record(folder / "record", requests + _WARM_UP) as record:
        recorder = Recorder(
            record,
            parts.verify,
            timeout_s=30,
            progress=lambda _line: None,
            most_kept_bytes=most_kept_bytes,
        )
        work = Work(
            make=parts.make,
            recorder=recorder,
            clock=clock,
            policy="reuse",
            concurrency=stack.in_flight,
            before_close=lambda: None,
        )
        loops = parts.loops(_Given(parts, connections), work)
        loops.open()
        before = _phase(WARM_UP, clock, warmup, first_sequence=1)
        recorder.begin(before)
        loops.closed_loop(before)
        phase = _phase(MEASURED, clock, load, first_sequence=before.next_sequence)
        recorder.begin(phase)
        began_ns, cpu_began_ns = clock.monotonic_ns(), time.process_time_ns()
        loops.closed_loop(phase)
        took_ns, cpu_ns = clock.monotonic_ns() - began_ns, time.process_time_ns() - cpu_began_ns
        recorder.settle()
        tally = recorder.tally
    assert (tally.verified, tally.errors) == (requests, {}), tally
    times = [row.received_ns - row.sent_ns for row in read_record(folder / "record") if row.phase == MEASURED]
    return Segment(
        p50_ns=statistics.median(times),
        mean_ns=statistics.fmean(times),
        took_ns=took_ns,
        cpu_ns=cpu_ns,
        verified_in_flight=tally.verified_in_flight,
    )
