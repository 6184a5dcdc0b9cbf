"""How far a request's latency may be from the usual one: shapes and names, which `summary` holds and `spreads` computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

SpreadName: TypeAlias = Literal["sd", "iqr", "p99_to_p50"]

SPREADS: Final[Mapping[str, str]] = {"sd": "SD", "iqr": "IQR", "p99_to_p50": "p99/p50"}
"""What is compared, and what it is called in running text. SD and IQR are in ms, p99 over the median is a factor."""

SPREAD_NAMES: Final[tuple[SpreadName, ...]] = get_args(SpreadName)

FIRST: Final = "first_to_steady"
"""The first request of a connection over the median: shown beside them, and not compared."""

SHOWN: Final = (*SPREAD_NAMES, FIRST)
"""What a table shows, in this order; keys of `CellSummary.spreads`."""


@dataclass(frozen=True, kw_only=True)
class TrialSpread:
    """Of one trial's requests: SD and IQR in ms, p99 and the first request of a connection as multiples of the median.

    None with too few requests, or where a request without a right reply leaves it unknown: any leaves no SD, one among
    the slowest quarter no IQR, and one among the slowest hundredth no p99. `first_to_steady` is None where no connection
    is kept.
    """

    sd: float | None
    iqr: float | None
    p99_to_p50: float | None
    first_to_steady: float | None


@dataclass(frozen=True, kw_only=True)
class CellSpread:
    """One of them of a cell: the geometric mean of its trials', and its 95 % interval (None with fewer than three)."""

    value: float
    interval: tuple[float, float] | None
