"""What a cell is called while a run is made: in its progress, its warnings, and by `orch status`."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.factors import OF_THE_CALL, of_load
from orchestrator.experiment.plan.contrasts import HTTP, has_version
from orchestrator.experiment.plan.documents import DOCUMENT, plan_way
from orchestrator.experiment.plan.loads import clients
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.read.units import format_rate


def label(plan: Plan, cell: Cell) -> str:
    """A cell in words: what tells it apart in its plan, no more."""
    stack = next(stack for stack in plan.stacks if stack.id == cell.stack)
    operation = next(operation for operation in plan.operations if operation.id == cell.operation)
    placement = next(placement for placement in plan.placements if placement.id == cell.placement)
    words = [stack.label, operation.label]
    if len(plan.placements) > 1:
        words.append(placement.name)
    words += [factor.tag(cell.factors[factor.name]) for factor in _varied(plan) if _applies(plan, factor, cell)]
    if len({c.load.concurrency for c in plan.cells}) > 1:
        is_stream = cell.kind == "stream"
        words.append(clients(cell.load.concurrency) if is_stream else f"{cell.load.concurrency} in flight")
    if len({c.load.rate_per_s for c in plan.cells} | {cell.load.rate_per_s}) > 1:
        words.append("closed loop" if cell.load.rate_per_s is None else format_rate(cell.load.rate_per_s))
    words += of_load(cell.factors)
    return " · ".join(words)


def _varied(plan: Plan) -> list[Factor]:
    """The factors of a call that have several values in a plan."""
    return [f for f in OF_THE_CALL if len({cell.factors[f.name] for cell in plan.cells}) > 1]


def _applies(plan: Plan, factor: Factor, cell: Cell) -> bool:
    """Whether the factor is anything to this cell: how a document travels is nothing to one without it."""
    if cell.factors[factor.name] is None:
        return False
    if factor.name == HTTP:
        return has_version(plan, cell.stack)
    return factor.name != DOCUMENT or plan_way(plan, cell.stack, cell.operation, cell.factors[DOCUMENT]) is not None
