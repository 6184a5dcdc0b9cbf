"""What came of records that one schema wrote and another read: stack by stack, for each change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.findings.summary import FAILS, CellSummary, RunSummary
from orchestrator.wording.tables.table import Table, text_table

FACTOR = "schema_change"
_BAD = ("lost silently", "wrong type", "wrong value", "another field is wrong", "fails")  # how such outcomes begin


@dataclass(frozen=True, kw_only=True)
class Evolutions:
    """One row for each stack, one column for each change; `notes` are the words of readers that failed.

    An outcome is empty where nothing came of it. `operation` is what was coded, without the change.
    """

    operation: str
    changes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    notes: tuple[str, ...]


def evolutions(cells: Iterable[CellSummary]) -> tuple[Evolutions, ...]:
    """A table for each number of records; none where no cell reads by another schema."""
    by_operation: dict[str, list[CellSummary]] = {}
    for cell in cells:
        if cell.factors.get(FACTOR) is not None:
            by_operation.setdefault(cell.operation.rpartition(", schema change: ")[0], []).append(cell)
    return tuple(_table(operation, members) for operation, members in by_operation.items())


def sentence(cells: Iterable[CellSummary]) -> str:
    """Which readers fail, and which lose or mistake the field that changed without a word; empty where nothing changed.

    `Lost silently: json with a field renamed; fails: avro with a field retyped.`
    """
    changed = [cell for cell in cells if cell.factors.get(FACTOR) not in (None, "none") and cell.outcomes]
    by_kind: dict[str, dict[str, list[str]]] = {}
    for cell in changed:
        for outcome in cell.outcomes:
            kind = next((kind for kind in _BAD if outcome.startswith(kind)), None)
            if kind is not None:
                changes = by_kind.setdefault(kind, {}).setdefault(cell.stack_label, [])
                change = BY_NAME[FACTOR].briefly(cell.factors[FACTOR])
                changes += [] if change in changes else [change]
    if not by_kind:
        return "No reader failed, or lost the field that changed." if changed else ""
    clauses = [
        f"{kind}: {'; '.join(f'{stack} with {quantities.listed(changes)}' for stack, changes in by_kind[kind].items())}"
        for kind in _BAD
        if kind in by_kind
    ]
    text = "; ".join(clauses)
    return f"{text[0].upper()}{text[1:]}."


def said(cell: CellSummary) -> str:
    """What came of it: its only outcome, or each with how often; empty where nothing did."""
    if len(cell.outcomes) < 2:
        return next(iter(cell.outcomes), "")
    return "; ".join(f"{outcome} ({count:,} times)" for outcome, count in cell.outcomes.items())


def _table(operation: str, cells: list[CellSummary]) -> Evolutions:
    changes = tuple(dict.fromkeys(str(cell.factors[FACTOR]) for cell in cells))
    stacks: dict[str, dict[str, str]] = {}
    for cell in cells:
        stacks.setdefault(cell.stack_label, {})[str(cell.factors[FACTOR])] = said(cell)
    failed = [
        f"{stack}, {BY_NAME[FACTOR].briefly(change)}: {outcome.removeprefix(FAILS)}"
        for stack, by_change in stacks.items()
        for change, outcome in by_change.items()
        if outcome.startswith(FAILS)
    ]
    return Evolutions(
        operation=operation,
        changes=changes,
        rows=tuple(
            (stack, tuple(_brief(outcomes.get(change, "")) for change in changes)) for stack, outcomes in stacks.items()
        ),
        notes=tuple(failed),
    )


def _brief(outcome: str) -> str:
    return FAILS.strip().removesuffix(":") if outcome.startswith(FAILS) else outcome


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return what came of each change, a row for each stack; below, the messages of readers that failed."""
    return tuple(
        text_table(
            f"what came of the field that changed · {table.operation}",
            ("stack", *table.changes),
            [(stack, *outcomes) for stack, outcomes in table.rows],
            tuple(f"fails: {note}" for note in table.notes),
        )
        for table in evolutions(summary.cells)
    )
