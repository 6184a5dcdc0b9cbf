"""The turns of a trial whose measured phase comes in turns, and which of them others disturbed."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from orchestrator import record_layout

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
    """How many measured rows of a record (`results.records.written`) were sent outside of every turn."""
    columns = len(record_layout.COLUMNS)
    phase, sent = (record_layout.COLUMNS.index(name) for name in ("phase", "sent_ns"))
    numbers = memoryview(rows).cast("q")
    begins = [turn.begin_ns for turn in turns]
    outside = 0
    for is_measured, sent_ns in zip(numbers[phase::columns], numbers[sent::columns], strict=True):
        if is_measured:
            place = bisect(begins, sent_ns) - 1
            outside += place < 0 or sent_ns > turns[place].end_ns
    return outside


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
