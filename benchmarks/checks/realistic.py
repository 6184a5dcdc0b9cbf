"""Clean synthetic runs with the noise of real ones: skewed latencies, drift, rare stalls, trials and blocks that differ.

Nothing here is an error of measurement, so that a check that warns is wrong, or says no more than that a host is noisy.
Sizes are those of this project's own quickstart on a shared virtual machine of two cores: requests within a trial spread
by a tenth to a fifth, trials by 2 %, one request in a hundred is delayed by other work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orchestrator.experiment.plan import plan as p
from tests.support.event_runs import a_stream_plan, enter, stream_of
from tests.support.runs import MS, US, Draft, MemoryRun, S, Spoil, a_run, host_counters

_LINK = p.Link(rtt_ms=30.0, rate_mbit=1_000.0)
HERE = p.Placement(id="local", name="local", kind="local")
FAR = p.Placement(id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=_LINK)
BODIES = p.Operation(
    id="echo", name="echo", label="echo 100 kB", payload={"kind": "bytes"}, request_bytes=100_000, reply_bytes=100_000
)
STACKS = ("rest", "grpc", "websocket")

SCENARIOS: dict[str, dict[str, Any]] = {
    "one in flight": {},
    "eight in flight": {"load": p.Load(concurrency=8, requests=4_000)},
    "a connection per request": {"connection": "per-request"},
    "an open loop": {"load": p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)},
    "over a distance": {"placements": [HERE, FAR]},
    "a connection per request, over a distance": {"placements": [HERE, FAR], "connection": "per-request"},
    "large bodies": {"operation": BODIES},
    "with a control": {"controls": 1},
    "two requesters": {"requesters": 2},
}
STREAMS: dict[str, dict[str, Any]] = {
    "two clients": {"plan": a_stream_plan()},
    "eight clients": {"plan": a_stream_plan(clients=8, per_second=100.0)},
    "a thousand events a second": {"plan": a_stream_plan(clients=1, per_second=1_000.0)},
    "streams over a distance": {"plan": a_stream_plan(placements=[FAR], provider="gcp")},
    "streams with a control": {"plan": a_stream_plan(controls=1)},
}


def clean_run(seed: int, *, spoil: Spoil | None = None, between: float = 0.02, **planned: Any) -> MemoryRun:
    """A run of five blocks without an error, of calls or of streams, but for what `spoil` does to each of its trials."""
    rng = np.random.default_rng((seed, 7))

    def with_noise(draft: Draft) -> None:
        is_stream = draft.cell.kind == "stream"
        if is_stream:
            stream_of(draft, rng, events)
        _host_noise(draft, rng)
        if spoil is not None:
            spoil(draft)
        if is_stream:
            enter(draft)

    return a_run(
        spoil=with_noise,
        shape=latencies,
        between=between,
        seed=seed,
        base_us={"rest": 700.0, "grpc": 450.0, "websocket": 300.0},
        **{"stacks": STACKS, **planned},
    )


def latencies(rng: np.random.Generator, rows: int, base_ns: float, rtt_ns: float) -> np.ndarray:
    """Beyond the round trips, in ns: a lognormal body on a least time, slow drift, short delays and rare long ones."""
    body = 0.75 + 0.25 * rng.lognormal(-0.1, 0.45, size=rows)
    body *= _slow_drift(rng, rows)
    extra = np.zeros(rows)
    delayed = rng.random(rows) < 0.01
    extra[delayed] = base_ns * (0.3 + rng.pareto(2.5, size=int(delayed.sum())))
    stalled = rng.random(rows) < 1 / 1_000
    extra[stalled] += base_ns * rng.lognormal(0.7, 0.5, size=int(stalled.sum()))
    jitter = rng.exponential(0.003 * rtt_ns, size=rows) if rtt_ns else 0.0
    cold = 1 + 0.5 * np.exp(-np.arange(rows) / 10)  # over before the warm-up is
    return base_ns * body * cold + np.minimum(extra, 8 * base_ns) + jitter


def events(rng: np.random.Generator, number: int, base_ns: float) -> tuple[np.ndarray, np.ndarray]:
    """Of events, how late a sender wakes up, now and then by a millisecond, and how long each takes, in ns."""
    late = rng.exponential(60 * US, size=number)
    late += np.where(rng.random(number) < 1 / 300, rng.exponential(MS, size=number), 0.0)
    return late.astype(np.int64), latencies(rng, number, base_ns, 0.0).astype(np.int64)


def _slow_drift(rng: np.random.Generator, rows: int) -> np.ndarray:
    """A walk that returns to one, with an SD of 2 % and a memory of some 200 requests."""
    steps = max(2, rows // 50)
    level, levels = 0.0, []
    for step in rng.normal(0, 0.02 * np.sqrt(1 - 0.78**2), size=steps):
        level = 0.78 * level + step
        levels.append(level)
    return np.exp(np.interp(np.arange(rows), np.linspace(0, rows, steps), levels))


def _host_noise(draft: Draft, rng: np.random.Generator) -> None:
    """What else a quiet host does: some foreign work, little pressure, hardly any steal; lost packets far away."""
    elapsed_ns = int(draft.columns["received_ns"].max() - draft.columns["sent_ns"].min())
    is_one_host = draft.cell.placement == HERE.id
    asked_s = float(draft.done["cpu_s"])
    answered_s = float(draft.stats["cpu_s"]) - float(draft.stats_before["cpu_s"])
    draft.done["host_before"] = draft.stats_before["host"] = host_counters(0)
    measured_s = float(draft.stats["cpu_s"]) - float(draft.stats_warm["cpu_s"])
    draft.done["host_after"] = _counters(rng, elapsed_ns, asked_s + (measured_s if is_one_host else 0.0))
    draft.stats["host"] = _counters(rng, elapsed_ns, answered_s + (asked_s if is_one_host else 0.0))
    draft.done["cpu_share"] = min(0.8, draft.done["cpu_share"] * float(rng.lognormal(0, 0.1)))
    if draft.cell.placement != "local" and draft.done["wire"]:
        draft.done["wire"]["retransmits"] = int(rng.poisson(0.2))


def _counters(rng: np.random.Generator, elapsed_ns: int, own_s: float) -> dict[str, Any]:
    """What a host counted meanwhile: the measurement's own CPU time, and some 4 % of a core that is not its own."""
    foreign_s = float(rng.gamma(2.0, 0.02)) * elapsed_ns / S
    return host_counters(
        elapsed_ns,
        steal=int(rng.poisson(0.0005 * elapsed_ns / 10_000_000)),
        pressure_us=int(rng.gamma(2.0, 0.01) * elapsed_ns / US),
        busy=int((own_s + foreign_s) * 100),
    )
