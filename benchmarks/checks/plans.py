"""What is planned for the runs that have a fault, by its size: each gives the keywords of `realistic.clean_run`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.checks.realistic import BODIES, FAR, HERE, STACKS
from orchestrator.experiment.plan import plan as p
from tests.support.event_runs import a_stream_plan
from tests.support.runs import a_plan


def far(_size: float) -> dict[str, Any]:
    """One host, and a distance."""
    return {"placements": [HERE, FAR]}


def far_per_request(_size: float) -> dict[str, Any]:
    """The same with a connection for each request."""
    return {"placements": [HERE, FAR], "connection": "per-request"}


def per_request(_size: float) -> dict[str, Any]:
    """A connection for each request."""
    return {"connection": "per-request"}


def lab(_size: float) -> dict[str, Any]:
    """Hosts with a fifth of a core each on this machine, and a distance."""
    return {"plan": replace(a_plan(stacks=STACKS, placements=[FAR]), provider="lab", machine="f1-micro")}


def bodies(_size: float) -> dict[str, Any]:
    """Bodies of 100 kB each way."""
    return {"operation": BODIES}


def far_bodies(_size: float) -> dict[str, Any]:
    """The same, over a distance."""
    return {"operation": BODIES, "placements": [FAR]}


def open_loop(_size: float) -> dict[str, Any]:
    """500 requests a second, 64 in flight at most."""
    return {"load": p.Load(concurrency=64, requests=2_000, rate_per_s=500.0)}


def streams(_size: float) -> dict[str, Any]:
    """Streams of events."""
    return {"plan": a_stream_plan(stacks=("websocket", "sse"))}


def far_streams(_size: float) -> dict[str, Any]:
    """The same, over a distance."""
    return {"plan": a_stream_plan(stacks=("websocket", "sse"), placements=[FAR], provider="gcp")}


def eight(_size: float) -> dict[str, Any]:
    """Eight in flight."""
    return {"load": p.Load(concurrency=8, requests=4_000)}


def eight_for_long(_size: float) -> dict[str, Any]:
    """The same, four times as many requests."""
    return {"load": p.Load(concurrency=8, requests=16_000)}


def eight_per_request(_size: float) -> dict[str, Any]:
    """Eight in flight, a connection for each request."""
    return {"load": p.Load(concurrency=8, requests=4_000), "connection": "per-request"}


def controlled(_size: float) -> dict[str, Any]:
    """The reference entered twice."""
    return {"controls": 1}


def two_requesters(_size: float) -> dict[str, Any]:
    """Two requesters."""
    return {"requesters": 2}
