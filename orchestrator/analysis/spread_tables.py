"""How latencies spread, as text for a table: the same in terminal and report."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.analysis import words
from orchestrator.analysis.spread import FIRST, SHOWN, SPREADS, CellSpread

HEADS: Mapping[str, str] = {**SPREADS, FIRST: "first request / median"}

NOTE = (
    "SD, IQR and p99/p50 are of a trial's requests, and the first request of a connection over the median is that of a"
    " trial, too: the geometric mean of the trials', and its 95 % interval. A spread that some trial does not have is a"
    " dash: any request without a right reply leaves no SD."
)


def heads(unit: words.Unit) -> dict[str, str]:
    """The head of each column, by `spread.SHOWN`."""
    return {name: f"{HEADS[name]}, {unit.name}" if is_time(name) else HEADS[name] for name in SHOWN}


def is_time(name: str) -> bool:
    """Whether it is in ms; else it is a multiple of the median."""
    return name in ("sd", "iqr")


def value(name: str, amount: float, unit: words.Unit) -> str:
    """The number alone, a time in the table's unit."""
    return unit.text(amount) if is_time(name) else words.factor(amount)


def with_interval(name: str, of: CellSpread | None, unit: words.Unit) -> str:
    """`24.1 (20.3 to 28.6)`; a dash where there is none, a star for an interval wider than a factor of ten."""
    if of is None:
        return "-"
    told = value(name, of.value, unit)
    if of.interval is None:
        return told
    bounds = "*" if words.is_vague(of.interval) else " to ".join(value(name, bound, unit) for bound in of.interval)
    return f"{told} ({bounds})"
