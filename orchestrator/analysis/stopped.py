"""How a run that measures until its intervals are narrow enough came to its end: the shapes."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.analysis import words


@dataclass(frozen=True, kw_only=True)
class Width:
    """How far the interval of a pair's ratio of medians reaches to either side, relative (0.03: 3 %).

    None where fewer than three blocks hold a value of both.
    """

    cell: str
    reference_cell: str
    reaches: float | None


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """After how many blocks of at most how many a run ended, how narrow intervals were wanted, and how wide they are."""

    blocks: int
    at_most: int
    within: float
    widths: tuple[Width, ...]
    sentence: str


def reach(share: float) -> str:
    """How far an interval reaches, as people read it: `± 4.1 %`, `± 120 %`, and `more than ± 900 %` of all that is wider."""
    if share > words.MOST_CHANGE:
        return f"more than ± {words.percent(words.MOST_CHANGE)}"
    return f"± {words.percent(share)}"
