"""How long to wait for a requester: long enough for the slowest host, never for ever. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orchestrator.measure.trial import Ask

_SPARE_S = 30.0
_STILL = 3  # so many timed-out requests in a row, on every connection, and the other end counts as hung


@dataclass(kw_only=True)
class Patience:
    """What has been heard of a requester, and whether it is worth waiting on.

    A requester prints at most one line a second, and none while a request hangs: so every line may take as long as a
    request may. One whose requests all time out is given up after a few of them, not after a thousand.
    """

    ask: Ask
    ready_s: float
    stage: str = "check"
    complaint: str = ""
    _phase: str = ""
    _requests: int = 0
    _since_s: float = 0.0
    _started_s: float | None = None

    @property
    def next_line_s(self) -> float:
        """How long the next line may take, seconds."""
        if self.stage == "check":
            return self.ready_s + self.ask.timeout_s
        return self.ask.timeout_s + _SPARE_S

    @property
    def is_exhausted(self) -> bool:
        """Whether to give the trial up; `complaint` then says why."""
        return bool(self.complaint)

    def heard(self, line: Mapping[str, Any], now_s: float) -> None:
        """Take a line in; `now_s` is seconds since the trial was handed over."""
        if line.get("type") == "start":
            self.stage, self._started_s, self._since_s = "warm-up", now_s, now_s
        if line.get("type") != "progress" or self._started_s is None:
            return
        self.stage = "measure" if line.get("phase") == "measured" else "warm-up"
        phase, requests = str(line.get("phase")), int(line.get("requests", 0))
        if phase != self._phase or requests > self._requests + _STILL * self.ask.load.concurrency:
            self._phase, self._requests, self._since_s = phase, requests, now_s
        still_s = now_s - self._since_s
        limit_s = _STILL * self.ask.timeout_s + 1.0
        if still_s > limit_s and self.ask.load.rate_per_s is None:
            self.complaint = (
                f"hardly a reply in {still_s:.0f} s: nearly every request takes its {self.ask.timeout_s:g} s"
            )
        at_most_s = self._at_most_s()
        if at_most_s is not None and now_s - self._started_s > at_most_s:
            self.complaint = f"not done {at_most_s:.0f} s after its start, though its load ends sooner"

    def _at_most_s(self) -> float | None:
        """The longest that warm-up and load can take, where the load is bounded in time."""
        if self.ask.load.duration_s is None:
            return None
        return self.ask.warmup.at_most_s + self.ask.load.duration_s + 2 * self.ask.timeout_s + _SPARE_S
