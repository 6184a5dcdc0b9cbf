"""Which client asked which stack: a stack's time is that of its responder and its client together."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.analysis import words
from orchestrator.analysis.summary import CellSummary, Comparison
from orchestrator.experiment.model.factors import STACK


def unlike_clients(cells: Sequence[CellSummary], comparisons: Sequence[Comparison]) -> str:
    """A sentence for terminal and report where compared stacks have different clients that their labels leave out.

    Empty where all were asked by one client, or where each label names its own.
    """
    by_stack = [c for c in comparisons if c.factor == STACK]
    compared = {c.cell for c in by_stack} | {c.reference_cell for c in by_stack}
    # The library of a codec alone is named where stacks are said to differ.
    stacks = {cell.stack: cell for cell in cells if cell.id in compared and cell.kind != "codec"}.values()
    by_client: dict[str, list[str]] = {}
    for cell in stacks:
        by_client.setdefault(cell.client, []).append(cell.stack_label)
    if len(by_client) < 2 or all(cell.client in cell.stack_label for cell in stacks):
        return ""
    asked = "; ".join(f"{client} asks {words.listed(labels)}" for client, labels in by_client.items())
    return f"The clients differ too, and are part of each difference: {asked}."
