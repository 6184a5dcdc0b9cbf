"""The product of stacks, operations, placements, ways to call and loads, less what the file leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, TypeAlias

from orchestrator.catalogue.offers import NATIVE, Client, Language, Protocol
from orchestrator.errors import nearest
from orchestrator.experiment.model import factors
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.model.options import most_blocks
from orchestrator.experiment.plan import rules
from orchestrator.experiment.plan.cells import cell_id
from orchestrator.experiment.plan.contrasts import reference_stack, resolve_contrasts
from orchestrator.experiment.plan.loads import (
    at_step,
    is_search,
    refuse_mixed_searches,
    resolve_loads,
    resolve_searches,
    resolve_warmup,
)
from orchestrator.experiment.plan.own import own_calls, own_json
from orchestrator.experiment.plan.own.own_hosts import by_role
from orchestrator.experiment.plan.payloads import Asked, resolve_operations, with_digest
from orchestrator.experiment.plan.placements import is_elsewhere, resolve_placements
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
from orchestrator.experiment.plan.stacks import (
    Entry,
    WhyNot,
    describe_stack,
    label_stacks,
    omitting,
    resolve_entries,
    resolve_natives,
)
from orchestrator.experiment.plan.topology import NamedLanguages
from orchestrator.experiment.read.tree import Key
from services.python.contract.limits import Kind
from services.python.contract.lines import Load, Warmup

CONTROLS = 2  # A/A copies of the reference stack: with itself, three entries of one thing
_CONTROL = "`control: true` enters the reference again"
MAX_CELLS = 10_000
MAX_TRIALS = 50_000


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Every cell, and the parts that cells refer to by id."""

    stacks: tuple[Stack, ...]
    operations: tuple[Operation, ...]
    placements: tuple[Placement, ...]
    cells: tuple[Cell, ...]
    payload_files: tuple[PayloadFile, ...]
    reference: str
    contrasts: tuple[Contrast, ...]
    resolved: dict[str, Any]
    named: NamedLanguages  # whose programs it needs
    hosts: tuple[OwnHost, ...] = ()


@dataclass(frozen=True)
class _Use:
    """A stack that cells use, and where it came from."""

    stack: Stack
    entry: Entry


def build_matrix(
    located: Located,
    known: Mapping[str, Protocol],
    why_not: WhyNot = lambda _: "",
    hosts: Sequence[OwnHost] = (),
) -> Matrix:
    """Multiply the experiment out against the protocols there are. ExperimentError with everything that cannot be.

    `why_not`: why a language's programs cannot be started; unless given, all can. `hosts`: those that the experiment
    gives.
    """
    if is_own := own_calls.has_own_services(located):
        entries, operations = own_calls.own_entries(located, known), own_calls.asked_of_services()
    else:
        entries, operations = resolve_entries(located, known), resolve_operations(located)
    is_away = is_own and is_elsewhere(e.external for e in entries if e.external)
    hosts, placements = by_role(hosts, resolve_placements(located, hosts, is_elsewhere=is_away))
    located.raise_problems()
    questions = [_question(located, question) for question in operations]
    refuse_mixed_searches(located, (find for _, offers, _ in questions for _, find in offers))
    _refuse_too_many_cells(located, entries, questions, placements)
    rules.refuse_calls_of_codecs(located, (entry.path for entry in entries if entry.kind == "codec"), placements)
    entries = resolve_natives(located, entries, _refusals(located, questions, placements), why_not)
    located.raise_problems()
    uses: dict[str, _Use] = {}
    cells: dict[str, Cell] = {}
    excluder = _Excluder(located)
    for (question, offers, warmup), entry in product(questions, entries):
        operation = question.operation
        for (load, find), call, placement in product(offers, entry.calls, placements):
            of_all = "codec" if entry.kind == "codec" else kind_of(operation)
            stack = entry.stack_for(load, of_all)
            kind: Kind = "codec" if of_all == "codec" else "task" if stack.steps > 1 else kind_of(operation, call)
            values = factors.values(stack=stack, operation=operation, placement=placement, load=load, call=call)
            if excluder.leaves_out(values, is_native=bool(entry.natives)):
                continue
            cell = _cell(located, stack, operation, placement, values, load, warmup, kind, find)
            client = entry.client_for(load, kind)
            case = rules.Case(
                entry=entry,
                client=client,
                operation=operation,
                call=call,
                placement=placement,
                load=load if find is None else at_step(cell, 0).load,
                warmup=warmup,
                kind=kind,
                provider=located.experiment.provider,
                is_search=find is not None,
            )
            if reason := rules.refusal(case):
                located.add(entry.path, reason)
            elif cell.id in cells:
                is_native = entry.natives or uses[stack.id].entry.natives
                way = f"`{NATIVE}` is {client.name} here" if is_native else _CONTROL
                located.add(entry.path, f"stack {stack.id} is given twice; {way}.")
            else:
                cells[cell.id] = cell
                uses.setdefault(stack.id, _Use(stack=stack, entry=entry))
    excluder.report_idle()
    located.raise_problems()
    if not cells:
        located.add(("exclude",), "`exclude` leaves nothing to measure.")
        located.raise_problems()
    return replace(_assemble(located, uses, cells, operations, placements), hosts=hosts)


_Question: TypeAlias = tuple[Asked, tuple[tuple[Load, Find | None], ...], Warmup]
"""An operation with its loads, each with its search, and the warm-up."""


def _question(located: Located, question: Asked) -> _Question:
    kind = kind_of(question.operation)
    path: tuple[Key, ...] = ()
    own, warmup = None, None
    if located.experiment.operations:
        spec = located.experiment.operations[question.item]
        path = ("operations", question.item, spec.name)
        own, warmup = spec.options.load, spec.options.warmup
    return (
        question,
        resolve_searches(located, own, path, kind)
        if is_search(located, own)
        else tuple((load, None) for load in resolve_loads(located, own, path, kind)),
        resolve_warmup(located, warmup, path, kind),
    )


def _refusals(
    located: Located, questions: Sequence[_Question], placements: Sequence[Placement]
) -> Callable[[Entry, Client], str]:
    """Why a client cannot do all that an entry needs; what its protocol does not carry, no other client could."""
    excluder = _Excluder(located)

    def refused(entry: Entry, client: Client) -> str:
        for question, offers, _ in questions:
            operation = question.operation
            for (load, _), call, placement in product(offers, entry.calls, placements):
                stack = replace(entry, client=client).stack_for(load, kind_of(operation))
                values = factors.values(stack=stack, operation=operation, placement=placement, load=load, call=call)
                if excluder.leaves_out(values, is_native=True):
                    continue
                if reason := rules.refusal_of_client(entry, client, operation, call, kind_of(operation, call)):
                    return reason
        return ""

    return refused


def _refuse_too_many_cells(
    located: Located,
    entries: Sequence[Entry],
    questions: Sequence[_Question],
    placements: Sequence[Placement],
) -> None:
    """Count the product before it is made; what `exclude` would leave out counts too, as it is made first."""
    located.raise_problems()
    stacks = sum(prod(len(values) for values in entry.chosen.values()) for entry in entries)
    offered = sum(len(loads) for _, loads, _ in questions)
    count = stacks * offered * len(placements)
    if count > MAX_CELLS:
        sizes: dict[tuple[Key, ...], int] = {
            ("stacks",): stacks,
            ("operations",): offered,
            ("placements",): len(placements),
        }
        largest = max(sizes, key=sizes.__getitem__)
        located.add(
            largest,
            f"{stacks:,} stacks and connections x {offered:,} operations and loads x {len(placements):,} placements are"
            f" {count:,} cells; a plan has at most {MAX_CELLS:,}. Ask less at once.",
        )
        located.raise_problems()


def refuse_too_many_trials(located: Located, cells: Sequence[Cell]) -> None:
    """ExperimentError when the blocks of these cells are more trials than a plan may have."""
    repeats, trials = most_blocks(located.experiment.repeats), sum(cell.rounds for cell in cells)
    if trials * repeats > MAX_TRIALS:
        what = f"{len(cells):,} cells" if trials == len(cells) else f"{trials:,} probes of {len(cells):,} cells"
        located.add(
            ("repeats",),
            f"{what} x {repeats:,} repeats are {trials * repeats:,} trials; a plan has at most {MAX_TRIALS:,}."
            " Ask less at once.",
        )
        located.raise_problems()


def _cell(
    located: Located,
    stack: Stack,
    operation: Operation,
    placement: Placement,
    values: dict[str, Value],
    load: Load,
    warmup: Warmup,
    kind: Kind,
    find: Find | None,
) -> Cell:
    return Cell(
        id=cell_id(stack=stack.id, operation=operation.id, placement=placement.id, values=values, load=load, find=find),
        stack=stack.id,
        operation=operation.id,
        placement=placement.id,
        factors=values,
        load=load,
        warmup=warmup,
        timeout_s=located.experiment.timeout,
        kind=kind,
        find=find,
        mixed=len(operation.mix),
    )


def _assemble(
    located: Located,
    uses: dict[str, _Use],
    cells: dict[str, Cell],
    operations: Sequence[Asked],
    placements: Sequence[Placement],
) -> Matrix:
    always_named = {name for use in uses.values() for name in omitting(use.stack, use.entry.protocol)}
    stacks = list(label_stacks((use.stack for use in uses.values()), always_named))
    every = list(cells.values())
    contrasts = resolve_contrasts(located, stacks, every, {s.id for s in stacks if uses[s.id].entry.natives})
    located.raise_problems()
    reference = reference_stack(contrasts, stacks)
    resolved = {use.stack.id: describe_stack(use.stack, use.entry) for use in uses.values()}
    if located.experiment.control:
        twins = _twins(reference, stacks, uses)
        stacks += twins
        resolved |= {twin.id: resolved[twin.control_of or ""] for twin in twins}
        every += [
            replace(cell, id=cell.id.replace(cell.stack, twin.id, 1), stack=twin.id)
            for twin in twins
            for cell in cells.values()
            if cell.stack == twin.control_of
        ]
    used_operations = {cell.operation for cell in every}
    used_placements = {cell.placement for cell in every}
    refuse_too_many_trials(located, every)
    typed = {
        cell.operation
        for cell in every
        if resolved[cell.stack]["documents"] == own_json.TYPED == cell.factors[own_json.DOCUMENT]
    }
    needed = [with_digest(a) for a in operations if a.operation.id in used_operations]
    needed = [own_json.with_shape(located, a) if a.operation.id in typed else a for a in needed]
    _refuse_lost(located, uses, cells, needed, resolved)
    located.raise_problems()
    return Matrix(
        stacks=tuple(stacks),
        operations=tuple(a.operation for a in needed),
        placements=tuple(p for p in placements if p.id in used_placements),
        cells=tuple(every),
        payload_files=tuple(a.file for a in needed if a.file is not None),
        reference=reference,
        contrasts=contrasts,
        resolved=resolved,
        named=_named(uses.values()),
    )


def _named(uses: Iterable[_Use]) -> NamedLanguages:
    """Whose programs the stacks need; a responder that runs already is nobody's here."""
    named: list[tuple[tuple[Key, ...], Language]] = []
    for use in uses:
        if use.entry.responder is not None and use.entry.external is None:
            named.append(((*use.entry.path, "responder"), use.entry.responder.language))
        client = use.entry.protocol.client(use.stack.client)
        named.append(((*use.entry.path, "client"), client.language))
    return named


def _refuse_lost(
    located: Located,
    uses: Mapping[str, _Use],
    cells: Mapping[str, Cell],
    needed: Sequence[Asked],
    resolved: Mapping[str, Any],
) -> None:
    """Note each stack that cannot carry a document of these operations exactly."""
    limited = {question.operation.id: question for question in needed if question.limits}
    for cell in cells.values():
        if (question := limited.get(cell.operation)) is None:
            continue
        entry = uses[cell.stack].entry
        operation, chosen = question.operation, cell.factors[own_json.DOCUMENT]
        carried = own_json.way(resolved[cell.stack]["documents"], operation.payload, chosen, operation.shape)
        client = entry.protocol.client(uses[cell.stack].stack.client)
        ends = [client] if entry.responder is None else [entry.responder, client]
        if reason := own_json.refusal(question.limits, carried, ends):
            located.add(entry.path, f"{reason}. Leave this part out with `exclude`, or ask it of other stacks.")


def _twins(reference: str, stacks: Sequence[Stack], uses: Mapping[str, _Use]) -> list[Stack]:
    """The reference entered again under other names, once per control and per client of its loads."""
    entry = uses[reference].entry
    return [
        replace(
            stack, id=f"{stack.id}-control-{number}", label=f"control {number} of {stack.label}", control_of=stack.id
        )
        for number in range(1, CONTROLS + 1)
        for stack in stacks
        if uses[stack.id].entry is entry
    ]


class _Excluder:
    """Decides which cells the file leaves out, and which of its items left nothing out."""

    def __init__(self, located: Located) -> None:
        self._located = located
        self._items = [
            [(key, frozenset(getattr(item, key))) for key in item.model_fields_set]
            for item in located.experiment.exclude
        ]
        self._used = [False] * len(self._items)
        self._seen: dict[str, set[Value]] = {}

    def leaves_out(self, values: Values, *, is_native: bool = False) -> bool:
        """`is_native`: whether the file calls its client so."""
        is_left_out = False
        for key in {key for item in self._items for key, _ in item}:
            self._seen.setdefault(key, set()).update(
                (values[key], NATIVE) if key == "client" and is_native else (values[key],)
            )
        for index, item in enumerate(self._items):
            if all(
                values[key] in wanted or (key == "client" and is_native and NATIVE in wanted) for key, wanted in item
            ):
                self._used[index] = is_left_out = True
        return is_left_out

    def report_idle(self) -> None:
        for index, is_used in enumerate(self._used):
            if not is_used:
                self._located.add(("exclude", index), f"this excludes nothing: {self._why_idle(index)}")

    def _why_idle(self, index: int) -> str:
        """Why an item left nothing out, as a clause that names what no cell has at all, where that is a name."""
        for key, wanted in self._items[index]:
            if all(isinstance(value, str) for value in wanted) and not wanted & (seen := self._seen.get(key, set())):
                near = {other for value in wanted for other in nearest(str(value), map(str, seen))}
                meant = f". Did you mean {' or '.join(sorted(near))}?" if near else "."
                return f"no cell has `{key}: {', '.join(sorted(map(str, wanted)))}`{meant}"
        return "no cell of the matrix matches it."
