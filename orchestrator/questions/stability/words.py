"""How latencies spread, as text for a table: the same in terminal and report."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator import quantities
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.trial_values import FIRST, SHOWN_SPREADS, SPREADS
from orchestrator.statistics.intervals import Mean
from orchestrator.wording.tables.table import Table, text_table

HEADS: Mapping[str, str] = {**SPREADS, FIRST: "first request / median"}

NOTE = (
    "SD, IQR and p99/p50 are of a trial's requests, and the first request of a connection over the median is that of a"
    " trial, too: the geometric mean of the trials', and its 95 % interval. A spread that some trial does not have is a"
    " dash: any request without a right reply leaves no SD."
)


def is_time(name: str) -> bool:
    """Whether it is in ms; else it is a multiple of the median."""
    return name in ("sd", "iqr")


def value(name: str, amount: float, unit: quantities.Unit) -> str:
    """The number alone, a time in the table's unit."""
    return unit.text(amount) if is_time(name) else quantities.factor(amount)


def with_interval(name: str, spread: Mean | None, unit: quantities.Unit) -> str:
    """`24.1 (20.3 to 28.6)`; a dash where there is none, a star for an interval wider than a factor of ten."""
    if spread is None:
        return "-"
    text = value(name, spread.value, unit)
    if spread.interval is None:
        return text
    bounds = " to ".join(value(name, bound, unit) for bound in spread.interval)
    return f"{text} ({'*' if quantities.is_vague(spread.interval) else bounds})"


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return how steady latencies are, a table for each setting, where the plan wants it."""
    settings: dict[str, list[CellSummary]] = {}
    for cell in summary.cells if summary.plan.stability else ():
        settings.setdefault(cell.setting, []).append(cell)
    shown = []
    for setting, cells in settings.items():
        unit = quantities.unit_for(cell.distribution.median for cell in cells if cell.distribution)
        names = [name for name in SHOWN_SPREADS if any(name in cell.means for cell in cells)]
        rows = [(c.labels.stack, *(with_interval(name, c.means.get(name), unit) for name in names)) for c in cells]
        heads = [f"{HEADS[name]}, {unit.name}" if is_time(name) else HEADS[name] for name in names]
        if names:
            shown.append(text_table(f"spread (95 % interval) · {setting}", ("stack", *heads), rows, (NOTE,)))
    return tuple(shown)
