"""The product of stacks, operations, placements, ways to call and loads, less what the file leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any, TypeAlias

from orchestrator.catalogue.offers import Protocol
from orchestrator.experiment.model import factors
from orchestrator.experiment.model.address import is_loopback
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import STACK
from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.model.options import most_blocks
from orchestrator.experiment.plan import rules
from orchestrator.experiment.plan.cells import cell_id
from orchestrator.experiment.plan.contrasts import resolve_contrasts
from orchestrator.experiment.plan.loads import refuse_mixed_searches, resolve_loads, resolve_warmup
from orchestrator.experiment.plan.own import json_documents, own_calls
from orchestrator.experiment.plan.own.own_hosts import by_role
from orchestrator.experiment.plan.payloads import PlannedOperation, resolve_operations, with_digest
from orchestrator.experiment.plan.placements import resolve_placements
from orchestrator.experiment.plan.plan import (
    Cell,
    Contrast,
    Find,
    Operation,
    OwnHost,
    PayloadFile,
    Placement,
    Stack,
    kind_of,
)
from orchestrator.experiment.plan.stacks import Entry, describe_stack, label_stacks, omitting, resolve_entries
from orchestrator.experiment.read.problems import either
from services.python.contract.limits import Kind
from services.python.contract.lines import Load, Warmup

CONTROLS = 2  # A/A copies of the reference stack: with itself, three entries of one thing
_CONTROL = "`control: true` enters the reference again"
MAX_CELLS = 10_000
MAX_TRIALS = 50_000


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Every cell, and the parts that cells refer to by id, as plans have them."""

    stacks: tuple[Stack, ...]
    operations: tuple[Operation, ...]
    placements: tuple[Placement, ...]
    cells: tuple[Cell, ...]
    payload_files: tuple[PayloadFile, ...]
    reference: str
    contrasts: tuple[Contrast, ...]
    resolved: dict[str, Any]
    hosts: tuple[OwnHost, ...] = ()


_Question: TypeAlias = tuple[PlannedOperation, tuple[tuple[Load, Find | None], ...], Warmup]
"""An operation with its loads, each with its search, and the warm-up."""


@dataclass
class _Cells:
    """The cells so far, with the stacks that they use, and the item of the file that each stack came from."""

    cells: dict[str, Cell] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)


def build_matrix(located: Located, known: Mapping[str, Protocol], hosts: Sequence[OwnHost] = ()) -> Matrix:
    """Multiply the experiment out against the protocols and given hosts; ExperimentError with all that cannot be."""
    operations: Sequence[PlannedOperation]
    if is_own := own_calls.has_own_services(located):
        entries = own_calls.own_entries(located, known)
        operations = (PlannedOperation(operation=own_calls.OPERATION),)
    else:
        entries, operations = resolve_entries(located, known), resolve_operations(located)
    is_away = is_own and any(entry.external and not is_loopback(entry.external.host) for entry in entries)
    hosts, placements = by_role(hosts, resolve_placements(located, hosts, is_elsewhere=is_away))
    located.raise_problems()
    questions = [_question(located, planned) for planned in operations]
    refuse_mixed_searches(located, (find for _, loads, _ in questions for _, find in loads))
    _refuse_too_many_cells(located, entries, questions, placements)
    rules.refuse_calls_of_codecs(located, (entry.path for entry in entries if entry.kind == "codec"), placements)
    located.raise_problems()
    matrix = _Cells()
    excluder = _Excluder(located)
    for (planned, loads, warmup), entry in product(questions, entries):
        operation = planned.operation
        for (load, find), call, placement in product(loads, entry.calls, placements):
            kind: Kind = "codec" if entry.kind == "codec" else kind_of(operation, call)
            stack = entry.stack_for(load, kind)
            values = factors.values(stack=stack, operation=operation, placement=placement, load=load, call=call)
            if excluder.leaves_out(values):
                continue
            parts = {"stack": stack.id, "operation": operation.id, "placement": placement.id}
            cell = Cell(
                id=cell_id(**parts, values=values, load=load, find=find),
                stack=stack.id,
                operation=operation.id,
                placement=placement.id,
                factors=values,
                load=load,
                warmup=warmup,
                timeout_s=located.experiment.timeout,
                kind="task" if stack.steps > 1 else kind,
                find=find,
                mixed=len(operation.mix),
            )
            client = entry.client_for(load, cell.kind)
            case = rules.Case(entry=entry, client=client, operation=operation, placement=placement, cell=cell)
            _add_cell(located, matrix, stack, case)
    excluder.report_idle()
    located.raise_problems()
    if not matrix.cells:
        located.add(("exclude",), "`exclude` leaves nothing to measure.")
        located.raise_problems()
    return replace(_assemble(located, matrix, operations, placements), hosts=hosts)


def _question(located: Located, planned: PlannedOperation) -> _Question:
    kind = kind_of(planned.operation)
    path: Steps = ()
    own, warmup = None, None
    if located.experiment.operations:
        spec = located.experiment.operations[planned.item]
        path = ("operations", planned.item, spec.name)
        own, warmup = spec.options.load, spec.options.warmup
    return planned, resolve_loads(located, own, path, kind), resolve_warmup(located, warmup, path, kind)


def _add_cell(located: Located, matrix: _Cells, stack: Stack, case: rules.Case) -> None:
    entry, cell = case.entry, case.cell
    if reason := rules.refusal(case):
        located.add(entry.path, reason)
    elif cell.id in matrix.cells:
        located.add(entry.path, f"stack {stack.id} is given twice; {_CONTROL}.")
    else:
        matrix.cells[cell.id] = cell
        matrix.stacks.setdefault(stack.id, stack)
        matrix.entries.setdefault(stack.id, entry)


def _refuse_too_many_cells(
    located: Located, entries: Sequence[Entry], questions: Sequence[_Question], placements: Sequence[Placement]
) -> None:
    """Count the product before it is made; what `exclude` would leave out counts too, as it is made first."""
    located.raise_problems()
    stacks = sum(prod(len(values) for values in entry.chosen.values()) for entry in entries)
    offered = sum(len(loads) for _, loads, _ in questions)
    sizes = {"stacks": stacks, "operations": offered, "placements": len(placements)}
    if (count := prod(sizes.values())) > MAX_CELLS:
        sizes_in_words = " x ".join(f"{size:,} {what}" for what, size in sizes.items())
        reason = f"{sizes_in_words} are {count:,} cells; a plan has at most {MAX_CELLS:,}. Ask less at once."
        located.add((max(sizes, key=sizes.__getitem__),), reason)
        located.raise_problems()


def _refuse_too_many_trials(located: Located, cells: Sequence[Cell]) -> None:
    repeats, trials = most_blocks(located.experiment.repeats), sum(cell.rounds for cell in cells)
    if trials * repeats > MAX_TRIALS:
        count = f"{trials:,} cells or probes x {repeats:,} repeats are {trials * repeats:,} trials"
        located.add(("repeats",), f"{count}; a plan has at most {MAX_TRIALS:,}. Ask less at once.")
        located.raise_problems()


def _assemble(
    located: Located, matrix: _Cells, operations: Sequence[PlannedOperation], placements: Sequence[Placement]
) -> Matrix:
    entries = matrix.entries
    always_named = {name for stack in matrix.stacks.values() for name in omitting(entries[stack.id], stack.client)}
    stacks = list(label_stacks(matrix.stacks.values(), always_named))
    cells = list(matrix.cells.values())
    contrasts = resolve_contrasts(located, stacks, cells)
    located.raise_problems()
    named = [value for contrast in contrasts if contrast.factor == STACK for value in contrast.references]
    reference = str(named[0]) if named else stacks[0].id
    resolved = {name: describe_stack(stack, entries[name]) for name, stack in matrix.stacks.items()}
    if located.experiment.control:
        twins = _twins(reference, stacks, entries)
        stacks += twins
        resolved |= {twin.id: resolved[twin.control_of or ""] for twin in twins}
        cells += [
            replace(cell, id=cell.id.replace(cell.stack, twin.id, 1), stack=twin.id)
            for twin in twins
            for cell in matrix.cells.values()
            if cell.stack == twin.control_of
        ]
    _refuse_too_many_trials(located, cells)
    used_operations, used_placements = ({getattr(cell, part) for cell in cells} for part in ("operation", "placement"))
    typed = {
        cell.operation
        for cell in cells
        if resolved[cell.stack]["documents"] == json_documents.TYPED == cell.factors[json_documents.DOCUMENT]
    }
    needed = [with_digest(planned) for planned in operations if planned.operation.id in used_operations]
    for number, planned in enumerate(needed):
        if planned.operation.id in typed:
            needed[number] = json_documents.with_shape(located.folder, planned)
    return Matrix(
        stacks=tuple(stacks),
        operations=tuple(planned.operation for planned in needed),
        placements=tuple(placement for placement in placements if placement.id in used_placements),
        cells=tuple(cells),
        payload_files=tuple(planned.file for planned in needed if planned.file is not None),
        reference=reference,
        contrasts=contrasts,
        resolved=resolved,
    )


def _twins(reference: str, stacks: Sequence[Stack], entries: Mapping[str, Entry]) -> list[Stack]:
    """The reference entered again under other names, once per control and per client of its loads."""
    return [
        replace(
            stack, id=f"{stack.id}-control-{number}", label=f"control {number} of {stack.label}", control_of=stack.id
        )
        for number in range(1, CONTROLS + 1)
        for stack in stacks
        if entries[stack.id] is entries[reference]
    ]


class _Excluder:
    """Decides which cells the file leaves out, and which of its items left nothing out."""

    def __init__(self, located: Located) -> None:
        self._located = located
        items = located.experiment.exclude
        self._items = [{key: frozenset(getattr(item, key)) for key in item.model_fields_set} for item in items]
        self._used: set[int] = set()
        self._seen: dict[str, set[Value]] = {key: set() for item in self._items for key in item}

    def leaves_out(self, values: Values) -> bool:
        """Whether an item matches a cell."""
        for key, seen in self._seen.items():
            seen.add(values[key])
        matching = {n for n, item in enumerate(self._items) if all(values[key] in item[key] for key in item)}
        self._used |= matching
        return bool(matching)

    def report_idle(self) -> None:
        """Note each item that left nothing out, with what no cell has at all, where that is a name."""
        for number, item in enumerate(self._items):
            if number in self._used:
                continue
            absent = {key: values for key, values in item.items() if not values & self._seen[key]}
            known = {key: [str(value) for value in self._seen[key] if value is not None] for key in absent}
            reasons = [f"`{key}` is {either(sorted(names))} in all cells" for key, names in known.items()]
            reason = " and ".join(reasons) or "no cell of the matrix matches it"
            self._located.add(("exclude", number), f"this excludes nothing: {reason}.")
