"""How the latencies of a synthetic run are spread."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from orchestrator.experiment.plan import plan as p
from services.python.load.phases import arrivals, rests

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


def stamps(
    rng: np.random.Generator, cell: p.Cell, latency: np.ndarray, start_ns: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float | None]:
    """Intended and sent, by which worker, and its `paused_s` where that is known.

    By the trial's schedule in an open loop, else each worker's next send follows its last reply, with think time a rest.
    """
    rows = latency.size
    if cell.load.think_s or (cell.mixed and cell.load.concurrency > 1 and cell.load.rate_per_s is None):
        return _as_ready(rng, cell, latency, start_ns, seed)
    in_turn = np.arange(rows) % cell.load.concurrency
    if cell.load.rate_per_s is not None:
        warm = cell.warmup.requests
        due = arrivals(replace(cell.load, requests=rows - warm, duration_s=None), seed)
        before = np.arange(warm) * int(1_000_000_000 / cell.load.rate_per_s)
        begin = int(before[-1]) + 100_000_000 if warm else 0
        intended = start_ns + np.concatenate([before, begin + np.asarray(due, dtype=np.int64)])
        return intended, intended + rng.integers(2_000, 40_000, size=rows), in_turn, None
    sent, takes = np.empty(rows, dtype=np.int64), latency.copy()
    workers, warm = cell.load.concurrency, cell.warmup.requests
    for worker in range(workers):
        takes[worker::workers] += rng.integers(3_000, 9_000, size=takes[worker::workers].size)
    for phase in (np.arange(warm), np.arange(warm, rows)):  # the first one is over before the second begins
        begins_ns = start_ns
        for worker in range(workers):
            mine = phase[phase % workers == worker]
            ends = np.cumsum([begins_ns + worker * 7_001, *takes[mine]])
            sent[mine] = ends[:-1] // workers * workers + worker  # one clock never gives two workers the same reading
            start_ns = max(start_ns, int(ends[-1]) + workers - 1)
    return sent, sent, in_turn, None


def _as_ready(
    rng: np.random.Generator, cell: p.Cell, latency: np.ndarray, start_ns: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Intended and sent of a closed loop, whose each row is, and `paused_s`: whoever is ready takes the next number.

    Of a mix, whose order is checked, and with think time.
    """
    rows, workers, warm = latency.size, cell.load.concurrency, cell.warmup.requests
    intended, sent, worker = (np.empty(rows, dtype=np.int64) for _ in range(3))
    drawn = rests(cell.load, seed)
    own_ns, begin_ns = 0, start_ns
    for first, last in ((0, warm), (warm, rows)):
        thinks = drawn is not None and first == warm
        ready = [(begin_ns + (drawn.first_ns(w) if drawn and thinks else w * 7_001), w, 0) for w in range(workers)]
        heapq.heapify(ready)
        own_ns = 0
        for row in range(first, last):
            due_ns, who, own = heapq.heappop(ready)
            late_ns = int(rng.integers(2_000, 60_000)) if thinks else 0
            # One clock never gives two workers the same reading.
            sent[row] = ((due_ns + late_ns) // workers + 1) * workers + who
            intended[row] = due_ns if thinks else sent[row]
            worker[row] = who
            own_ns += own
            own = int(rng.integers(3_000, 9_000))
            rest_ns = drawn.after_ns(row - first) if drawn and thinks else 0
            heapq.heappush(ready, (int(sent[row] + latency[row]) + own + rest_ns, who, own - 2_000))
        begin_ns = int((sent + latency)[:last].max()) + 1_000_000 if last else start_ns
    return intended, sent, worker, own_ns / workers / 1e9
