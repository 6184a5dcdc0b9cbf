"""What the two sides of a comparison are called, and what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from orchestrator import quantities
from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.factors import BY_NAME, OF_THE_CALL, of_load, short
from orchestrator.experiment.plan.own.json_documents import DOCUMENT, plan_way
from orchestrator.experiment.plan.parts import are_several_languages, languages_in_words, languages_of_stacks
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary


def compared_calls(comparisons: Sequence[Comparison]) -> tuple[Factor, ...]:
    """The factors of the call that cells are compared by: such cells stand in one table, whose rows say the value."""
    names = {c.factor for c in comparisons if not c.control}
    return tuple(factor for factor in OF_THE_CALL if factor.name in names)


def in_tables(summary: RunSummary) -> dict[str, str]:
    """What a table calls each cell, by id: `grpc with a kept connection and gzip`; the stack where no call is compared.

    Where stacks are in several languages, with that of each end: `rest (hyper, undici), Rust ← Node.js`.
    A default is not said of a stack that has no other value: it may have none at all, as gRPC has no version of HTTP.
    """
    plan, apart = summary.plan, compared_calls(summary.comparisons)
    has = {(cell.stack, f.name, cell.factors.get(f.name)) for cell in summary.cells for f in apart}
    ends = languages_of_stacks(plan)
    languages = ends if are_several_languages(ends) else {}
    several = {key for key, count in Counter((stack, name) for stack, name, _ in has).items() if count > 1}
    return {
        cell.id: _label(
            cell,
            [
                f
                for f in apart
                if (f.name != DOCUMENT or plan_way(plan, cell.stack, cell.operation, cell.factors.get(DOCUMENT)))
                and ((cell.stack, f.name) in several or cell.factors.get(f.name) != f.default)
            ],
            languages.get(cell.stack),
        )
        for cell in summary.cells
    }


def _label(cell: CellSummary, apart: Sequence[Factor], ends: tuple[str, str] | None) -> str:
    values = [f.briefly(value) for f in apart if (value := cell.factors.get(f.name)) is not None]
    stack = f"{cell.labels.stack}, {languages_in_words(ends)}" if ends else cell.labels.stack
    return f"{stack} with {quantities.listed(values)}" if values else stack


def of_stacks(cell: CellSummary, reference: CellSummary) -> str:
    """Where two stacks are compared: operation, placement, how requests are made, load."""
    calls = dict.fromkeys(", ".join(short(side.factors)) for side in (cell, reference))
    called = " against ".join(filter(None, calls))  # nothing of codecs alone
    return ", ".join(
        filter(None, (reference.labels.operation, reference.labels.placement, called, reference.labels.load))
    )


def without(factor: str, cell: CellSummary) -> str:
    """A setting less the factor that is compared, and less what varies with it: `echo 100 B, local, 1,000 requests`."""
    compared = BY_NAME[factor]
    free = (factor, *compared.varies_with)
    call = {name: value for name, value in cell.factors.items() if name not in free}
    calls = short(cell.factors) if compared not in OF_THE_CALL else short({**call, factor: compared.default})
    if compared in OF_THE_CALL and compared.is_always_said:
        calls = tuple(value for value in calls if value != compared.default)
    load = [cell.labels.load]
    if compared.belongs_to == "load":
        load = [BY_NAME[name].text(cell.factors[name]) for name in ("concurrency", "rate") if name not in free]
        load += of_load(cell.factors, free)
    operation = cell.labels.operation
    if compared.belongs_to == "operation":
        operation = str(cell.factors["operation" if factor == "payload" or "payload" in free else "payload"])
    parts = [] if factor == "operation" else [operation]
    parts += [] if "placement" in free else [cell.labels.placement]
    return ", ".join((*parts, *calls, *load))


def subject(plan: Plan, cell: CellSummary, factor: str) -> str:
    """What both sides have in common of the stack: its label, or what is left of it where part of it is compared."""
    if BY_NAME[factor].belongs_to != "stack":
        return cell.labels.stack
    rest = [part for part in ("protocol", "responder", "client") if part != factor]
    first = str(cell.factors[rest[0]])
    alike = [stack for stack in plan.stacks if getattr(stack, rest[0]) == first]
    if len({getattr(stack, rest[1]) for stack in alike}) == 1:
        return first
    return f"{first} ({cell.factors[rest[1]]})"
