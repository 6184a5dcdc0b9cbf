"""What came of records that one schema wrote and another read: stack by stack, for each change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.findings.summary import FAILS, CellSummary, RunSummary
from orchestrator.wording.tables.table import Table, text_table

FACTOR = "schema_change"
_BAD = ("lost silently", "wrong type", "wrong value", "another field is wrong", "fails")  # how such outcomes begin


def sentence(cells: Iterable[CellSummary]) -> str:
    """Return which readers fail, or silently lose or mistake the field that changed; empty where nothing changed.

    `Lost silently: json with a field renamed; fails: avro with a field retyped.`
    """
    changed = [cell for cell in cells if cell.factors.get(FACTOR) not in (None, "none") and cell.details.outcomes]
    by_kind: dict[str, dict[str, list[str]]] = {}
    for cell in changed:
        for outcome in cell.details.outcomes:
            kind = next((kind for kind in _BAD if outcome.startswith(kind)), None)
            if kind is not None:
                changes = by_kind.setdefault(kind, {}).setdefault(cell.labels.stack, [])
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


def outcome_text(cell: CellSummary) -> str:
    """Return a cell's only outcome, or each with how often; empty without one."""
    if len(cell.details.outcomes) < 2:
        return next(iter(cell.details.outcomes), "")
    return "; ".join(f"{outcome} ({count:,} times)" for outcome, count in cell.details.outcomes.items())


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return a table for each number of records: an outcome for each stack and change; below, messages of readers."""
    by_records: dict[int, list[CellSummary]] = {}
    for cell in summary.cells:
        if cell.factors.get(FACTOR) is not None:
            by_records.setdefault(int(cell.factors["records"] or 0), []).append(cell)
    return tuple(_table(quantities.count(records, "record"), cells) for records, cells in by_records.items())


def _table(records: str, cells: Sequence[CellSummary]) -> Table:
    outcomes = {(cell.labels.stack, str(cell.factors[FACTOR])): outcome_text(cell) for cell in cells}
    changes = list(dict.fromkeys(change for _, change in outcomes))
    failed = [
        f"fails: {stack}, {BY_NAME[FACTOR].briefly(change)}: {outcome.removeprefix(FAILS)}"
        for (stack, change), outcome in outcomes.items()
        if outcome.startswith(FAILS)
    ]
    brief = {key: "fails" if outcome.startswith(FAILS) else outcome for key, outcome in outcomes.items()}
    stacks = dict.fromkeys(stack for stack, _ in outcomes)
    rows = [(stack, *(brief.get((stack, change), "") for change in changes)) for stack in stacks]
    return text_table(f"what came of the field that changed · evolution {records}", ("stack", *changes), rows, failed)
