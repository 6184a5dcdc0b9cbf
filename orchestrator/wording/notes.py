"""What a reader must know beside the answer: what differs between stacks, how JSON travels, where a store spends time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan.cells import beyond_defaults
from orchestrator.experiment.plan.contrasts import PARTS, PROTOCOL
from orchestrator.experiment.plan.own import own_json
from orchestrator.experiment.plan.plan import stack_of
from orchestrator.findings import validity
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.capacity import words as capacity_words
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.evolution import words as evolution
from orchestrator.questions.languages.find import QUESTION as LANGUAGES
from orchestrator.questions.languages.words import sentence as of_languages
from orchestrator.questions.sameness import words as sameness
from orchestrator.questions.sameness.find import QUESTION as SAMENESS
from orchestrator.questions.stores import words as store_words
from orchestrator.wording import message_sizes, other_questions
from orchestrator.wording.grounds import crossings

# A part as a sentence calls it, where an article alone does not do.
_CALLED = {"connection": "the connection policy", "reading": "which fields are read"}


def notes(summary: RunSummary) -> tuple[str, ...]:
    """Return what a reader must know beside the answer, a sentence each, the nearest to the question first."""
    invalid = validity.invalid_cells(summary.cells, summary.checks)
    valid = [cell for cell in summary.cells if cell.id not in invalid]
    stacks = [stack_of(stack) for stack in summary.plan.get("stacks", ())]
    every = (
        *(f"Not the same work: {sameness.sentence(each)}." for each in SAMENESS.of(summary)),
        *filter(None, map(of_languages, LANGUAGES.of(summary))),
        *(ways[0] for ways in other_questions.steadiest(summary)),
        *crossings(AXES.of(summary)),
        *map(capacity_words.sentence, CAPACITY.of(summary).rates),
        evolution.sentence(summary.cells),
        store_words.sentence(summary.cells),
        *message_sizes.sentences(valid, summary.comparisons, summary.matters),
        own_json.sentence(summary.plan),
        library_defaults(summary.plan),
        differences(summary.comparisons),
        unlike_clients(summary.cells, summary.comparisons),
        *contrasts.work_sentences(stacks, summary.plan.get("resolved", {})),
    )
    return tuple(dict.fromkeys(filter(None, every)))


def library_defaults(plan: Mapping[str, Any]) -> str:
    """Name the cells beyond a default of common libraries, which users of these would meet; empty without one."""
    stacks = {stack["id"]: stack["label"] for stack in plan.get("stacks", ())}
    operations = {operation["id"]: operation["label"] for operation in plan.get("operations", ())}
    cells = {
        cell["id"]: f"{stacks[cell['stack']]} at {operations[cell['operation']]}" for cell in plan.get("cells", ())
    }
    clauses = [
        f"{default} ({quantities.listed(list(dict.fromkeys(cells[cell] for cell in beyond)))})"
        for default, beyond in beyond_defaults(plan).items()
    ]
    return f"Limits raised here that common libraries have by default: {'; '.join(clauses)}." if clauses else ""


def differences(comparisons: Sequence[Comparison]) -> str:
    """One sentence over all comparisons of medians; empty where the plan does not say what its stacks are made of.

    It says "the protocol" of codec and transport alone.
    """
    text = clauses(comparisons)
    if not text:
        return ""
    known = {part for comparison in _compared(comparisons) for part in comparison.differs_in}
    named = known | {part for comparison in _compared(comparisons) for part in comparison.may_differ_in}
    if named <= set(PROTOCOL):
        return f"What differs is the protocol, and nothing else: {text}."
    if not named & set(PROTOCOL):
        return f"The protocol is the same: {text}."
    verb = "may differ" if known <= set(PROTOCOL) else "differs"
    return f"More than the protocol {verb} here, and a difference is the protocol's alone only where stated: {text}."


def clauses(comparisons: Sequence[Comparison]) -> str:
    """`cbor and avro differ from json in the codec; grpc differs in the codec and the transport`, without a full stop."""
    found: list[str] = []
    for reference in dict.fromkeys(c.reference_label for c in _compared(comparisons)):
        by_parts: dict[tuple[str, str], list[str]] = {}
        for label, members in _by_stack([c for c in comparisons if c.reference_label == reference]):
            parts = _parts([m.differs_in for m in members]), _parts([m.may_differ_in for m in members])
            by_parts.setdefault(parts, []).append(label)
        for number, ((known, unknown), labels) in enumerate(by_parts.items()):
            beside = "" if number else f" from {reference}"
            told = [f"{'differs' if len(labels) == 1 else 'differ'}{beside} in {known}"] if known else []
            told += [f"may differ{'' if known else beside} in {unknown}, of which nothing is known"] if unknown else []
            found.append(f"{quantities.listed(labels)} {', and '.join(told)}")
    return "; ".join(found)


def _compared(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [c for c in comparisons if c.statistic == "median" and not c.control and (c.differs_in or c.may_differ_in)]


def _by_stack(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, list[Comparison]]]:
    found: dict[str, list[Comparison]] = {}
    for comparison in _compared(comparisons):
        found.setdefault(comparison.stack_label, []).append(comparison)
    yield from found.items()


def _parts(settings: Sequence[Collection[str]]) -> str:
    """What differs in every setting of a stack, and then what differs in some."""
    always = [part for part in PARTS if all(part in named for named in settings)]
    sometimes = [part for part in PARTS if part not in always and any(part in named for named in settings)]
    text = [_listed(always)] if always else []
    text += [f"{_listed(sometimes)} in some settings"] if sometimes else []
    return ", and in ".join(text)


def _listed(parts: Sequence[str]) -> str:
    return quantities.listed([_CALLED.get(part, f"the {part}") for part in parts])


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
