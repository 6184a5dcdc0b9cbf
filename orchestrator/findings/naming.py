"""What the two sides of a comparison are called, and what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, of_load, phrases, short
from orchestrator.experiment.plan import contrasts, own_json
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary
from orchestrator.quantities import Unit, unit_for


def compared_calls(comparisons: Sequence[Comparison]) -> tuple[Factor, ...]:
    """The factors of the call that cells are compared by: such cells stand in one table, whose rows say the value."""
    names = {c.factor for c in comparisons if not c.control}
    return tuple(factor for factor in OF_THE_CALL if factor.name in names)


def in_tables(summary: RunSummary) -> dict[str, str]:
    """What a table calls each cell, by id: `grpc with a kept connection and gzip`; the stack where no call is compared.

    Where stacks are in several languages, with that of each end: `rest (hyper, undici), Rust ← Node.js`.
    A default is not said of a stack that has no other value: it may have none at all, as gRPC has no version of HTTP.
    """
    apart = compared_calls(summary.comparisons)
    carried = own_json.carried_cells(summary.plan)
    has = {(cell.stack, f.name, cell.factors.get(f.name)) for cell in summary.cells for f in apart}
    ends = contrasts.languages_of_stacks(summary.plan)
    languages = ends if contrasts.are_several_languages(ends) else {}
    several = {key for key, count in Counter((stack, name) for stack, name, _ in has).items() if count > 1}
    return {
        cell.id: _label(
            cell,
            [
                f
                for f in apart
                if (f.name != own_json.DOCUMENT or cell.id in carried)
                and ((cell.stack, f.name) in several or cell.factors.get(f.name) != f.default)
            ],
            languages.get(cell.stack),
        )
        for cell in summary.cells
    }


def _label(cell: CellSummary, apart: Sequence[Factor], ends: tuple[str, str] | None) -> str:
    values = [f.briefly(value) for f in apart if (value := cell.factors.get(f.name)) is not None]
    stack = f"{cell.stack_label}, {contrasts.languages_in_words(ends)}" if ends else cell.stack_label
    return f"{stack} with {quantities.listed(values)}" if values else stack


def of_stacks(cell: CellSummary, reference: CellSummary) -> str:
    """Where two stacks are compared: operation, placement, how requests are made, load."""
    calls = dict.fromkeys(", ".join(short(side.factors)) for side in (cell, reference))
    called = " against ".join(filter(None, calls))  # nothing of codecs alone
    return ", ".join(filter(None, (reference.operation, reference.placement, called, reference.load)))


def without(factor: str, cell: CellSummary) -> str:
    """A setting less the factor that is compared, and less what varies with it: `echo 100 B, local, 1,000 requests`."""
    compared = BY_NAME[factor]
    free = (factor, *compared.varies_with)
    call = {name: value for name, value in cell.factors.items() if name not in free}
    calls = short(cell.factors) if compared not in OF_THE_CALL else short({**call, factor: compared.default})
    if compared in OF_THE_CALL and compared.is_always_said:
        calls = tuple(value for value in calls if value != compared.default)
    load = [cell.load]
    if compared.belongs_to == "load":
        load = [BY_NAME[name].text(cell.factors[name]) for name in ("concurrency", "rate") if name not in free]
        load += of_load(cell.factors, free)
    operation = cell.operation
    if compared.belongs_to == "operation":
        operation = str(cell.factors["operation" if factor == "payload" or "payload" in free else "payload"])
    parts = (
        *([] if factor == "operation" else [operation]),
        *([] if "placement" in free else [cell.placement]),
        *calls,
        *load,
    )
    return ", ".join(parts)


def in_phrases(setting: str, cells: Iterable[CellSummary]) -> str:
    """A setting as readers see it: `connections kept open` where names and ids say `reuse`."""
    of_call = {
        value: phrase
        for cell in cells
        for value, phrase in zip(short(cell.factors), phrases(cell.factors), strict=True)
    }
    return ", ".join(
        " against ".join(of_call.get(side, side) for side in part.split(" against ")) for part in setting.split(", ")
    )


def of_rates(setting: str, goals: str, cells: Sequence[CellSummary]) -> str:
    """What a table or chart of the highest rates of a setting shows, in words.

    `Highest rate while p99 < 10 ms: operation add, placement local, connections kept open`.
    """
    rest, parts = setting, []
    for kind in ("operation", "placement"):
        names = {str(getattr(cell, kind)) for cell in cells}
        # The longest first: `echo 100 B` where there is an `echo`, too.
        name = next((n for n in sorted(names, key=len, reverse=True) if f"{rest}, ".startswith(f"{n}, ")), None)
        if name is not None:
            parts.append(f"{kind} {name}")
            rest = rest[len(name) + 2 :]
    parts += [in_phrases(rest, cells)] if rest else []
    return f"Highest rate while {goals}: {', '.join(parts)}"


def values(factor: str, cells: tuple[CellSummary, CellSummary]) -> tuple[str, str]:
    """The factor's value in both cells, as a sentence that compares them says it: `with gzip`."""
    one, other = (BY_NAME[factor].compared(cell.factors[factor]) for cell in cells)
    return one, other


def subject(plan: Plan, cell: CellSummary, factor: str) -> str:
    """What both sides have in common of the stack: its label, or what is left of it where part of it is compared."""
    if BY_NAME[factor].belongs_to != "stack":
        return cell.stack_label
    rest = [part for part in ("protocol", "responder", "client") if part != factor]
    first = str(cell.factors[rest[0]])
    alike = [stack for stack in plan.stacks if getattr(stack, rest[0]) == first]
    if len({getattr(stack, rest[1]) for stack in alike}) == 1:
        return first
    return f"{first} ({cell.factors[rest[1]]})"


Medians = Mapping[str, float | None]
"""A table's cells by their ids, with the median of each in milliseconds; None where it has none."""


def units(tables: Sequence[Medians], pairs: Iterable[tuple[str, str]]) -> list[Unit | None]:
    """The unit of each table, by the medians of all with which `pairs` of compared cells (their ids) join it.

    Tables are joined over others, too. None where none of them has a median.
    """
    first = _joined(tables, pairs)
    chosen: list[Unit | None] = []
    for number in first:
        medians = [
            median
            for table, other in zip(tables, first, strict=True)
            for median in table.values()
            if other == number and median is not None
        ]
        chosen.append(unit_for(medians) if medians else None)
    return chosen


def _joined(tables: Sequence[Medians], pairs: Iterable[tuple[str, str]]) -> list[int]:
    """For each table the place of the first that it is joined with; its own where there is none before it."""
    place = {cell: number for number, cells in enumerate(tables) for cell in cells}
    first = list(range(len(tables)))
    for one, other in pairs:
        if one in place and other in place:
            low, high = sorted((first[place[one]], first[place[other]]))
            first = [low if number == high else number for number in first]
    return first
