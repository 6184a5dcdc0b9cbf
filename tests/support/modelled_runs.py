"""Whole runs over several distances and sizes, as analysis reads them: what each request takes is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.schedule import by_series, schedule, seal_all
from tests.support.runs import MemoryRun, a_plan, a_run

SIZES = (100, 10_000, 300_000)
RTTS = (1.0, 10.0, 30.0, 80.0)
RATE_MBIT = 1000.0
_PER_BYTE_NS = 4.0


def distances(rtts: Sequence[float] = RTTS, **link: Any) -> list[p.Placement]:
    """Placements so far apart, ms."""
    return [
        p.Placement(
            id=f"distance-{rtt:g}ms",
            name=f"distance-{rtt:g}ms",
            kind="cross-region",
            from_zone=f"far-{rtt:g}",
            to_zone="near",
            link=p.Link(**{"rtt_ms": rtt, "rate_mbit": RATE_MBIT, **link}),
        )
        for rtt in rtts
    ]


def echo(size: int) -> p.Operation:
    """An echo of so many bytes."""
    return p.Operation(
        id=f"echo-{size}",
        name="echo",
        label=f"echo {size} B",
        payload={"kind": "bytes", "size": size},
        request_bytes=size,
        reply_bytes=size,
    )


def a_map(
    *,
    sizes: Sequence[int] = SIZES,
    placements: Sequence[p.Placement] | None = None,
    hold_out: float = 0.2,
    connections: Sequence[str] = ("reuse",),
    **planned: Any,
) -> p.Plan:
    """A plan of rest and grpc over all of these distances and sizes, a share of its cells sealed."""
    ways = [{"connection": connection} for connection in connections]
    load = p.Load(concurrency=1, requests=30)
    placements = list(placements or distances())
    plans = [
        a_plan(operation=echo(size), load=load, warmup=3, placements=placements, calls=ways, **planned)
        for size in sizes
    ]
    cells = tuple(cell for plan in plans for cell in plan.cells)
    first = plans[0]
    operations = tuple(operation for plan in plans for operation in plan.operations)
    rtts_s = {placement.id: (placement.link.rtt_ms or 0.0) / 1000 for placement in placements}
    series = by_series(cells, first.stacks, operations, placements, rtts_s)
    return replace(
        first,
        name="decision_map",
        provider="lab",
        machine="lab",
        cells=cells,
        operations=operations,
        trials=schedule(cells, first.repeats, first.seed),
        hold_out=hold_out,
        sealed=seal_all(series, hold_out, first.seed) if hold_out else (),
        matters=0.1,
    )


def even(rng: np.random.Generator, rows: int, base_ns: float, _rtt_ns: float) -> np.ndarray:
    """Hosts that take nearly always the same."""
    return base_ns * (1 + np.abs(rng.normal(0, 0.002, size=rows)))


def a_mapped_run(plan: p.Plan | None = None, **changed: Any) -> MemoryRun:
    """A run of the plan: a round trip, the link's time, and hosts that take 0.3 ms or 0.2 ms and 4 ns for each byte."""
    plan = plan or a_map()
    wire_ns = 16e3 / RATE_MBIT
    effects = {}
    for protocol, own_us in (("rest", 300.0), ("grpc", 200.0)):
        for operation in plan.operations:
            each_us = operation.request_bytes * (_PER_BYTE_NS + wire_ns * 1.036) / 1e3
            effects[f"{protocol} {operation.request_bytes}"] = 1 + each_us / own_us
    return a_run(plan, effects=effects, shape=even, between=changed.pop("between", 0.003), **changed)
