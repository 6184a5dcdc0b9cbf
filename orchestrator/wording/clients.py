"""Which client asked which stack."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.findings.summary import CellSummary, Comparison


def unlike_clients(cells: Sequence[CellSummary], comparisons: Sequence[Comparison]) -> str:
    """Return which client asked which stack; empty where it was one client, or where each label names its own."""
    by_stack = [c for c in comparisons if c.factor == STACK]
    compared = {c.cell for c in by_stack} | {c.reference_cell for c in by_stack}
    # The library of a codec alone is named where stacks are said to differ.
    stacks = {cell.stack: cell for cell in cells if cell.id in compared and cell.kind != "codec"}.values()
    by_client: dict[str, list[str]] = {}
    for cell in stacks:
        by_client.setdefault(cell.client, []).append(cell.stack_label)
    if len(by_client) < 2 or all(cell.client in cell.stack_label for cell in stacks):
        return ""
    clients = "; ".join(f"{client} for {quantities.listed(labels)}" for client, labels in by_client.items())
    return f"The clients differ too, and are part of each difference: {clients}."
