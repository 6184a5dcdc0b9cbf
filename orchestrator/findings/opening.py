"""How long opening connections takes: types that `summary` holds and `openings` computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Step = Literal["connect", "tls"]

STEPS: Final[tuple[Step, ...]] = get_args(Step)
NOT_TOLD: Final = "not told by the library"
COUNTED_BY: Final = "connections"  # the check that counts by how many connections requests came


@dataclass(frozen=True, kw_only=True)
class TrialOpening:
    """Median times of one trial's TCP and TLS handshakes, ms, the mean over its requesters; None where unknown.

    `told`: of how many connections.
    """

    told: int
    connect: float | None
    tls: float | None


@dataclass(frozen=True, kw_only=True)
class CellOpening:
    """Of a cell: how many connections carried the measured requests of a trial (the median over trials), and what they took.

    `connect` and `tls` are the geometric means of the trials' medians, ms, with 95 % intervals (None with fewer than three
    trials); None where the library does not tell. `told`: of how many connections it did, all trials together.
    """

    connections: float | None
    told: int = 0
    connect: float | None = None
    connect_interval: tuple[float, float] | None = None
    tls: float | None = None
    tls_interval: tuple[float, float] | None = None
