"""What analysis says of how far cells lie apart and whose that is: frozen shapes.

They stand by themselves so that `RunSummary` holds them and `sharing` makes them. Shares are between 0 and 1; an
interval that reaches beyond is cut there. None means "not enough data to say", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.analysis.terms import Interval, Reason

FactorName = Literal["protocol", "responder", "requester"]
Standing = Literal["more", "less", "not resolved"]
Quantity = Literal["median", "throughput", "responder_cpu", "requester_cpu"]

TITLES: dict[str, str] = {
    "protocol": "protocol",
    "responder": "responder's language",
    "requester": "requester's language",
}
"""What each factor is called in running text."""

QUANTITIES: dict[Quantity, str] = {
    "median": "median latency",
    "throughput": "requests a second",
    "responder_cpu": "CPU time of the responder",
    "requester_cpu": "CPU time of the requester",
}


@dataclass(frozen=True, kw_only=True)
class Factor:
    """A factor that varies in the part of the matrix that shares are of."""

    name: FactorName
    levels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Share:
    """What an effect carries: that of one factor, or the interaction of several beyond what each does alone."""

    factors: tuple[FactorName, ...]
    share: float
    interval: Interval

    @property
    def title(self) -> str:
        """`responder's language`; of an interaction in short, `protocol × responder`."""
        return TITLES[self.factors[0]] if len(self.factors) == 1 else " × ".join(self.factors)


@dataclass(frozen=True, kw_only=True)
class Change:
    """How far a change of one factor usually goes: the root mean square ratio between two of its levels.

    It is e to the root of the mean squared difference of their logs, whatever the other factors are, so that it does not
    grow with the number of levels. `beyond`: of a language, whether it goes further than a change of the protocol; None
    where that was not asked. It follows the interval of the difference, corrected (Holm) over all that are asked of the
    run, of each quantity by itself.
    """

    factor: FactorName
    times: float
    interval: Interval
    beyond: Standing | None = None


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far one quantity's cells lie apart, and whose that is; `why_not` is a clause that says why it cannot be told.

    `apart`: e to the SD between the cells' logs: 2 means a factor of two either way is usual. `noise`: of the spread of
    single trials, what they differ by from block to block in one cell, which is in no share. `interactions`: all of
    them together.
    """

    quantity: Quantity
    blocks: int = 0
    apart: float | None = None
    apart_interval: Interval | None = None
    shares: tuple[Share, ...] = ()
    interactions: Share | None = None
    languages: Share | None = None
    changes: tuple[Change, ...] = ()
    noise: float | None = None
    noise_interval: Interval | None = None
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A cell in a matrix of medians; `is_counted`: it belongs to the part that shares are of. Milliseconds."""

    cell: str
    median: float | None
    is_counted: bool
    is_invalid: bool = False


@dataclass(frozen=True, kw_only=True)
class Medians:
    """The medians of one protocol: a row for each requester's language, a column for each responder's.

    `requesters` and `responders`: the language, and the implementation that stands for it.
    """

    protocol: str
    requesters: tuple[tuple[str, str], ...]
    responders: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Entry | None, ...], ...]


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A cell that takes no part, and why.

    `reason` where its medians cannot be compared. Nothing where the language of its responder is not known.
    """

    cell: str
    stack: str  # label
    reason: Reason | None = None
    instead: str = ""  # the stack that stands for the same languages
    gaps: tuple[tuple[str, str], ...] = ()  # factors and levels of which not every cell is there


@dataclass(frozen=True, kw_only=True)
class Shares:
    """One setting's matrix of protocols and languages; `factors` are those that vary in its largest complete part."""

    setting: str
    factors: tuple[Factor, ...]
    cells: int
    spreads: tuple[Spread, ...]
    medians: tuple[Medians, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def of_latency(self) -> Spread:
        """That of the medians, which is there always."""
        return self.spreads[0]

    @property
    def is_told(self) -> bool:
        """Whether it answers whose the spread is."""
        return not self.of_latency.why_not
