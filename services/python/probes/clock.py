"""The clocks of one end, in one place, so that tests can put scripted ones there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from services.python.contract.counters import Clocks


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Readings in integer nanoseconds; `sleep` takes seconds."""

    monotonic_ns: Callable[[], int] = time.monotonic_ns
    wall_ns: Callable[[], int] = time.time_ns
    sleep: Callable[[float], None] = time.sleep

    def anchor(self) -> Clocks:
        """Both clocks read together, the wall clock between two readings of the other."""
        before = self.monotonic_ns()
        wall = self.wall_ns()
        return Clocks(wall_ns=wall, monotonic_ns=(before + self.monotonic_ns()) // 2)


def resolution_ns() -> float:
    """What the system says is the monotonic clock's resolution."""
    return time.get_clock_info("monotonic").resolution * 1e9
