"""Where the handling time of requests to a store goes: shapes alone, which `summary` holds and `store_times` computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Where = Literal["queue", "pool", "database", "service"]

PLACES: Final[tuple[Where, ...]] = get_args(Where)
"""Waiting for a thread or the event loop of the responder; waiting for a connection to the database; with it; the service's
own code."""


@dataclass(frozen=True, kw_only=True)
class StoreTimes:
    """Means over the measured requests of a trial, or medians of those over the trials of a cell; ms."""

    handling: float
    queue: float
    pool: float
    database: float
    service: float
    queries: float = 0.0  # a request, where the store counts them

    def share(self, where: Where) -> float:
        """The part of the handling time that is spent there."""
        took: float = getattr(self, where)
        return took / self.handling if self.handling else 0.0

    @property
    def accounted(self) -> float:
        """The sum of the parts over the handling time, which was measured apart from them."""
        return sum(self.share(where) for where in PLACES)

    @property
    def most(self) -> Where:
        """Where most of the time goes."""
        return max(PLACES, key=self.share)
