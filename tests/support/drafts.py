"""One trial of a synthetic run before it is sealed, and the parts that its tasks then have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orchestrator.experiment.plan import plan as p
from orchestrator.record_layout import KINDS
from orchestrator.results.manifest import Heard
from services.python.contract.lines import STATUSES
from services.python.load.phases import mix_order

TASK, PART, MIXED = map(KINDS.index, ("task", "part", "mixed"))


@dataclass
class Draft:
    """One trial before it is sealed: a test may change anything in it."""

    cell: p.Cell
    block: int
    columns: dict[str, np.ndarray]
    done: dict[str, Any]
    ready: dict[str, Any]
    stats: dict[str, Any]
    stats_before: dict[str, Any]
    stats_warm: dict[str, Any]
    requester: int = 0
    process: int = 0
    heard: Heard | None = None
    record: dict[str, Any] = field(default_factory=dict)  # more of what the journal keeps of its trial


def longer(draft: Draft, by_ns: Any) -> None:
    """Each request takes so much longer (one number, or one for each), and the next is sent so much later."""
    rows = draft.columns
    extra = np.broadcast_to(by_ns, rows["sequence"].shape).astype(np.int64)
    later = np.concatenate([[0], np.cumsum(extra)[:-1]])
    for name, more in (("intended_ns", later), ("sent_ns", later), ("received_ns", later + extra)):
        rows[name] = rows[name] + more
    for clock in draft.done["anchor_end"]:
        draft.done["anchor_end"][clock] += int(extra.sum())


def leave_unsent(draft: Draft, places: np.ndarray, at_ns: int, reason: str) -> None:
    """These requests of an open loop were due and never sent, which was known at that moment."""
    rows = draft.columns
    rows["connection"][places] = rows["bytes_sent"][places] = rows["bytes_received"][places] = -1
    rows["sent_ns"][places] = rows["received_ns"][places] = at_ns
    rows["status"][places] = STATUSES.index("not-sent")
    for name in ("requests", "verified"):
        draft.done[name] -= places.size
    draft.done |= {"not_sent": int(places.size), "not_sent_reason": reason}
    draft.stats["answered"] -= places.size


def heard_of(draft: Draft) -> Heard:
    """When a requester's lines pass orch, whose clock is as the host's: it was told just before it began."""
    warm, begun = draft.columns["phase"] == 0, int(draft.columns["sent_ns"][draft.columns["phase"] == 1].min())
    told_ns = begun - 50_000
    warm_ns = int(draft.columns["received_ns"][warm].max()) if warm.any() else told_ns
    done_ns = draft.done["anchor_end"]["monotonic_ns"] + 900_000
    return Heard(warm_ns=max(warm_ns, told_ns - 400_000), told_ns=told_ns, done_ns=done_ns)


def rows_of(draft: Draft) -> dict[str, np.ndarray]:
    """Its columns, with the parts of every task."""
    return with_parts(draft.columns, draft.cell.calls, at_once=draft.cell.is_at_once)


def with_parts(columns: dict[str, np.ndarray], calls: int, *, at_once: bool = False) -> dict[str, np.ndarray]:
    """The same with equally long parts of every task; of one that failed the last has failed, unless it was never sent.

    Those that are made at once all take as long as the task.
    """
    if calls == 1:
        return columns
    asked = np.flatnonzero(columns["status"] != STATUSES.index("not-sent"))
    of, place = np.repeat(asked, calls), np.tile(np.arange(1, calls + 1), asked.size)
    parts = {name: values[of] for name, values in columns.items()}
    begun, took = parts["sent_ns"], parts["received_ns"] - parts["sent_ns"]
    if not at_once:
        parts["sent_ns"] = parts["intended_ns"] = begun + took * (place - 1) // calls
        parts["received_ns"] = begun + took * place // calls
    parts |= {name: parts[name] // calls for name in ("bytes_sent", "bytes_received")}
    parts["status"] = np.where(place == calls, parts["status"], 0)
    parts |= {"parent": parts["sequence"], "sequence": place, "kind": np.full(of.size, PART)}
    both = {name: np.concatenate([values, parts[name]]) for name, values in columns.items()}
    order = np.argsort(both["received_ns"], kind="stable")
    return {name: values[order] for name, values in both.items()}


def mixed_places(operation: p.Operation, sequences: np.ndarray, seed: int) -> np.ndarray:
    """The place in its mix, from 1, of the operation that each request asks."""
    drawn = np.asarray(mix_order([mixed.weight for mixed in operation.mix], seed), dtype=np.int64)
    return 1 + drawn[(sequences - 1) % drawn.size]


def slower_by_place(operation: p.Operation, rows: int, seed: int) -> np.ndarray:
    """How many times as long each request takes: as many as its operation's place in the mix; once without one."""
    return mixed_places(operation, np.arange(1, rows + 1), seed) if operation.mix else np.ones(rows)


def mixed_columns(
    cell: p.Cell, operation: p.Operation, columns: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """What rows of a mix have in place of those of one operation; nothing without one."""
    if not operation.mix:
        return {}
    places = mixed_places(operation, columns["sequence"], seed)
    connection = columns["connection"]
    if cell.connection == "reuse":
        connection = connection * len(operation.mix) + places - 1
    sent, received = (
        np.asarray([getattr(mixed, name) + 20 for mixed in operation.mix])[places - 1]
        for name in ("request_bytes", "reply_bytes")
    )
    return {
        "kind": np.full(places.size, MIXED),
        "parent": places,
        "connection": connection,
        "bytes_sent": sent,
        "bytes_received": received,
    }
