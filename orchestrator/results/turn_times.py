"""The turns of a trial whose measured phase comes in turns, and which of them others disturbed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

LIMIT = 0.1
"""The share of a turn that may be lost beyond what the trial's turns lose in the middle."""

REST_S = 0.2
"""How long all ends rest after the turns of a block, so that one that uses CPU meanwhile is found."""


@dataclass(frozen=True, kw_only=True)
class TurnTime:
    """One turn as its requester printed it (`protos/process.md`, *Turns*); stamps in ns, durations in seconds."""

    requests: int
    warm_up: int  # requests before it that do not count
    begin_ns: int
    end_ns: int
    cpu_s: float
    waited_s: float | None = None
    stolen_s: float | None = None

    @property
    def length_s(self) -> float:
        """How long its window was."""
        return (self.end_ns - self.begin_ns) / 1e9


def measured_outside(rows: bytes, turns: Sequence[TurnTime]) -> int:
    """Return how many measured rows of a record (`results.records.written`) were sent outside of every turn."""
    import numpy as np

    from orchestrator.results.rows import columns_of

    columns = columns_of(rows)
    sent_ns = columns["sent_ns"][columns["phase"] != 0]
    begins, ends = (np.array([getattr(turn, name) for turn in turns]) for name in ("begin_ns", "end_ns"))
    place = np.searchsorted(begins, sent_ns, side="right") - 1
    return int(((place < 0) | (sent_ns > ends[place])).sum())


def disturbed(turns: Sequence[TurnTime]) -> tuple[bool, ...]:
    """Which turns lost more than a tenth beyond the middle turn of the trial: to the hypervisor, or waiting for a CPU.

    The rule never looks at a latency. At most half of the turns can be so; what all lose alike disturbs none of them.
    """
    flags = [False] * len(turns)
    for name in ("stolen_s", "waited_s"):
        lost = [(getattr(turn, name) or 0.0) / turn.length_s if turn.length_s else 0.0 for turn in turns]
        middle = median(lost) if lost else 0.0
        flags = [seen or share > middle + LIMIT for seen, share in zip(flags, lost, strict=True)]
    return tuple(flags)
