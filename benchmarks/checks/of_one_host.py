"""Errors of one of several requesters, as `injections` has those of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.runs import Draft


def begin_later(draft: Draft, size: float, _rng: np.random.Generator) -> None:
    """Let the second requester begin so much of its window later than the first, by a clock of its own."""
    if not draft.requester:
        return
    rows = np.flatnonzero(draft.columns["phase"] == 1)
    window = int(draft.columns["received_ns"][rows].max()) - int(draft.columns["sent_ns"][rows].min())
    of_its_boot = 3_600_000_000_000
    for name in ("sent_ns", "intended_ns", "received_ns"):
        draft.columns[name] = draft.columns[name] + int(size * window) + of_its_boot
    draft.done["begin_ns"] += int(size * window) + of_its_boot
    for name in ("anchor", "anchor_end"):
        draft.done[name]["wall_ns"] += int(size * window)
        draft.done[name]["monotonic_ns"] += int(size * window) + of_its_boot
    if draft.heard is not None:  # where several hosts ask; of processes of one host only their clock tells
        told = {name: at + int(size * window) for name, at in vars(draft.heard).items()}
        draft.heard = replace(draft.heard, **told)
