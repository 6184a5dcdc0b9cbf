"""How many bytes the messages of compared cells are, in a sentence: what a codec or a way to call saves beside time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, STACK
from orchestrator.findings.summary import CellSummary, Comparison

_MOST_PAIRS = 6
_MOST_CODECS = 3  # beyond them the smallest and the largest are named


def sentences(cells: Sequence[CellSummary], comparisons: Sequence[Comparison], matters: float) -> tuple[str, ...]:
    """How large messages are, where that is asked.

    Of codecs alone how large they become; of calls compared by how they are made, how large their bodies are; of readers
    of few fields, how much they fetch for nothing. Nothing of bodies that differ by no more than `matters`, a share.
    """
    found = (_encoded(cells, comparisons), _bodies(cells, comparisons, matters), _over_fetched(cells, comparisons))
    return tuple(text for text in found if text)


def _encoded(cells: Sequence[CellSummary], comparisons: Sequence[Comparison]) -> str:
    controls = {c.cell for c in comparisons if c.control}
    by_operation: dict[str, dict[str, float]] = {}
    for cell in cells:
        if cell.kind == "codec" and cell.sizes.body is not None and cell.id not in controls:
            by_operation.setdefault(cell.operation, {})[cell.stack_label] = sum(cell.sizes.body)
    alike: dict[str, list[str]] = {}
    for operation, of in by_operation.items():
        alike.setdefault(_sizes(of), []).append(operation)
    told = [f"{_operations(operations)}: {text}" for text, operations in alike.items()]
    return f"Encoded, request and reply together: {'; '.join(told)}." if told else ""


def _over_fetched(cells: Sequence[CellSummary], comparisons: Sequence[Comparison]) -> str:
    """Of readers that need few fields, how much of replies nobody needs: `feed: 0 B with graphql and 5.3 kB with rest`."""
    controls = {c.cell for c in comparisons if c.control}
    by_operation: dict[str, dict[str, list[float]]] = {}
    for cell in cells:
        if cell.details.over_fetched_bytes is not None and cell.id not in controls:
            of = by_operation.setdefault(cell.operation, {})
            of.setdefault(cell.stack_label, []).append(cell.details.over_fetched_bytes)
    whole = {
        operation: {label: float(round(median(each))) for label, each in of.items()}
        for operation, of in by_operation.items()
    }
    told = [f"{operation}: {_sizes(of)}" for operation, of in whole.items()]
    return f"Fetched though nobody needs it, of each reply's content as JSON: {'; '.join(told)}." if told else ""


def _operations(names: Sequence[str]) -> str:
    """Several that differ in the schema's change alone are named once."""
    beginnings = {name.partition(", schema change: ")[0] for name in names}
    if len(names) > 1 and len(beginnings) == 1:
        return f"{beginnings.pop()}, whatever the change of schema"
    return quantities.listed(names)


def _sizes(totals: dict[str, float]) -> str:
    """`60 B with json and 40 B with cbor`; of many codecs the smallest and the largest."""
    alike: dict[str, list[str]] = {}
    for label, total in sorted(totals.items(), key=lambda item: item[1]):
        alike.setdefault(quantities.size(total), []).append(label)
    each = [f"{size} with {quantities.listed(labels)}" for size, labels in alike.items()]
    return quantities.listed(each) if len(each) <= _MOST_CODECS else f"from {each[0]} to {each[-1]}"


def _bodies(cells: Sequence[CellSummary], comparisons: Sequence[Comparison], matters: float) -> str:
    by_id = {cell.id: cell for cell in cells}
    by_operation: dict[str, list[str]] = {}
    said = set()
    for c in comparisons:
        is_asked = c.statistic == "median" and not c.control and c.factor != STACK and BY_NAME[c.factor] in OF_THE_CALL
        cell, reference = by_id.get(c.cell), by_id.get(c.reference_cell)
        if not is_asked or cell is None or reference is None or (text := _pair(c, cell, reference, matters)) is None:
            continue
        pair = (cell.operation, c.subject, c.value, c.reference_value)  # alike over each distance and under each load
        if pair not in said:
            said.add(pair)
            by_operation.setdefault(cell.operation, []).append(text)
    shown = {operation: texts[: max(1, _MOST_PAIRS // len(by_operation))] for operation, texts in by_operation.items()}
    left = len(said) - sum(map(len, shown.values()))
    told = [f"{operation}: {', '.join(texts)}" for operation, texts in shown.items()]
    more = f"; {quantities.count(left, 'more pair')} in the table" if left else ""
    return f"Bodies of request and reply together: {'; '.join(told)}{more}." if told else ""


def _pair(c: Comparison, cell: CellSummary, reference: CellSummary, matters: float) -> str | None:
    """`rest 412 B with gzip, 1,820 B with no compression (77 % fewer; on the wire 690 B and 2,100 B)`."""
    if cell.sizes.body is None or reference.sizes.body is None or not sum(reference.sizes.body):
        return None
    mine, theirs = sum(cell.sizes.body), sum(reference.sizes.body)
    if abs(mine / theirs - 1) <= matters:
        return None
    beside = quantities.fewer_or_more(mine / theirs)
    if cell.sizes.wire is not None and reference.sizes.wire is not None:
        beside += (
            f"; on the wire {quantities.size(sum(cell.sizes.wire))} and {quantities.size(sum(reference.sizes.wire))}"
        )
    return f"{c.subject} {quantities.size(mine)} {c.value}, {quantities.size(theirs)} {c.reference_value} ({beside})"
