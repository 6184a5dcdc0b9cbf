"""How the latencies of a synthetic run are spread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Shape = Callable[[np.random.Generator, int, float, float], np.ndarray]
"""Latencies beyond the round trips in ns, given their number, the trial's typical one in ns and the distance in ns."""


def narrow(rng: np.random.Generator, rows: int, base_ns: float, _rtt_ns: float) -> np.ndarray:
    """Skewed to the right, without drift or stalls: what a test that commits one error wants."""
    return base_ns * (0.8 + rng.gamma(2.0, 0.125, size=rows))
