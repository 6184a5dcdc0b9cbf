"""What analysis says of cells that differ in how many requests are in flight, or in the rate, alone: frozen shapes.

They stand by themselves so that `RunSummary` holds them and `saturation` makes them. Latencies are milliseconds, CPU shares
are of one core, and None means "not enough data to say".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.analysis.terms import Interval

Limit = Literal["responder", "requester", "both", "neither", "unknown"]


@dataclass(frozen=True, kw_only=True)
class LoadPoint:
    """One cell of a series.

    Throughput, the share of the highest and the share answered are geometric means over trials or blocks, with t-intervals
    (None with fewer than three). `left_out` says why the point takes no part in the knee, as a clause; empty where it does.
    """

    cell: str
    load: float  # requests in flight, or the rate asked for, per second
    load_text: str  # `50 in flight`, `1000/s`
    offered_per_s: float | None  # due per second, as drawn; None in a closed loop
    throughput_per_s: float | None  # verified replies per second
    interval: Interval | None
    of_highest: float | None  # over that of the load with the highest
    of_highest_interval: Interval | None
    answered: float | None  # throughput over what was offered; None in a closed loop
    answered_interval: Interval | None
    keeps_up: bool | None  # answered within the margin, nothing unsent, no queue that grows; None in a closed loop
    median: float | None
    p99: float | None
    requester_cpu: float | None
    responder_cpu: float | None
    not_sent: int = 0
    errors: int = 0
    is_busy: bool = False  # other things kept the machine busy in a third of the trials: CPU shares then say little
    left_out: str = ""
    client_share: float | None = None  # of the median, over a bare socket at the same load


@dataclass(frozen=True, kw_only=True)
class LoadSeries:
    """Cells of one stack in one setting, by ascending load; `highest` and the others are places in `points`.

    `knee`: the smallest load whose throughput lies within the margin of the highest. `knee_from` and `knee_by`: from which
    load to which it may lie, by the intervals of the ratios of all loads; None with fewer than three blocks.
    `is_reached`: more load was offered than at the knee. `limit`: whose CPU limits there; None where nothing shows a limit.
    `keeps_up_to`: the greatest rate up to which the stack keeps up at all rates; None in a closed loop, or at none.
    """

    factor: Literal["concurrency", "rate"]
    stack: str
    stack_label: str
    setting: str
    margin: float
    points: tuple[LoadPoint, ...]
    highest: int | None = None
    knee: int | None = None
    knee_from: int | None = None
    knee_by: int | None = None
    is_reached: bool = False
    limit: Limit | None = None
    keeps_up_to: int | None = None
    sentences: tuple[str, ...] = ()

    @property
    def has_client_shares(self) -> bool:
        """Whether a bare socket was measured at one of its loads."""
        return any(point.client_share is not None for point in self.points)

    @property
    def is_open(self) -> bool:
        """Whether requests come at a rate."""
        return self.factor == "rate"

    def remarks(self, place: int) -> tuple[str, ...]:
        """What is to be said of the point at that place, in words: `knee`, `beyond capacity`."""
        point = self.points[place]
        if point.left_out:
            return (f"left out: {point.left_out}",)
        said = {
            "highest": place == self.highest,
            "knee": place == self.knee and self.is_reached,
            "beyond capacity": point.keeps_up is False,
        }
        return tuple(name for name, holds in said.items() if holds)
