"""How long to wait for a requester: long enough for the slowest host, never for ever. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.measure.trial import Ask

_SPARE_S = 30.0


@dataclass(kw_only=True)
class Patience:
    """What has been heard of a requester, and whether it is worth waiting on.

    A requester prints at most one line a second, and none while a request hangs: so every line may take as long as a
    request may. One whose requests all fail gives up by itself; a load that ends in time must have ended by then.
    """

    ask: Ask
    ready_s: float
    stage: str = "check"
    _started_s: float = 0.0

    @property
    def next_line_s(self) -> float:
        """How long the next line may take, seconds."""
        spare_s = self.ready_s if self.stage == "check" else _SPARE_S
        return self.ask.timeout_s + spare_s

    @property
    def at_most_s(self) -> float | None:
        """The longest that warm-up and load can take, where the load is bounded in time."""
        if self.ask.load.duration_s is None:
            return None
        return self.ask.warmup.at_most_s + self.ask.load.duration_s + 2 * self.ask.timeout_s + _SPARE_S

    def heard(self, line: Mapping[str, Any], now_s: float) -> bool:
        """Take a line in, heard at `now_s`; whether to wait for another."""
        match line.get("type"):
            case "start":
                self.stage, self._started_s = "warm-up", now_s
            case "progress":
                self.stage = "measure" if line.get("phase") == "measured" else "warm-up"
        at_most_s = self.at_most_s
        return self.stage == "check" or at_most_s is None or now_s - self._started_s <= at_most_s
