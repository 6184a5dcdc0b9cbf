"""Synthetic runs of streams whose truth is known: each event a row, and the counts that both ends say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from orchestrator.evidence.stream_samples import due
from orchestrator.experiment.plan import plan as p
from orchestrator.record_layout import CLOCKS, COLUMNS, KINDS
from services.python.contract.lines import STATUSES, Load, Warmup
from tests.support.drafts import heard_of
from tests.support.lines import host_counters
from tests.support.runs import MS, START_NS, US, Draft, MemoryRun, S, Spoil, a_plan, a_run

EVENT, SENDER = KINDS.index("event"), CLOCKS.index("responder-monotonic")
FAR = p.Placement(id="west", name="west", kind="cross-region", from_zone="a", to_zone="b", link=p.Link(rtt_ms=30.0))
LATENCY_US = {"websocket": 200.0, "sse": 100.0, "grpc": 300.0}

Times: TypeAlias = Callable[[np.random.Generator, int, float], tuple[np.ndarray, np.ndarray]]
"""How late each of so many events is sent, and how long it takes, in ns; given the stack's usual latency in ns."""


def narrow_times(rng: np.random.Generator, number: int, base_ns: float) -> tuple[np.ndarray, np.ndarray]:
    """Hardly late, and alike."""
    late = rng.integers(0, 5_000, size=number)
    return late, (base_ns * rng.lognormal(0, 0.2, size=number)).astype(np.int64)


def a_stream_plan(
    *, clients: int = 2, per_second: float = 500.0, seconds: float = 1.0, provider: Any = "local", **planned: Any
) -> p.Plan:
    """A plan of streams over WebSocket and server-sent events, the first being the reference."""
    operation = p.Operation(
        id="events",
        name="events",
        label=f"events {per_second:g}/s, 100 B",
        payload={"kind": "events", "size": 100, "per_second": per_second},
        reply_bytes=160,
    )
    asked = {"stacks": ("websocket", "sse"), "operation": operation, **planned}
    plan = a_plan(load=Load(concurrency=clients, duration_s=seconds), warmup=0, **asked)
    cells = tuple(replace(cell, kind="stream", warmup=Warmup(requests=0, at_least_s=0.0)) for cell in plan.cells)
    return replace(plan, cells=cells, provider=provider)


def a_stream_run(plan: p.Plan | None = None, *, spoil: Spoil | None = None, seed: int = 1, **planned: Any) -> MemoryRun:
    """A clean run of streams, but for what `spoil` does to the rows; counts are entered afterwards, as both ends would."""
    rng = np.random.default_rng(seed)

    def make(draft: Draft) -> None:
        stream_of(draft, rng)
        if draft.heard is not None:
            draft.heard = replace(heard_of(draft), done_ns=int(draft.columns["received_ns"].max()) + 2 * MS)
        if spoil:
            spoil(draft)
        if "events" not in draft.done:
            enter(draft)

    return a_run(plan or a_stream_plan(**planned), spoil=make, seed=seed)


def stream_of(draft: Draft, rng: np.random.Generator, times: Times = narrow_times) -> None:
    """Make the rows of a trial those of a clean stream, and the CPU time of both ends that of its time."""
    draft.columns = _columns(rng, draft, times)
    rows = draft.columns
    begin, last = int(rows["sent_ns"].min()), int(rows["received_ns"].max())
    measured = int(rows["sent_ns"][rows["phase"] == 1].min())
    draft.stats_warm["cpu_s"], draft.stats["cpu_s"] = (0.2 + 0.4 * (end - begin) / S for end in (measured, last))
    span_s = (last - measured) / S
    draft.done["cpu_s"] = 0.3 * span_s
    draft.done["host_after"] = host_counters(last - measured, busy=int(40 * span_s), cgroup_s=100.0)


def _columns(rng: np.random.Generator, draft: Draft, times: Times) -> dict[str, np.ndarray]:
    interval, count = due(draft.cell)
    clients = draft.cell.load.concurrency
    begin = int(draft.columns["sent_ns"].min())
    base_ns = LATENCY_US[draft.cell.stack.split("-")[0]] * US * float(np.exp(rng.normal(0, 0.01)))
    way_ns = int(draft.done["min_rtt_us"] * US // 2)  # half a round trip, which every event takes
    rows: list[dict[str, Any]] = []
    for phase, number, at in ((0, 1, begin), (1, count, begin + 100 * MS)):
        for client in range(clients):
            parent = 1 + client + phase * clients
            late, took = times(rng, number, base_ns)
            sender = np.maximum.accumulate(at + np.arange(number) * interval + late)
            received = np.maximum.accumulate(sender + way_ns + took)
            asked = at - MS - way_ns  # its schedule begins a millisecond after it was asked for there
            common = {"phase": phase, "connection": client, "intended_ns": asked, "sent_ns": asked}
            rows += [
                {
                    "sequence": place + 1,
                    "received_ns": int(received[place]),
                    "sender_ns": int(sender[place]),
                    "sender_clock": SENDER,
                    "kind": EVENT,
                    "parent": parent,
                    "bytes_received": 150,
                    **common,
                }
                for place in range(number)
            ]
            rows.append({"sequence": parent, "received_ns": int(received[-1]) + MS, "bytes_sent": 50, **common})
    rows.sort(key=lambda row: row["received_ns"])
    return {name: np.array([row.get(name, 0) for row in rows], dtype=np.int64) for name in COLUMNS}


def enter(draft: Draft) -> None:
    """What both ends say of these rows: `done`, and the responder's `stats`."""
    rows, clients = draft.columns, draft.cell.load.concurrency
    interval, count = due(draft.cell)
    events = (rows["kind"] == EVENT) & (rows["phase"] == 1)
    seen: dict[int, set[int]] = {}
    counts = dict.fromkeys(("delivered", "duplicated", "reordered", "wrong"), 0)
    for place in np.flatnonzero(events)[np.argsort(rows["received_ns"][events], kind="stable")]:
        parent, number = int(rows["parent"][place]), int(rows["sequence"][place])
        mine = seen.setdefault(parent, set())
        if rows["status"][place]:
            counts["wrong"] += 1
        elif number in mine:
            counts["duplicated"] += 1
        else:
            counts["delivered"] += 1
            counts["reordered"] += number < max(mine, default=0)
            mine.add(number)
    offered = clients * count
    measured_s = (int(rows["received_ns"][events].max()) - int(rows["sent_ns"][rows["phase"] == 1].min())) / S
    draft.done |= {
        "rows": int(rows["sequence"].size),
        "warmup_requests": clients,
        "requests": clients,
        "verified": counts["delivered"] + counts["duplicated"],
        "measured_s": measured_s,
        "paused_s": None,
        "entering_s": None,
        "connections_opened": 0,
        "anchor": _anchor(int(rows["sent_ns"].min()) - MS),
        "anchor_end": _anchor(int(rows["received_ns"].max()) + MS),
        "events": {"offered": offered, "dropped": offered - counts["delivered"], **counts},
    }
    sent = offered + clients + 1
    draft.stats["events"] = {
        "offered": sent,
        "sent": sent,
        "worst_late_ns": max(interval // 2, _worst_late_ns(rows, interval)),
    }
    draft.stats["answered"] = int((rows["kind"] == 0).sum()) + 2
    failed = rows["status"][(rows["kind"] == 0) & (rows["phase"] == 1)]
    draft.done["errors"] = {STATUSES[status]: int((failed == status).sum()) for status in set(failed.tolist()) - {0}}


def _anchor(monotonic_ns: int) -> dict[str, int]:
    return {"wall_ns": START_NS + monotonic_ns, "monotonic_ns": monotonic_ns}


def _worst_late_ns(rows: dict[str, np.ndarray], interval: int) -> int:
    """What an honest sender says: against its schedule, which begins no later than its earliest event puts it."""
    worst = 0
    for parent in np.unique(rows["parent"][rows["kind"] == EVENT]):
        mine = (rows["kind"] == EVENT) & (rows["parent"] == parent)
        begin = rows["sender_ns"][mine] - (rows["sequence"][mine] - 1) * interval
        worst = max(worst, int(begin.max() - begin.min()))
    return worst


def without(draft: Draft, keep: np.ndarray) -> None:
    """Leave out rows."""
    draft.columns = {name: values[keep] for name, values in draft.columns.items()}


def places(draft: Draft, *numbers: int, parent: int | None = None) -> np.ndarray:
    """Where measured events of these numbers stand, of all subscriptions or of one."""
    rows = draft.columns
    found = (rows["kind"] == EVENT) & (rows["phase"] == 1) & np.isin(rows["sequence"], numbers)
    return np.flatnonzero(found if parent is None else found & (rows["parent"] == parent))
