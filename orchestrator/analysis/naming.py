"""What the two sides of a comparison are called, and what they have in common."""

from __future__ import annotations

from orchestrator.analysis.summary import CellSummary
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, of_load, short
from orchestrator.experiment.plan.plan import Plan


def of_stacks(cell: CellSummary, reference: CellSummary) -> str:
    """Where two stacks are compared: operation, placement, how requests are made, load."""
    calls = dict.fromkeys(", ".join(short(side.factors)) for side in (cell, reference))
    called = " against ".join(filter(None, calls))  # nothing of codecs alone
    return ", ".join(filter(None, (reference.operation, reference.placement, called, reference.load)))


def without(factor: str, cell: CellSummary) -> str:
    """A setting less the factor that is compared, and less what varies with it: `echo 100 B, local, 1,000 requests`."""
    of = BY_NAME[factor]
    free = (factor, *of.varies_with)
    call = {name: value for name, value in cell.factors.items() if name not in free}
    said = short(cell.factors) if of not in OF_THE_CALL else short({**call, factor: of.default})
    if of in OF_THE_CALL and of.is_always_said:
        said = tuple(value for value in said if value != of.default)
    load = [cell.load]
    if of.belongs_to == "load":
        load = [BY_NAME[name].text(cell.factors[name]) for name in ("concurrency", "rate") if name not in free]
        load += of_load(cell.factors, free)
    operation = cell.operation
    if of.belongs_to == "operation":
        operation = str(cell.factors["operation" if factor == "payload" or "payload" in free else "payload"])
    parts = (
        *([] if factor == "operation" else [operation]),
        *([] if factor == "placement" else [cell.placement]),
        *said,
        *load,
    )
    return ", ".join(parts)


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
