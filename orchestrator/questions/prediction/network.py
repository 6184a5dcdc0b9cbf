"""What the network takes of a request: round trips, bytes at the link's rate, and waits for windows. Pure, vectorised.

A sender may have a window of bytes under way. Where a window needs less than a round trip at the link's rate, the sender
waits for the rest of it; where it needs longer, the link is what it waits for. So of each round the larger of the two
counts (Cardwell, Savage and Anderson 2000, "Modeling TCP latency", INFOCOM; the windows of RFC 5681 and RFC 6928): a
transfer may begin held back by its window, and end held back by the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orchestrator.questions.prediction.shapes import Windows

Floats = npt.NDArray[np.float64]

SEGMENT = 1448.0  # bytes of a full segment on Ethernet
HEADERS = 52.0  # of a segment: IPv4, and TCP with time stamps (RFC 7323)
SEGMENTS_AT_FIRST = 10  # RFC 6928
_ROUNDS = 24  # in which a window that grows reaches any size
_ENDLESS = 1e15


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Several windows at once: arrays of one shape, or one that numpy spreads over that of the transfers."""

    first: Floats  # `_ENDLESS` where it does not limit
    growth: Floats
    steady: Floats
    is_stepped: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, windows: Windows) -> Grid:
        """A single one."""
        return cls(
            first=np.asarray(_ENDLESS if windows.first is None else windows.first),
            growth=np.asarray(windows.growth),
            steady=np.asarray(_ENDLESS if windows.steady is None else windows.steady),
            is_stepped=np.asarray(windows.is_stepped),
        )

    @classmethod
    def of_all(cls, windows: list[Windows]) -> Grid:
        """One for each row."""
        grids = [vars(cls.of(each)) for each in windows]
        return cls(**{name: np.array([[each[name]] for each in grids]) for name in grids[0]})


def on_the_wire(body: float | Floats) -> Floats:
    """Bytes with the headers of their segments."""
    size = np.asarray(body, dtype=np.float64)
    return size + HEADERS * np.maximum(1.0, np.ceil(size / SEGMENT))


def wire_ms(size: float | Floats, rate_mbit: float | Floats) -> Floats:
    """How long bytes take at a rate; 0 at an infinite one."""
    return np.asarray(size, dtype=np.float64) * 8 / (np.asarray(rate_mbit, dtype=np.float64) * 1e3)


def waits_ms(size: float | Floats, rtt_ms: float | Floats, rate_mbit: float | Floats, windows: Grid) -> Floats:
    """How long a sender of so many bytes waits for windows, beyond the time that its bytes take at the link's rate."""
    left = np.asarray(size, dtype=np.float64)
    window = np.minimum(windows.first, windows.steady)
    parts = np.broadcast_arrays(left, window, rtt_ms, rate_mbit)
    left, window, rtt, rate = (np.array(part, dtype=np.float64) for part in parts)
    waited = np.zeros_like(left)
    for _ in range(_ROUNDS):
        left = left - window
        if not (left > 0).any():
            return waited
        stall = np.maximum(0.0, rtt - wire_ms(window, rate))
        window = np.minimum(window * windows.growth, windows.steady)
        again = np.where(windows.is_stepped, 1.0, np.minimum(1.0, left / window))
        waited = waited + np.where(left > 0, again * stall, 0.0)
    rest = left - window  # what is still to send has the steady window, round after round
    rounds = np.where(windows.is_stepped, np.ceil(rest / window), rest / window)
    return waited + np.where(rest > 0, rounds * np.maximum(0.0, rtt - wire_ms(window, rate)), 0.0)


def network_ms(
    opening: int, up: Floats, down: Floats, rtt_ms: Floats, rate_mbit: Floats, windows: Windows | Grid
) -> tuple[Floats, Floats, Floats]:
    """Milliseconds of distance, wire and windows: of opening, of one round trip, and of both messages."""
    distance = (opening + 1) * np.asarray(rtt_ms, dtype=np.float64)
    wire = wire_ms(up, rate_mbit) + wire_ms(down, rate_mbit)
    if isinstance(windows, Windows) and windows.rounds:
        forced = rounds_at(windows.rounds, np.maximum(up, down)) * np.asarray(rtt_ms, dtype=np.float64)
        return distance, wire, np.maximum(0.0, forced - distance - wire)
    grid = Grid.of(windows) if isinstance(windows, Windows) else windows
    held = waits_ms(up, rtt_ms, rate_mbit, grid) + waits_ms(down, rtt_ms, rate_mbit, grid)
    return distance, wire, held


def rounds_at(rounds: Sequence[tuple[float, float]], size: Floats) -> Floats:
    """Round trips in all of a message of so many bytes: on lines in logarithms of bytes, and on the last of them beyond."""
    places, trips = _as_lines(rounds)
    at_size = np.log(size)
    trips_there: Floats = np.interp(at_size, places, trips)
    if places.size > 1:
        trips_there = trips_there + np.maximum(at_size - places[-1], 0.0) * (trips[-1] - trips[-2]) / (
            places[-1] - places[-2]
        )
    return trips_there


def unsure_rounds(rounds: Sequence[tuple[float, float]], size: Floats) -> Floats:
    """By how many round trips a message between two sizes may differ: what it takes lies between theirs, nobody knows where.

    As a bridge between two known ends; beyond the largest size all that comes on top.
    """
    places, trips = _as_lines(rounds)
    there = rounds_at(rounds, size)
    above = np.minimum(np.searchsorted(places, np.log(size)), places.size - 1)
    low, high = trips[np.maximum(above - 1, 0)], trips[above]
    between = np.sqrt(np.maximum(there - low, 0.0) * np.maximum(high - there, 0.0))
    return np.asarray(between + np.maximum(there - trips[-1], 0.0))


def _as_lines(rounds: Sequence[tuple[float, float]]) -> tuple[Floats, Floats]:
    return np.log([place for place, _ in rounds]), np.array([trips for _, trips in rounds])
