"""What every comparison is made of: an interval, a standing, and the reason why nothing is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, TypeAlias

Interval: TypeAlias = tuple[float, float]
"""Low and high bound. A tuple: thousands are stored, compared and unpacked, and JSON has them as lists."""

Standing = Literal["reference", "faster", "slower", "tie", "not resolved", "cannot tell", "less", "more"]
"""Of a cost or a spread `less` and `more` are what `faster` and `slower` are of a time."""


class ReasonKind(StrEnum):
    """Why a comparison is not decided. The first group has no interval, the second has one that decides nothing."""

    FEW_BLOCKS = "few blocks"  # numbers: blocks, needed
    CENSORED = "censored"  # the value is among failed requests; numbers: blocks, of, share
    MISSING = "missing"  # trials have too few requests for a value, or it is not counted; numbers: blocks, of
    UNSENT = "unsent"  # requests that were due and not sent may move the value; numbers: blocks, of, share
    NO_TRIAL = "no trial"  # every trial failed; numbers: failed
    UNDECODABLE = "undecodable"  # the reader fails
    SURVIVORS = "survivors"  # trials failed entirely, which may be the slow ones; numbers: failed, of
    SCHEDULE = "schedule"  # the schedule of events sets the value, not the stack
    INVALID = "invalid"  # a check failed; names: the checks

    OPEN = "open"  # the interval holds 1 and reaches beyond what matters
    NOISY = "noisy"  # the blocks differ too much
    CORRECTED = (
        "corrected"  # the blocks agree, the correction for many comparisons widens the interval; numbers: compared
    )
    CONTROL = "control"  # the reference differs from itself by as much; numbers: difference
    DISTURBED = "disturbed unequally"  # others held up the two sides; numbers: cell, reference
    FLOOR_MOVED = "floor moved"  # between two runs, the floor may account for it
    DOUBTED = "doubted"  # between two runs, conditions differ; names: what the numbers alone say


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why nothing is decided: the cells that cause it (ids), its numbers, and names of checks or runs."""

    kind: ReasonKind
    cells: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
