"""How long to wait for a requester: long enough for the slowest host, never for ever. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.measure.ask import Ask
from services.python.contract.requester_lines import Progress, Start
from services.python.contract.streams import reads_for_s
from services.python.contract.strict import Line

_SPARE_S = 30.0
_SPARE_LINES = 100
_LONGEST_REST = 32  # times the mean: none that is drawn is longer (protos/payloads.md)
_LINES_PER_S = 10.0  # ten times what the contract allows


@dataclass(kw_only=True)
class Deadline:
    """What has been heard of a requester, and whether it is worth waiting on.

    A requester prints at most one line a second, and none while a request hangs or all its workers rest: so every line may
    take as long as a request and a rest may. One whose requests all fail gives up by itself; a load that ends in time must
    have ended by then.
    """

    ask: Ask
    ready_s: float
    since_s: float = 0.0
    stage: str = "check"
    _started_s: float = 0.0
    _lines: int = 0

    @property
    def _longest_s(self) -> float:
        """How long a sample may take: the time-out is one call's."""
        return self.ask.timeout_s * self.ask.calls

    @property
    def next_line_s(self) -> float:
        """How long the next line may take, seconds."""
        if self.stage == "check":
            return self._longest_s + self.ready_s
        return self._longest_s + self._rest_s + _SPARE_S

    @property
    def _rest_s(self) -> float:
        """How long all workers may rest at once; no rest goes on beyond the window."""
        load = self.ask.load
        longest_s = load.think_s * (_LONGEST_REST if load.thinking == "exponential" else 1)
        return longest_s if load.duration_s is None else min(longest_s, load.duration_s)

    @property
    def at_most_s(self) -> float | None:
        """The longest that the check may take; after it, warm-up and load, where the load is bounded in time."""
        if self.stage == "check":
            return 3 * self.next_line_s
        if self.ask.load.duration_s is None:
            return None
        ask, lasts_s = self.ask, self.ask.load.duration_s
        if ask.kind == "stream" and ask.payload.per_second:
            lasts_s = reads_for_s(lasts_s, ask.payload.per_second, ask.knobs)
        return ask.warmup.at_most_s + lasts_s + 2 * self._longest_s + _SPARE_S

    def heard(self, line: Line, now_s: float) -> bool:
        """Take a line in, heard at `now_s`; whether to wait for another."""
        self._lines += 1
        match line:
            case Start() if self.stage == "check":  # only the first one sets the clock
                self.stage, self._started_s = "warm-up", now_s
            case Progress(phase=phase):
                self._started_s = now_s if self.stage == "check" else self._started_s
                self.stage = "measure" if phase == "measured" else "warm-up"
        began_s, at_most_s = self.since_s if self.stage == "check" else self._started_s, self.at_most_s
        return at_most_s is None or now_s - began_s <= at_most_s

    def hears_too_much(self, now_s: float) -> bool:
        """Whether the requester prints far more lines than one a second: to read them would disturb the measuring."""
        return self._lines > _SPARE_LINES + _LINES_PER_S * (now_s - self.since_s)
