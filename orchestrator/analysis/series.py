"""What a run shows along a numeric axis: shapes alone, which `summary` holds and the report draws.

Latencies and their differences are milliseconds. Points stand in the order of `at`, which is in the axis's own unit: the
round trip of a distance in ms as ping measured it, bytes, a count, requests per second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.analysis.terms import Interval

Scale = Literal["linear", "log"]

MOST_OFF = 0.15  # round trips between a slope and a whole number: what makes either end slower with the distance


@dataclass(frozen=True, kw_only=True)
class Point:
    """A cell on the axis; `wanted` is the round trip that was asked for, where `at` is the measured one."""

    cell: str  # id
    at: float
    median: float
    interval: Interval | None
    wanted: float | None = None


@dataclass(frozen=True, kw_only=True)
class Line:
    """One stack along the axis; `label` is its name in every table."""

    stack: str  # id
    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A cell's median less its reference's, at one place of the axis.

    `interval` is the 95 % t-interval over the blocks' own differences, of this place alone; None with fewer than three
    blocks. `standing` is that of the run's comparison of the two by the median.
    """

    at: float
    difference: float
    interval: Interval | None
    standing: str


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """Where a difference changes its sign, with the 95 % interval of that place (docs/statistics.md)."""

    at: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A stack's difference to a reference along the axis; `said` puts it into words."""

    stack: str  # id
    label: str
    reference_label: str
    points: tuple[Difference, ...]
    crossing: Crossing | None
    said: str


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What is compared along the axis within one setting: everything but the axis and the stack."""

    title: str
    lines: tuple[Line, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All that a run shows along one axis. `axis` is its name, `title` says what it is and in which unit."""

    axis: str
    title: str
    unit: str
    scale: Scale
    panels: tuple[Panel, ...]


@dataclass(frozen=True, kw_only=True)
class OpeningStep:
    """How many round trips a step of opening a connection takes: TCP's handshake (`connect`), or that of TLS behind it."""

    name: str
    round_trips: float
    interval: Interval | None


@dataclass(frozen=True, kw_only=True)
class RoundTrips:
    """How many round trips a request takes: the slope of its median latency over the measured round trip.

    `interval` is the 95 % t-interval over the blocks' slopes; None with fewer than three blocks. `at_zero` is what the
    line says of a round trip of 0 ms, `off_line` the largest distance between it and a measured mean, in ms: where that is
    large, latency is not round trips and a constant. `implied` is what the connection policy implies at least.
    """

    stack: str  # id
    label: str
    setting: str
    connection: str
    distances: int
    blocks: int
    round_trips: float
    interval: Interval | None
    at_zero: float
    off_line: float
    implied: int
    steps: tuple[OpeningStep, ...] = ()  # of opening a connection, where the library tells how long each took

    @property
    def nearest(self) -> int:
        """The whole number that is nearest to the slope."""
        return round(self.round_trips)

    @property
    def is_as_implied(self) -> bool:
        """Whether that is the number implied, and the slope no further from it than a measurement may be."""
        return self.nearest == self.implied and abs(self.round_trips - self.implied) <= MOST_OFF


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What the link of a placement was asked for, and what ping measured of it during the run; ms, Mbit/s, shares.

    `measured` is the median of all pings, `low` and `high` the smallest and the largest median of a reading; `lost` the
    share of pings without an answer. `why_not` says where it is not as wanted; empty where it is.
    """

    placement: str
    wanted: float | None
    jitter: float
    rate_mbit: float | None
    loss: float
    measured: float | None
    low: float | None
    high: float | None
    lost: float | None
    pings: int
    why_not: str


@dataclass(frozen=True, kw_only=True)
class WindowFit:
    """How much of a body passes in a round trip: the round trip over the slope of median latency over the body's size.

    `window` is the smallest window that the cells set, in bytes, None of cells that set none and stand beside such. Sizes
    are those of bodies, in the direction (`way`) in which they differ. `per_round_trip` is in bytes, its `interval` the 95 %
    t-interval over blocks, None with fewer than three; `mb_per_s` what that is in a second, 10^6 bytes, `expected_mb_per_s`
    what the window would be, and `of_window` the ratio of both. `at_zero` and `off_line` are ms, as in `RoundTrips`. `said`
    holds it against the window, and says why it is off where `is_off`.
    """

    stack: str  # id
    label: str
    setting: str
    placement: str
    way: Literal["request", "reply", "both"]
    window: int | None
    sizes: int
    blocks: int
    rtt: float  # ms, as ping measured it
    per_round_trip: float
    interval: Interval | None
    mb_per_s: float
    expected_mb_per_s: float | None
    of_window: float | None
    at_zero: float
    off_line: float
    is_off: bool
    said: str
