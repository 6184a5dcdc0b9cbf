"""What the cost model reads of a run, what it finds, and how well it met the sealed cells: shapes alone.

Times are float milliseconds, sizes bytes, rates Mbit/s. `None` means "not known", never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from orchestrator.experiment.model.factor import Value
from orchestrator.statistics.terms import Interval, Reason

MOST_MISSED: Final = 0.10
"""The 90th percentile of a series' errors on its sealed cells, as a share, beyond which nothing is predicted of it."""

LEVEL: Final = 0.90
"""Of the intervals of what is predicted."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """What is fitted together: cells of one stack that differ in distance and size alone, with one request in flight.

    `call` is how its requests are made, `setting` that in words. `opens` are the fewest and the most round trips that
    opening a connection is known to take before the first request, (0, 0) on kept connections. `first_window` is what TCP
    or QUIC sends in its first round trip on a new connection, bytes. `window` is the one that its cells set, bytes.
    """

    id: str
    stack: str
    label: str
    call: tuple[Value, ...]
    setting: str
    operation: str
    connection: Literal["reuse", "per-request"]
    opens: tuple[int, int]
    first_window: float
    window: int | None


@dataclass(frozen=True, kw_only=True)
class ModelCell:
    """A cell as the model sees it. `rtt` and `median` are by block, in the order of `blocks`.

    `size` is the content of the larger message, `up` and `down` what a request and its reply take on the wire, headers of
    packets included.
    """

    cell: str
    series: str
    placement: str
    size: int
    up: float
    down: float
    rate_mbit: float | None
    blocks: tuple[int, ...]
    rtt: tuple[float, ...]
    median: tuple[float, ...]
    is_sealed: bool = False


@dataclass(frozen=True, kw_only=True)
class Windows:
    """What holds a transfer back: on a new connection the first window, which grows by a factor in each round trip.

    `steady` is the largest window that any round trip has, None without one. With `is_stepped` a round trip passes when a
    window is used up, else transfers go on while windows open bit by bit, and a part of one takes a part of a round trip.

    `rounds` replaces all that where no such windows describe what was measured, as under a control that paces what
    it sends: places of (bytes on the wire of the larger message, round trips in all, opening included), ascending.
    """

    first: float | None
    growth: float
    steady: float | None
    is_stepped: bool
    rounds: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unsure:
    """How exactly the cells of one size tell what they take: standard deviations of the hosts' time and of round trips.

    Where round trips were found from the same cells, `hosts` (ms) is that at the round trip `middle` (ms), from which on
    an error of `trips` counts; else `trips` is 0.
    """

    hosts: float
    trips: float
    middle: float


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The model of one series. Tuples along `sizes` are what it has at each measured size; between two lies a line.

    `hosts` is both hosts' own time, `by_block` the same for each block, `unsure` how exactly they are known. `scatter_hosts`
    and `scatter_network` are by which share of either a cell lies off the model, one standard deviation, with `freedom`
    degrees. Ranges are those of the cells fitted.
    """

    series: Series
    opening: int
    windows: Windows
    sizes: tuple[int, ...]
    up: tuple[float, ...]
    down: tuple[float, ...]
    hosts: tuple[float, ...]
    by_block: tuple[tuple[float, ...], ...]
    unsure: tuple[Unsure, ...]
    scatter_hosts: float
    scatter_network: float
    freedom: float
    cells: tuple[ModelCell, ...]  # that were fitted: what the rivals need
    rtt_range: Interval
    size_range: Interval
    rate_range: Interval | None


@dataclass(frozen=True, kw_only=True)
class SealedCell:
    """A cell that the fit never saw: measured, and predicted. `error` is predicted / measured - 1."""

    cell: str
    series: str
    label: str
    setting: str
    placement: str
    rtt: float
    size: int
    measured: float
    predicted: float
    interval: Interval
    is_covered: bool
    error: float
    rate_mbit: float | None = None  # None where nobody knows the link's


@dataclass(frozen=True, kw_only=True)
class Judged:
    """How the model did on the sealed cells: `median` and `p90` are of its absolute errors, `coverage` of its intervals.

    `by_series` has the 90th percentile of its errors. `winners` are places with a
    sealed cell at which one stack was faster by more than matters: how many there are, and at how many it was the predicted
    one. `not_judged` counts sealed cells that are invalid, were not measured, or whose series has no fit. `widened` has by
    series what intervals elsewhere are multiplied by, 1 or more: how much farther off the sealed cells lay than they say.
    """

    cells: tuple[SealedCell, ...]
    median: float
    p90: float
    coverage: float
    by_series: dict[str, float]
    winners: tuple[int, int]
    not_judged: int
    widened: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Modelled:
    """The cost model of a run: its fits, what the sealed cells say of it, and why what is missing was not fitted.

    `refusals` are of the whole run, and leave no fit; `not_fitted` has a reason by series (its `id`). `judged` is None
    where no cell was sealed.
    """

    series: tuple[Series, ...]
    fits: tuple[Fit, ...]
    judged: Judged | None
    refusals: tuple[Reason, ...]
    not_fitted: dict[str, Reason]
