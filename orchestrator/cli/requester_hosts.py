"""What each of several requester hosts did, as a terminal shows it below the latencies of a setting."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.answer import Row
from orchestrator.analysis.requester_hosts import figures
from orchestrator.analysis.requester_hosts import heads as heads_of


def requester_hosts_of(rows: Sequence[Row], unit: words.Unit) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Heads and rows of the table; None where one host asks everywhere."""
    found = [(row, of) for row in rows for of in row.requester_hosts]
    if not found:
        return None
    heads = ("requester host", "asks", *heads_of(unit), "")
    return heads, [(of.host, row.label, *figures(of, unit), "") for row, of in found]
