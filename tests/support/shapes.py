"""How the latencies of a synthetic run are spread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Shape = Callable[[np.random.Generator, int, float, float], np.ndarray]
"""Latencies beyond the round trips in ns, given their number, the trial's typical one in ns and the distance in ns."""


def narrow(rng: np.random.Generator, rows: int, base_ns: float, _rtt_ns: float) -> np.ndarray:
    """Skewed to the right, without drift or stalls: what a test that commits one error wants."""
    return base_ns * (0.8 + rng.gamma(2.0, 0.125, size=rows))


def paused_s(columns: dict[str, np.ndarray], measured: np.ndarray, workers: int) -> float:
    """What the requester says that a worker spent between its requests, on average; 2 us of a pause it does not see."""
    sent, received, worker = columns["sent_ns"], columns["received_ns"], (columns["sequence"] - 1) % workers
    lanes = (np.flatnonzero(measured & (worker == number)) for number in range(workers))
    pauses = np.concatenate([sent[lane][1:] - received[lane][:-1] for lane in lanes])
    return float(np.maximum(pauses - 2_000, 0).sum()) / workers / 1e9
