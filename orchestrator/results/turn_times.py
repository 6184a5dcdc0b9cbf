"""The turns of a trial whose measured phase comes in turns, and which of them others disturbed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

LIMIT = 0.1
"""The share of a turn that may be stolen beyond what others lose: one tick of the kernel is more."""

WAITED_LIMIT = 0.5
"""The share that the requester may wait for a CPU beyond the trial's middle turn: up to here its middle request did not."""

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


@dataclass(frozen=True, kw_only=True)
class TrialMedian:
    """A trial's median, and of each turn that counts when it began (ns) and its median (ms); none without turns."""

    median: float
    turns: tuple[tuple[int, float], ...] = ()


def measured_outside(rows: bytes, turns: Sequence[TurnTime]) -> int:
    """Return how many measured rows of a record (`results.records.written`) were sent outside of every turn."""
    import numpy as np

    from orchestrator.results.rows import columns_of

    columns = columns_of(rows)
    sent_ns = columns["sent_ns"][columns["phase"] != 0]
    begins, ends = (np.array([getattr(turn, name) for turn in turns]) for name in ("begin_ns", "end_ns"))
    place = np.searchsorted(begins, sent_ns, side="right") - 1
    return int(((place < 0) | (sent_ns > ends[place])).sum())


def stolen_beside(turns: Iterable[TurnTime]) -> float:
    """Return the largest share that the quietest quarter of a block's turns, of all cells, lost to the hypervisor."""
    shares = sorted(_share(turn.stolen_s, turn) for turn in turns)
    return shares[len(shares) // 4] if shares else 0.0


def disturbed(turns: Sequence[TurnTime], stolen: float | None = None) -> tuple[bool, ...]:
    """Which turns lost more than `LIMIT` to the hypervisor beyond `stolen`, or waited beyond `WAITED_LIMIT`.

    `stolen` is as `stolen_beside` has it; None, in older runs: the share of the trial's middle turn. Waiting is compared
    within the trial, as a stack's own threads wait for each other. The rule never looks at a latency. Where all turns
    would be left out, none is.
    """
    flags = [False] * len(turns)
    for name, beside, limit in (("stolen_s", stolen, LIMIT), ("waited_s", None, WAITED_LIMIT)):
        lost = [_share(getattr(turn, name), turn) for turn in turns]
        middle = (median(lost) if lost else 0.0) if beside is None else beside
        flags = [seen or share > middle + limit for seen, share in zip(flags, lost, strict=True)]
    return (False,) * len(turns) if all(flags) else tuple(flags)


def _share(lost_s: float | None, turn: TurnTime) -> float:
    return (lost_s or 0.0) / turn.length_s if turn.length_s else 0.0
