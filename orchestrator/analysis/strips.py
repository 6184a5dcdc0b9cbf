"""The course of a cell's latencies over its trials, in few enough points to be drawn."""

from __future__ import annotations

from orchestrator.analysis import statistics as st
from orchestrator.analysis.evidence import Samples
from orchestrator.analysis.summary import Strip


class StripMaker:
    """Puts the trials of a cell one after the other; time runs within them only."""

    def __init__(self, bins_per_trial: int) -> None:
        self._bins_per_trial = bins_per_trial
        self._bins: list[tuple[float, int, float, float, float]] = []
        self._slowest: list[tuple[float, float]] = []
        self._start_s = 0.0

    def add(self, trial: int, parts: list[Samples]) -> None:
        """Append a trial; of several hosts, whose clocks differ, the first one is drawn."""
        if not parts or not parts[0].latency_ns.size:
            return
        sent, latency = parts[0].sent_ns[parts[0].ok], parts[0].latency_ns
        start = self._start_s
        for at_s, low, middle, high in st.time_bins(sent, latency, self._bins_per_trial):
            self._bins.append((start + at_s, trial, low, middle, high))
        self._slowest += [(start + s, ms) for s, ms in st.slowest(sent, latency)]
        self._slowest = sorted(self._slowest, key=lambda point: point[1])[-st.SLOWEST :]
        self._start_s += parts[0].span_ns / 1e9

    def strip(self) -> Strip | None:
        """What was added, or None."""
        return Strip(bins=tuple(self._bins), slowest=tuple(sorted(self._slowest))) if self._bins else None
