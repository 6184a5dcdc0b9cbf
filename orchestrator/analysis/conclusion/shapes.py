"""The short answer as it is stored and shown: frozen shapes, which the summary holds and `conclude` makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from orchestrator.analysis.check_result import Overloaded

CANNOT = "This run cannot answer: "
"""How the sentence of a run begins that is of no use."""

Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What a sentence rests on: a side beside the reference of its setting.

    Medians, the difference (`name` less `reference`) and its interval are in `unit`. The difference and its interval are the
    ratio's of the run's comparison, times the reference's median: at least 95 %, as that is corrected for all comparisons.
    None means "not enough data to say". `standing` is the comparison's. Of found rates all are per second: higher is better.
    """

    setting: str
    name: str
    cell: str
    median: float | None
    reference: str
    reference_cell: str
    reference_median: float | None
    difference: float | None
    interval: Interval | None
    standing: str
    unit: str = "ms"


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """One plain sentence, at most 240 characters, and what stands behind it, a sentence each; empty where there is nothing.

    `left_out`: what failed checks leave out of the answer, and `overloads` the rates in it that a stack did not carry.
    `besides`: the answer to what else was asked about, read in place of `matters_from`: what the difference is worth, and up
    to which call. `sure`: from how many repeats, how small a difference they could have found, and what was not measured.
    `advice`: what to do. `invalid_because`: why the run, or part of it, cannot answer. `ahead`: who leads, by the names of
    the figures: one, or several that are equal or cannot be told apart; none where settings differ.
    """

    sentence: str
    figures: tuple[Figure, ...] = ()
    left_out: str = ""
    overloads: tuple[Overloaded, ...] = ()
    besides: str = ""
    matters_from: str = ""
    sure: str = ""
    advice: str = ""
    invalid_because: str = ""
    ahead: tuple[str, ...] = ()

    @property
    def cannot_answer(self) -> bool:
        """Whether nothing may be concluded from any of the run."""
        return self.sentence.startswith(CANNOT)

    @property
    def more(self) -> tuple[str, ...]:
        """The sentences behind the first, four at most, in the order in which they are read."""
        return tuple(
            text for text in (self.left_out, self.besides or self.matters_from, self.sure, self.advice) if text
        )
