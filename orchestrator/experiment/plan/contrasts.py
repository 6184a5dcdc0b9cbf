"""What is compared with what: `compare_by` and `reference` of an experiment, and the pairs of cells that they ask for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import BY_NAME, FACTORS, STACK, of_the_call
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.plan import Cell, Contrast, Plan, Stack


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
        tuple(cell.factors[other.name] for other in FACTORS if other not in free),
    )


def _of_stack(cells: Sequence[Cell], cell: Cell, stack: str) -> Cell | None:
    """The stack's cell with the same requests; its only one where it makes them in another way."""
    place = _apart_from(STACK, cell)
    alike = [other for other in cells if other.stack == stack and _apart_from(STACK, other) == place]
    same_call = [other for other in alike if of_the_call(other.factors) == of_the_call(cell.factors)]
    if same_call:
        return same_call[0]
    return alike[0] if len(alike) == 1 else None


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


def resolve_contrasts(located: Located, stacks: Sequence[Stack], cells: Sequence[Cell]) -> tuple[Contrast, ...]:
    """The contrasts of an experiment; what cannot be compared is noted as a problem at its place in the file."""
    compare_by, given = located.experiment.compare_by, located.experiment.reference or ()
    values = {name: _values(name, stacks, cells) for name in compare_by}
    chosen: dict[str, list[Value]] = {name: [] for name in compare_by}
    for number, wanted in enumerate(given):
        if found := _find(located, number, wanted, values, stacks):
            chosen[found[0]].append(found[1])
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


def _values(name: str, stacks: Sequence[Stack], cells: Sequence[Cell]) -> dict[Value, tuple[str, ...]]:
    """What may be a reference, with what a person may call it."""
    if name == STACK:
        return {stack.id: (stack.label, stack.id) for stack in stacks}
    factor = BY_NAME[name]
    every = dict.fromkeys(cell.factors[name] for cell in cells)
    return {value: factor.names(value) for value in every if value is not None}


def _find(
    located: Located,
    number: int,
    wanted: Value,
    values: dict[str, dict[Value, tuple[str, ...]]],
    stacks: Sequence[Stack],
) -> tuple[str, Value] | None:
    """Which factor a reference is a value of, and which value; None where that is a problem, which is noted."""
    path, text = ("reference", number), str(wanted)
    found = [(name, value) for name, of in values.items() for value, names in of.items() if text in names]
    if not found and STACK in values:
        of_protocol = [stack for stack in stacks if stack.protocol == wanted]
        labels = ", ".join(f"'{stack.label}'" for stack in stacks)
        if len({stack.responder for stack in of_protocol}) > 1:
            located.add(path, f"'{wanted}' may be any of several stacks; name one of {labels}.")
            return None
        if of_protocol:
            return STACK, of_protocol[0].id
        if len(values) == 1:
            located.add(path, f"no stack is called '{wanted}'. The stacks are {labels}.")
            return None
    if not found:
        known = [names[0] for of in values.values() for names in of.values()]
        located.add(path, f"'{wanted}' is not a value of {_or(list(values))} here. {did_you_mean(text, known)}")
        return None
    factors = list(dict.fromkeys(name for name, _ in found))
    if len(factors) > 1:
        located.add(path, f"'{wanted}' may be a value of {_or(factors)}: compare by one of them at a time.")
        return None
    return found[0]


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
