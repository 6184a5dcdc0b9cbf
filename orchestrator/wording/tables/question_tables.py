"""The tables of every question, as terminal and report show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity import words as capacity
from orchestrator.questions.languages import words as languages
from orchestrator.questions.saturation import words as saturation
from orchestrator.questions.stability import words as stability
from orchestrator.wording.tables import evolution, mixes, stores, streams
from orchestrator.wording.tables.table import Table

TABLES: Mapping[str, Callable[[RunSummary], tuple[Table, ...]]] = {
    "Events": streams.tables,
    "Operations of the mix": mixes.tables,
    "Stability": stability.tables,
    "Changed schemas": evolution.tables,
    "Server time": stores.tables,
    "Language and protocol": languages.tables,
    "Saturation": saturation.tables,
    "Highest rate": capacity.tables,
}
"""By the name of the part of a page that shows them."""


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return the tables of all questions that a run answers."""
    return tuple(table for each in TABLES.values() for table in each(summary))
