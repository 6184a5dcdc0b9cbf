"""How steady latencies are, as a terminal shows it: a line for each stack below the latencies of a setting."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import spread_tables, words
from orchestrator.analysis.answer import Row
from orchestrator.analysis.spread import SHOWN


def spreads_of(rows: Sequence[Row], unit: words.Unit) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Heads and rows of the table, of what any of them has; None without any."""
    names = [name for name in SHOWN if any(name in row.spreads for row in rows)]
    if not names:
        return None
    heads = spread_tables.heads(unit)
    return (
        ("spread (95 % interval)", *(heads[name] for name in names), ""),
        [
            (row.label, *(spread_tables.with_interval(name, row.spreads.get(name), unit) for name in names), "")
            for row in rows
        ],
    )
