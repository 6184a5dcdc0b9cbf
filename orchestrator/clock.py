"""The one module that reads a clock. Everything else is handed a `Clock`, so that tests can script the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Wall time for people and for the manifest, monotonic time for durations, and waiting."""

    wall_ns: Callable[[], int]
    monotonic_s: Callable[[], float]
    sleep: Callable[[float], None] = time.sleep  # seconds

    def iso(self) -> str:
        """The wall clock as ISO 8601 in UTC, to the second."""
        return self._utc().isoformat(timespec="seconds")

    def stamp(self) -> str:
        """The wall clock as `YYYYMMDD-HHMMSS` in UTC: sorts by time, safe in a path."""
        return self._utc().strftime("%Y%m%d-%H%M%S")

    def steady(self) -> Clock:
        """A clock that begins at the same time, and that no change of the wall clock moves: stamps never go back."""
        begun_ns, begun_s = self.wall_ns(), self.monotonic_s()
        return replace(self, wall_ns=lambda: begun_ns + round((self.monotonic_s() - begun_s) * 1e9))

    def _utc(self) -> datetime:
        return datetime.fromtimestamp(self.wall_ns() / 1e9, UTC)


SYSTEM = Clock(wall_ns=time.time_ns, monotonic_s=time.monotonic)
