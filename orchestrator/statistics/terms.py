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
    """Why a comparison is not decided, a load is left out, or nothing is predicted.

    The first group has no interval, the second has one that decides nothing.
    """

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
    CORRECTED = "corrected"  # the correction for many comparisons alone widens the interval; numbers: compared
    CONTROL = "control"  # the reference differs from itself by as much; numbers: difference
    DISTURBED = "disturbed unequally"  # others held up the two sides; numbers: cell, reference
    FLOOR_MOVED = "floor moved"  # between two runs, the floor may account for it
    DOUBTED = "doubted"  # between two runs, conditions differ; names: what the numbers alone say

    FAILED_TRIALS = "failed trials"  # numbers: trials
    NOT_MEASURED = "not measured"  # no trial was made
    NO_REPLY = "no reply"  # a trial has no right reply

    # Why nothing is predicted; names: the placement, or what it is of, then the operation, or `more` and `fewer`
    OWN_CALLS = "own calls"  # whose sizes nobody varies
    NO_CELLS = "no cells"  # none that a cost model describes
    LOSSY = "lossy"  # the link is to lose packets; numbers: share
    LINK = "link"  # it was not as configured
    FEW_SIZES = "few sizes"  # numbers: each of them
    FEW_DISTANCES = "few distances"  # numbers: each round trip
    NOT_WHOLE = "not whole"  # opening takes no whole number of round trips; numbers: trips
    OTHER_TRIPS = "other trips"  # opening takes others than the protocol does; numbers: trips, low, high
    OTHER_WINDOWS = "other windows"  # a cell has others than its series; numbers: size, trips
    BEYOND = "beyond"  # the place is too far from what was measured; numbers: value, low, high
    NO_RATE = "no rate"  # of the run's links, while another one is wanted
    SEVERAL_RATES = "several rates"  # of the run's links, and none is wanted; numbers: low, high
    MISSED = "missed"  # its held-out cells lay too far off; numbers: p90
    FULL = "full"  # the map has as many stacks as it may; numbers: most


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why nothing is decided: the cells that cause it (ids), its numbers, and names of checks or runs."""

    kind: ReasonKind
    cells: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def because(kind: ReasonKind, *names: str, cells: tuple[str, ...] = (), **numbers: float) -> Reason:
    """Return the reason with these names and numbers."""
    return Reason(kind=kind, cells=cells, names=names, numbers=numbers)
