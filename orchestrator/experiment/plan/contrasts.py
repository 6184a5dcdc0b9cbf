"""What is compared with what: the pairs of a plan, and the references that an experiment names."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TypeAlias

from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import (
    BY_NAME,
    DRIVER,
    FACTORS,
    OF_THE_CALL,
    OWN_DRIVERS,
    STACK,
    STORE,
    of_the_call,
)
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.plan import Cell, Contrast, Plan, Stack
from orchestrator.experiment.read.problems import either

_BRING_DRIVERS = (STORE, "protocol", "responder")
"""Factors whose values bring a PostgreSQL driver: fastapi has psycopg, go-net-http has pgx."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two cells that differ in the stack, or in one factor alone."""

    factor: str
    cell: Cell
    reference: Cell
    is_control: bool = False


def pairs(plan: Plan) -> Iterator[Pair]:
    """Every pair that the plan compares, contrast by contrast, each once; then controls with their original."""
    cells, original = _without_controls(plan), _original(plan)
    for contrast in plan.contrasts:
        yield from _of_contrast(contrast.factor, contrast.references or (original,), cells)
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    for cell in plan.cells:
        if cell.stack in controls and (beside := _of_stack(cells, cell, original)):
            yield Pair(factor=STACK, cell=cell, reference=beside, is_control=True)


def all_pairs(plan: Plan) -> Iterator[Pair]:
    """Every two stacks with the same requests (the plan's reference first), pairs by other factors, and controls."""
    original = _original(plan)
    for cells in _grouped(_without_controls(plan), lambda cell: cell.setting).values():
        for first, other in combinations(sorted(cells, key=lambda cell: cell.stack != original), 2):
            yield Pair(factor=STACK, cell=other, reference=first)
    yield from (pair for pair in pairs(plan) if pair.factor != STACK or pair.is_control)


def _grouped(cells: Iterable[Cell], by: Callable[[Cell], tuple[object, ...]]) -> dict[tuple[object, ...], list[Cell]]:
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(by(cell), []).append(cell)
    return groups


def _original(plan: Plan) -> str:
    return plan.reference or plan.stacks[0].id


def _without_controls(plan: Plan) -> list[Cell]:
    controls = {stack.id for stack in plan.stacks if stack.control_of}
    return [cell for cell in plan.cells if cell.stack not in controls]


def _of_contrast(factor: str, references: Sequence[Value], cells: Sequence[Cell]) -> Iterator[Pair]:
    alike = _grouped(cells, partial(_apart_from, factor))
    for place, reference in enumerate(references):
        for cell in cells:
            value, candidates = value_of(cell, factor), alike[_apart_from(factor, cell)]
            if value is None or value in references[: place + 1]:
                continue
            if factor == STACK:
                beside = _of_stack(candidates, cell, str(reference))
            else:
                beside = next((other for other in candidates if value_of(other, factor) == reference), None)
            if beside:
                yield Pair(factor=factor, cell=cell, reference=beside)


def value_of(cell: Cell, factor: str) -> Value:
    """Its value of a factor; the id of its stack, where that is what is compared."""
    return cell.stack if factor == STACK else cell.factors[factor]


def _apart_from(name: str, cell: Cell) -> tuple[object, ...]:
    """What two cells have in common that differ in the stack, or in this factor and those that vary with it."""
    # A task and a call differ in their `calls` alone; cells of any other two kinds are never compared.
    work = "call" if cell.kind == "task" else cell.kind
    if name == STACK:
        return (cell.operation, cell.placement, cell.load, work)
    factor, values = BY_NAME[name], cell.factors
    if name in _BRING_DRIVERS and values[DRIVER] in OWN_DRIVERS:
        values = {**values, DRIVER: None}
    free = [factor, *(BY_NAME[other] for other in factor.varies_with)]
    load = {key: value for key, value in vars(cell.load).items() if key not in [f.attribute for f in free]}
    return (
        "" if factor.belongs_to == "operation" else cell.operation,
        "" if factor.belongs_to == "placement" else cell.placement,
        tuple(load.values()),
        work,
        tuple(values[other.name] for other in FACTORS if other not in free),
    )


def _of_stack(cells: Sequence[Cell], cell: Cell, stack: str) -> Cell | None:
    """The stack's cell with the same requests; else its only one, or the one like the cell in all that they differ in."""
    place = _apart_from(STACK, cell)
    alike = [other for other in cells if other.stack == stack and _apart_from(STACK, other) == place]
    for other in alike:
        if of_the_call(other.factors) == of_the_call(cell.factors):
            return other
    ways = [_way(other) for other in alike]
    varied = [factor for factor in BY_NAME if len({way.get(factor) for way in ways}) > 1]
    mine = _way(cell)
    like = [o for o, way in zip(alike, ways, strict=True) if all(way.get(name) == mine.get(name) for name in varied)]
    return like[0] if len(like) == 1 else None


def _way(cell: Cell) -> dict[str, Value]:
    """How its requests are made, without the default database driver of its responder."""
    values = zip(OF_THE_CALL, of_the_call(cell.factors), strict=True)
    return {factor.name: None if value in OWN_DRIVERS else value for factor, value in values}


def compared(plan: Plan) -> str:
    """What is compared with what: `compression with no compression (4 pairs of cells)`."""
    labels = {stack.id: stack.label for stack in plan.stacks}
    texts = []
    for contrast in plan.contrasts:
        references = contrast.references or (_original(plan),)
        if contrast.factor == STACK:
            texts.append(f"stacks with {' and '.join(labels[str(value)] for value in references)}")
        else:
            factor = BY_NAME[contrast.factor]
            texts.append(f"{factor.title} with {' and '.join(map(factor.briefly, references))}")
    number = sum(not pair.is_control for pair in pairs(plan))
    return f"{'; '.join(texts)} ({number:,} {'pair' if number == 1 else 'pairs'} of cells)"


# ---- what an experiment file compares


_Choices: TypeAlias = dict[Value, tuple[str, ...]]
"""What may be a reference, with what a person may call it."""


def resolve_contrasts(located: Located, stacks: Sequence[Stack], cells: Sequence[Cell]) -> tuple[Contrast, ...]:
    """The contrasts of an experiment; what cannot be is noted."""
    compare_by, given = located.experiment.compare_by, located.experiment.reference or ()
    values = {name: _values(name, stacks, cells) for name in compare_by}
    chosen: dict[str, list[Value]] = {name: [] for name in compare_by}
    for number, wanted in enumerate(given):
        for name, value in _find(located, number, wanted, values, stacks):
            chosen[name].append(value)
    for number, name in enumerate(compare_by):
        others = list(values[name])
        chosen[name] = list(dict.fromkeys(chosen[name] or others[:1]))
        if compare_by != (STACK,):
            if not _has_pairs(name, chosen[name], cells):
                located.add(("compare_by", number), _nothing_to_compare(name, chosen[name], cells, compare_by))
        elif len({cell.kind == "codec" for cell in cells}) > 1 and not _has_pairs(STACK, chosen[name], cells):
            located.add(
                ("stacks",),
                "no two of these stacks are compared: a codec alone is not compared with a stack that calls. Give each a"
                " stack of its own kind beside it, or ask about them in two experiments.",
            )
    return tuple(Contrast(factor=name, references=tuple(chosen[name])) for name in compare_by)


def _values(name: str, stacks: Sequence[Stack], cells: Sequence[Cell]) -> _Choices:
    if name == STACK:
        return {stack.id: (stack.label, stack.id) for stack in stacks}
    factor = BY_NAME[name]
    every = dict.fromkeys(cell.factors[name] for cell in cells)
    return {value: factor.names(value) for value in every if value is not None}


def _find(
    located: Located, number: int, wanted: Value, values: Mapping[str, _Choices], stacks: Sequence[Stack]
) -> list[tuple[str, Value]]:
    """Which factor a reference is a value of, and which values it names; none where that is a problem, which is noted."""
    text = str(wanted)
    matches = [(name, value) for name, choices in values.items() for value, names in choices.items() if text in names]
    if not matches and STACK in values:
        of_protocol = [stack for stack in stacks if stack.protocol == wanted]
        if len({stack.responder for stack in of_protocol}) == 1:
            return [(STACK, of_protocol[0].id)]
    if not matches:
        known = [names[0] for choices in values.values() for names in choices.values()]
        reason = f"'{wanted}' is not a value of {either(list(values))} here. {did_you_mean(text, known)}"
        located.add(("reference", number), reason)
    return matches[:1]


def _nothing_to_compare(
    name: str, references: Sequence[Value], cells: Sequence[Cell], compare_by: Container[str]
) -> str:
    """Why nothing is compared by a factor, and by what something is."""
    shown = [str(value) if name == STACK else BY_NAME[name].names(value)[0] for value in references]
    firsts = {name: [v for cell in cells if (v := value_of(cell, name)) is not None][:1] for name in (STACK, *BY_NAME)}
    able = [n for n, first in firsts.items() if n not in compare_by and _has_pairs(n, first, cells)]
    differs = f" Here cells differ in: {', '.join(able)}." if able else ""
    return f"no cell differs from one with {either(shown) or 'a value'} in the {name} alone.{differs}"


def _has_pairs(name: str, references: Sequence[Value], cells: Sequence[Cell]) -> bool:
    return next(_of_contrast(name, references, cells), None) is not None
