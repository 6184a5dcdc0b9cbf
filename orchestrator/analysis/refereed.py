"""Our figures of a cell over those of an independent load generator, round by round. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from statistics import geometric_mean
from typing import Any, Literal

from orchestrator.analysis import intervals
from orchestrator.analysis.summary import TrialSummary
from orchestrator.analysis.terms import Interval
from orchestrator.results.manifest import TurnRecord

Agreement = Literal["agrees", "differs", "cannot tell"]

_NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One quantity of both: geometric means over the rounds, as tables have them, and their ratio with its 95 % interval.

    `interval` is None with fewer than three rounds. `agreement`: whether all of it, or nothing of it, lies within the
    tolerance.
    """

    ours: float
    theirs: float
    ratio: float
    interval: Interval | None
    agreement: Agreement


@dataclass(frozen=True, kw_only=True)
class Refereed:
    """A cell beside a load generator: latencies in milliseconds, requests per second. `lost`: turns without figures."""

    tool: str
    rounds: int
    lost: int
    median_ms: Compared
    rate_per_s: Compared

    @property
    def agreement(self) -> Agreement:
        """That of both quantities: they differ where one does, and agree where both do."""
        found = {self.median_ms.agreement, self.rate_per_s.agreement}
        return "differs" if "differs" in found else "agrees" if found == {"agrees"} else "cannot tell"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def compare(trials: Iterable[TrialSummary], turns: Sequence[TurnRecord], within: float) -> Refereed | None:
    """The trials of a cell beside the turns in the same blocks; None where no block has both."""
    ours = {t.block: (t.median, t.throughput_per_s) for t in trials if t.median and t.throughput_per_s > 0}
    theirs = {
        t.block: (t.median_ns / _NS_PER_MS, t.requests / t.window_s)
        for t in turns
        if t.median_ns and t.requests and t.window_s
    }
    blocks = sorted(ours.keys() & theirs.keys())
    if not blocks:
        return None
    found = [
        _compared([float(ours[b][of] or 0.0) for b in blocks], [theirs[b][of] for b in blocks], within) for of in (0, 1)
    ]
    return Refereed(
        tool=turns[0].tool,
        rounds=len(blocks),
        lost=sum(t.median_ns is None for t in turns),
        median_ms=found[0],
        rate_per_s=found[1],
    )


def _compared(ours: Sequence[float], theirs: Sequence[float], within: float) -> Compared:
    result = intervals.paired(ours, theirs)
    interval = result.interval()
    return Compared(
        ours=geometric_mean(ours),
        theirs=geometric_mean(theirs),
        ratio=result.ratio,
        interval=interval,
        agreement=judge(interval, within),
    )


def judge(interval: Interval | None, within: float) -> Agreement:
    """Whether a ratio's interval lies within 1/(1 + within) and 1 + within, or beside that.

    >>> judge((0.9, 1.1), 0.25), judge((1.3, 1.4), 0.25), judge((1.2, 1.3), 0.25), judge(None, 0.25)
    ('agrees', 'differs', 'cannot tell', 'cannot tell')
    """
    if interval is None:
        return "cannot tell"
    low, high = (log(end) / log(1 + within) for end in interval)
    if low > 1 or high < -1:
        return "differs"
    return "agrees" if low >= -1 and high <= 1 else "cannot tell"


def turns_of(turns: Iterable[TurnRecord]) -> Mapping[str, tuple[TurnRecord, ...]]:
    """Turns by cell."""
    found: dict[str, list[TurnRecord]] = {}
    for turn in turns:
        found.setdefault(turn.cell, []).append(turn)
    return {cell: tuple(of) for cell, of in found.items()}
