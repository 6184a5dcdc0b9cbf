"""A measured phase in turns: each has the load that the trial says, and begins when the line `turn` comes on stdin."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from services.python.contract.lines import Trial
from services.python.contract.requester_lines import TURN, Turn, Wire
from services.python.contract.strict import Part, part
from services.python.load.loop import Loops
from services.python.load.phases import MEASURED, NS, WARM_UP, Extent, Phase, measured
from services.python.load.recorder import Recorder
from services.python.probes.clock import Clock
from services.python.probes.counters import host_counters
from services.python.probes.memory import PeakMemory
from services.python.probes.tcpinfo import WireMeter
from services.python.trial.parts import Hear, Print

_PROC = Path("/proc")
_STEAL = 8  # the column of /proc/stat, behind the name


@part
class Window(Part):
    """What was counted within the measured phase: of one phase, or of all turns.

    `wire` and `min_rtt_us` as `WireMeter` has them; `turn_warmup_requests` are those sent before each turn.
    """

    begin_ns: int
    cpu_s: float
    wire: dict[str, int] | None
    min_rtt_us: int | None
    lag_ms: float | None
    turn_warmup_requests: int = 0


def looked_at(measure: Callable[[], Window]) -> tuple[Window, dict[str, Any]]:
    """What was measured between two looks at the host, and fields of `Done` that say it."""
    memory, host_before = PeakMemory(), host_counters()
    memory.begin()
    window = measure()
    memory_bytes, memory_since = memory.read()
    return window, {
        "begin_ns": window.begin_ns,
        "wire": None if window.wire is None else Wire(**window.wire),
        "min_rtt_us": window.min_rtt_us,
        "cpu_s": window.cpu_s,
        "memory_bytes": memory_bytes,
        "memory_since": memory_since,
        "loop_lag_ms": window.lag_ms,
        "host_before": host_before,
        "host_after": host_counters(),
    }


class Turns:
    """Makes the turns of a trial, on connections that are open."""

    def __init__(
        self, *, trial: Trial, loops: Loops, recorder: Recorder, wire: WireMeter, clock: Clock, sequence: int
    ) -> None:
        self._trial, self._loops, self._recorder, self._wire, self._clock = trial, loops, recorder, wire, clock
        self._sequence = sequence
        self._warmed = 0
        self._windows: list[Window] = []

    def run(self, word: str, hear: Hear, print_line: Print) -> Window:
        """Make a turn for each line `turn`, of which `word` is the first, until the line `end`. GaveUp."""
        self._recorder.begin_in_turn(self._phase(MEASURED, Extent()))  # so that without a turn nothing was measured
        while word == TURN:
            print_line(self._turn(len(self._windows)))
            word = self._loops.wait_for(hear)
        windows = self._windows
        return Window(
            begin_ns=windows[0].begin_ns if windows else self._clock.monotonic_ns(),
            cpu_s=sum(window.cpu_s for window in windows),
            wire=_sums(window.wire for window in windows),
            min_rtt_us=min((w.min_rtt_us for w in windows if w.min_rtt_us is not None), default=None),
            lag_ms=max((w.lag_ms for w in windows if w.lag_ms is not None), default=None),
            turn_warmup_requests=self._warmed,
        )

    def _turn(self, number: int) -> Turn:
        load, recorder = self._trial.load, self._recorder
        waited_s, stolen_s = waited_for_cpu_s(), steal_s()  # before the warm-up: a look into files leaves caches cold
        before = (self._trial.turn_warm_up or 0) * load.concurrency
        if before:
            warm = self._phase(WARM_UP, Extent(requests=before), most=before)
            recorder.begin_in_turn(warm)
            self._loops.closed_loop(warm)
            self._sequence, self._warmed = warm.next_sequence, self._warmed + warm.taken
        self._wire.begin()
        cpu_s = time.process_time()
        window = self._phase(MEASURED, measured(load), most=load.requests)
        recorder.begin_in_turn(window)
        self._loops.closed_loop(window)
        cpu_s = time.process_time() - cpu_s
        waited_s, stolen_s = _since(waited_s, waited_for_cpu_s()), _since(stolen_s, steal_s())
        self._wire.end()
        self._sequence = window.next_sequence
        requests, last_ns = recorder.end_turn()
        self._windows.append(
            Window(
                begin_ns=window.begin_ns,
                cpu_s=cpu_s,
                wire=self._wire.wire(),
                min_rtt_us=self._wire.min_rtt_us(),
                lag_ms=self._loops.lag_ms,
            )
        )
        return Turn(
            number=number,
            requests=requests,
            begin_ns=window.begin_ns,
            end_ns=max(last_ns, window.begin_ns if load.requests is not None else window.ends_ns),
            cpu_s=cpu_s,
            waited_s=waited_s,
            stolen_s=stolen_s,
        )

    def _phase(self, number: int, extent: Extent, most: int | None = None) -> Phase:
        begin_ns = self._clock.monotonic_ns()
        return Phase(number=number, begin_ns=begin_ns, first_sequence=self._sequence, extent=extent, most=most)


def waited_for_cpu_s(proc: Path = _PROC) -> float | None:
    """How long the threads of this process were ready to run and waited for a CPU; None where that is not known."""
    try:
        threads = [path / "schedstat" for path in (proc / "self/task").iterdir()]
        return sum(int(path.read_text().split()[1]) for path in threads) / NS
    except (OSError, IndexError, ValueError):  # no such file, or a thread that ended meanwhile
        return None


def steal_s(proc: Path = _PROC) -> float | None:
    """How long the hypervisor ran something else while a CPU of this host was ready, of all CPUs; None where unknown."""
    try:
        with (proc / "stat").open() as stat:
            return int(stat.readline().split()[_STEAL]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return None


def _since(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else max(0.0, after - before)


def _sums(wires: Iterable[dict[str, int] | None]) -> dict[str, int] | None:
    """The sums of what all windows counted; None where one was not fully counted, or there was none."""
    sums: dict[str, int] = {}
    for wire in wires:
        if wire is None:
            return None
        for name, value in wire.items():
            sums[name] = sums.get(name, 0) + value
    return sums or None
