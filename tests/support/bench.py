"""Load loops over scripted connections, with the record that they write: what the tests of each kind of load begin with."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.python.contract.lines import Load
from services.python.load.async_load import AwaitingLoops
from services.python.load.loop import Loops, Work
from services.python.load.phases import MEASURED, Extent, Phase, measured
from services.python.load.record import Record, Row, read_record
from services.python.load.recorder import Recorder
from services.python.load.sync_load import BlockingLoops
from services.python.load.unverified import LEAST_BYTES
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer


class Bench:
    """Loops of one style, `blocking` or `awaiting`; a kind of load says what it dials and which requests it makes."""

    def __init__(
        self,
        style: str,
        path: Path,
        verify: Callable[[Any, Any], str | None],
        *,
        in_flight: int = 1,
        rows_at_once: int = 100,
        **recorder: Any,
    ) -> None:
        self.style, self.path, self.in_flight = style, path, in_flight
        self.time = ScriptedClock()
        self.clock = self.time.clock()
        self.dialer: Any = ScriptedDialer(self.time)
        self.record = Record(path, rows_at_once)
        self.progress: list[Any] = []
        recorder.setdefault("most_kept_bytes", LEAST_BYTES if in_flight > 1 else 0)
        self.recorder = Recorder(self.record, verify, timeout_s=30, progress=self.progress.append, **recorder)
        self.event_loop = asyncio.new_event_loop()

    def make(self, sequence: int, _wall_ns: Any) -> Any:
        """The request of that number."""
        return {"sequence": sequence}

    def blocking(self) -> Any:
        """What blocking loops dial with."""
        return self.dialer

    def awaiting(self) -> Any:
        """What awaiting loops dial with."""
        return AwaitableDialer(self.dialer)

    def look(self) -> None:
        """What is done before a connection is closed."""

    def loops(self, policy: Any = "reuse") -> Loops:
        work = Work(
            make=self.make,
            recorder=self.recorder,
            clock=self.clock,
            policy=policy,
            concurrency=self.in_flight,
            before_close=self.look,
        )
        if self.style == "blocking":
            return BlockingLoops(self.blocking(), work)
        return AwaitingLoops(self.event_loop, self.awaiting(), work)

    def phase(self, requests: int, number: int = MEASURED, first: int = 1) -> Phase:
        """A phase of a closed loop, begun."""
        return self._begun(number, first, measured(Load(requests=requests)), requests)

    def open_phase(self, due: array[int]) -> Phase:
        """A measured phase of an open loop, begun."""
        return self._begun(MEASURED, 1, Extent(), len(due))

    def _begun(self, number: int, first: int, extent: Extent, most: int) -> Phase:
        phase = Phase(number=number, begin_ns=self.clock.monotonic_ns(), first_sequence=first, extent=extent, most=most)
        self.recorder.begin(phase)
        return phase

    def run(self, requests: int, policy: Any = "reuse") -> None:
        """One measured phase of a closed loop, and all its replies verified."""
        loops = self.loops(policy)
        loops.open()
        loops.closed_loop(self.phase(requests))
        self.recorder.settle()
        loops.close()

    def rows(self) -> list[Row]:
        """What was recorded; nothing is after it."""
        assert self.recorder.tally  # counts what is stored as long as it is open
        self.record.close()
        return list(read_record(self.path))

    def close(self) -> None:
        self.record.close()
        self.event_loop.close()
