"""What is compared with what: `compare_by` and `reference` of an experiment, and the pairs of cells that they ask for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from orchestrator.catalogue.offers import NATIVE
from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.factor import Factor, Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, OF_THE_CALL, STACK, of_the_call
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.model.store_factors import DRIVER, OWN_DRIVERS, STORE
from orchestrator.experiment.plan.plan import Cell, Contrast, Plan, Stack

_BRING_DRIVERS = (STORE, "protocol", "responder")
"""Factors whose values bring the library by which PostgreSQL is asked: fastapi has psycopg, go-net-http has pgx."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two cells that differ in the stack, or in one factor alone."""

    factor: str
    cell: Cell
    reference: Cell
    is_control: bool = False


def pairs(plan: Plan) -> Iterator[Pair]:
    """Every pair that the plan compares, contrast by contrast in the order of its cells; then controls with their original.

    Of two references each pair of cells is compared once: the later one with the earlier.
    """
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    original = plan.reference or plan.stacks[0].id
    asked = [cell for cell in plan.cells if cell.stack not in controls]
    for contrast in plan.contrasts:
        yield from _of_contrast(contrast.factor, contrast.references or (original,), asked)
    for cell in plan.cells:
        if cell.stack in controls and (beside := _of_stack(asked, cell, original)):
            yield Pair(factor=STACK, cell=cell, reference=beside, is_control=True)


def by_factor(plan: Plan, factor: str, references: Sequence[Value]) -> Iterator[Pair]:
    """Every pair of cells that differ in this factor alone, with these values as references, whatever the plan compares."""
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    yield from _of_contrast(factor, references, [cell for cell in plan.cells if cell.stack not in controls])


def _of_contrast(factor: str, references: Sequence[Value], cells: Sequence[Cell]) -> Iterator[Pair]:
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        alike.setdefault(_apart_from(factor, cell), []).append(cell)
    for place, reference in enumerate(references):
        for cell in cells:
            value = value_of(cell, factor)
            if value is None or value in references[: place + 1]:
                continue
            if factor == STACK:
                beside = _of_stack(alike[_apart_from(factor, cell)], cell, str(reference))
            else:
                found = alike[_apart_from(factor, cell)]
                beside = next((other for other in found if value_of(other, factor) == reference), None)
            if beside:
                yield Pair(factor=factor, cell=cell, reference=beside)


def all_pairs(plan: Plan) -> Iterator[Pair]:
    """Every two stacks that are asked alike, then the pairs by factors that the plan compares, then controls.

    Of two stacks the plan's reference is the reference, else the earlier one.
    """
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    original = plan.reference or plan.stacks[0].id
    alike: dict[tuple[object, ...], list[Cell]] = {}
    for cell in plan.cells:
        if cell.stack not in controls:
            alike.setdefault(cell.setting, []).append(cell)
    for cells in alike.values():
        for one, other in combinations(sorted(cells, key=lambda cell: cell.stack != original), 2):
            yield Pair(factor=STACK, cell=other, reference=one)
    yield from (pair for pair in pairs(plan) if pair.factor != STACK or pair.is_control)


def value_of(cell: Cell, factor: str) -> Value:
    """Its value of a factor; the id of its stack, where that is what is compared."""
    return cell.stack if factor == STACK else cell.factors[factor]


def _apart_from(name: str, cell: Cell) -> tuple[object, ...]:
    """What two cells have in common that differ in the stack, or in this factor and those that vary with it."""
    # A task and a call differ in their `calls` alone; cells of any other two kinds are never compared.
    work = "call" if cell.kind == "task" else cell.kind
    if name == STACK:
        return (cell.operation, cell.placement, cell.load, work)
    factor = BY_NAME[name]
    free = [factor, *(BY_NAME[other] for other in factor.varies_with)]
    load = {key: value for key, value in vars(cell.load).items() if key not in [f.attribute for f in free]}
    return (
        "" if factor.belongs_to == "operation" else cell.operation,
        "" if factor.belongs_to == "placement" else cell.placement,
        tuple(load.values()),
        work,
        tuple(_in_common(name, other.name, cell) for other in FACTORS if other not in free),
    )


def _in_common(compared: str, name: str, cell: Cell) -> Value:
    """Its value of a factor; none for a responder's usual library, where that comes with what differs."""
    value = cell.factors[name]
    return None if compared in _BRING_DRIVERS and name == DRIVER and value in OWN_DRIVERS else value


def _of_stack(cells: Sequence[Cell], cell: Cell, stack: str) -> Cell | None:
    """The stack's cell with the same requests; its only one where it makes them in another way.

    Of several it is the one that is like the cell in all that they differ in among themselves.
    """
    place = _apart_from(STACK, cell)
    alike = [other for other in cells if other.stack == stack and _apart_from(STACK, other) == place]
    same_call = [other for other in alike if of_the_call(other.factors) == of_the_call(cell.factors)]
    if same_call:
        return same_call[0]
    ways = [_way(other) for other in alike]
    varied = [factor for factor in OF_THE_CALL if len({way[factor] for way in ways}) > 1]
    mine = _way(cell)
    like = [o for o, way in zip(alike, ways, strict=True) if all(way[factor] == mine[factor] for factor in varied)]
    return like[0] if len(like) == 1 else None


def _way(cell: Cell) -> dict[Factor, Value]:
    """How its requests are made, without the library that its responder asks a database by unless told otherwise."""
    found = dict(zip(OF_THE_CALL, of_the_call(cell.factors), strict=True))
    return {factor: None if value in OWN_DRIVERS else value for factor, value in found.items()}


def compared(plan: Plan) -> str:
    """What is compared with what: `compression: gzip against no compression (4 pairs of cells)`."""
    labels = {stack.id: stack.label for stack in plan.stacks}
    asked = [pair for pair in pairs(plan) if not pair.is_control]
    texts = []
    for contrast in plan.contrasts:
        mine = [pair for pair in asked if pair.factor == contrast.factor]
        if contrast.factor == STACK:
            names = [labels[str(value)] for value in contrast.references or (plan.reference or plan.stacks[0].id,)]
            texts.append(f"stacks with {' and '.join(names)}")
            continue
        factor = BY_NAME[contrast.factor]
        for reference in contrast.references:
            values = dict.fromkeys(
                factor.briefly(value_of(pair.cell, factor.name))
                for pair in mine
                if value_of(pair.reference, factor.name) == reference
            )
            if values:
                texts.append(f"{factor.title}: {', '.join(values)} against {factor.briefly(reference)}")
    return f"{'; '.join(texts)} ({len(asked):,} {'pair' if len(asked) == 1 else 'pairs'} of cells)"


# ---- what an experiment file asks


def resolve_contrasts(
    located: Located, stacks: Sequence[Stack], cells: Sequence[Cell], natives: Container[str] = ()
) -> tuple[Contrast, ...]:
    """The contrasts of an experiment; what cannot be compared is noted as a problem at its place in the file.

    `natives`: the ids of stacks whose client the file calls `native`, which is then a name of it here, too.
    """
    compare_by, given = located.experiment.compare_by, located.experiment.reference or ()
    called = [stack for stack in stacks if stack.id in natives]
    values = {name: _values(name, stacks, cells, called) for name in compare_by}
    chosen: dict[str, list[Value]] = {name: [] for name in compare_by}
    for number, wanted in enumerate(given):
        for name, value in _find(located, number, wanted, values, stacks):
            chosen[name].append(value)
    for number, name in enumerate(compare_by):
        others = list(values[name])
        chosen[name] = list(dict.fromkeys(chosen[name] or others[:1]))
        if compare_by != (STACK,):
            reason = _refusal(name, chosen[name], others, cells)
            if reason:
                located.add(("compare_by", number), f"{reason} {_way_out(cells, compare_by)}".rstrip())
        elif _are_only_unlike(chosen[name], cells):
            located.add(
                ("stacks",),
                "no two of these stacks are compared: a codec alone is not compared with a stack that calls. Give each a"
                " stack of its own kind beside it, or ask about them in two experiments.",
            )
    return tuple(Contrast(factor=name, references=tuple(chosen[name])) for name in compare_by)


def reference_stack(contrasts: Sequence[Contrast], stacks: Sequence[Stack]) -> str:
    """The id of the stack that controls enter again, and that others are compared with where stacks are."""
    named = [str(value) for contrast in contrasts if contrast.factor == STACK for value in contrast.references]
    return named[0] if named else stacks[0].id


def _values(
    name: str, stacks: Sequence[Stack], cells: Sequence[Cell], natives: Sequence[Stack]
) -> dict[Value, tuple[str, ...]]:
    """What may be a reference, with what a person may call it."""
    if name == STACK:
        of_native = {stack.id: (stack.label.replace(stack.client, NATIVE),) for stack in natives}
        return {stack.id: (stack.label, stack.id, *of_native.get(stack.id, ())) for stack in stacks}
    factor = BY_NAME[name]
    every = dict.fromkeys(cell.factors[name] for cell in cells)
    also = {stack.client: (NATIVE,) for stack in natives} if name == "client" else {}
    return {value: (*factor.names(value), *also.get(str(value), ())) for value in every if value is not None}


def _find(
    located: Located,
    number: int,
    wanted: Value,
    values: dict[str, dict[Value, tuple[str, ...]]],
    stacks: Sequence[Stack],
) -> list[tuple[str, Value]]:
    """Which factor a reference is a value of, and which values it names; none where that is a problem, which is noted."""
    path, text = ("reference", number), str(wanted)
    found = [(name, value) for name, of in values.items() for value, names in of.items() if text in names]
    if not found and STACK in values:
        of_protocol = [stack for stack in stacks if stack.protocol == wanted]
        labels = ", ".join(f"'{stack.label}'" for stack in stacks)
        if len({stack.responder for stack in of_protocol}) > 1:
            located.add(path, f"'{wanted}' may be any of several stacks; name one of {labels}.")
            return []
        if of_protocol:
            return [(STACK, of_protocol[0].id)]
        if len(values) == 1:
            located.add(path, f"no stack is called '{wanted}'. The stacks are {labels}.")
            return []
    if not found:
        known = [names[0] for of in values.values() for names in of.values()]
        located.add(path, f"'{wanted}' is not a value of {_or(list(values))} here. {did_you_mean(text, known)}")
        return []
    factors = list(dict.fromkeys(name for name, _ in found))
    if len(factors) > 1:
        located.add(path, f"'{wanted}' may be a value of {_or(factors)}: compare by one of them at a time.")
        return []
    return found if text == NATIVE else found[:1]


def _refusal(name: str, references: Sequence[Value], values: Sequence[Value], cells: Sequence[Cell]) -> str:
    """Why nothing is compared by a factor, as a sentence; empty where something is."""
    if not values:
        return f"no cell has a value of {name}."
    if len(values) == 1:
        only = "one stack" if name == STACK else BY_NAME[name].names(values[0])[0]
        only = f"`{name}: {only}`" if name != STACK and BY_NAME[name].belongs_to == "call" else only
        return f"nothing to compare by {name}: all cells have {only}."
    if next(_of_contrast(name, references, cells), None) is None:
        shown = [str(v) if name == STACK else BY_NAME[name].names(v)[0] for v in references]
        return f"no cell differs from one of {_or(shown)} in the {name} alone."
    return ""


def _are_only_unlike(references: Sequence[Value], cells: Sequence[Cell]) -> bool:
    """Whether stacks have no pair at all, as the one kind stands beside the other alone."""
    kinds = {cell.kind == "codec" for cell in cells}
    return len(kinds) > 1 and next(_of_contrast(STACK, references, cells), None) is None


def _way_out(cells: Sequence[Cell], without: Container[str]) -> str:
    """What could be compared by instead, as a sentence."""
    able = []
    for name in (STACK, *BY_NAME):
        first = [value for value in dict.fromkeys(value_of(cell, name) for cell in cells) if value is not None]
        if name not in without and next(_of_contrast(name, first[:1], cells), None):
            able.append(name)
    return f"Here cells differ in: {', '.join(able)}." if able else ""


def _or(names: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
