"""The operations of a mix, each by itself, as a terminal shows them below the latencies of a setting."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.answer import Row
from orchestrator.analysis.mixed_words import figures
from orchestrator.analysis.mixed_words import heads as heads_of


def mixed_of(rows: Sequence[Row], unit: words.Unit) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Heads and rows of the table; None where nothing is mixed."""
    found = [(row, of) for row in rows for of in row.mixed]
    if not found:
        return None
    heads = ("operation", "with", *heads_of(unit), "")
    return heads, [(of.label, row.label, *figures(of, unit), "") for row, of in found]
