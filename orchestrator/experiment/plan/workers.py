"""Several worker processes that answer as one responder: how many a cell has, and where they have too few CPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.plan.machines import MACHINES
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.providers import PROVIDERS
from services.python.contract.knobs import WORKERS as FACTOR


def workers_of(values: Values) -> int:
    """How many worker processes answer in a cell; one where its plan says nothing of them."""
    number = values.get(FACTOR)
    return number if isinstance(number, int) else 1


def workers_told(knobs: Mapping[str, str]) -> int:
    """How many a responder is asked for by what it is told."""
    return int(knobs.get(FACTOR, "1"))


def with_too_few_cpus(plan: Plan) -> Iterator[str]:
    """Why some workers of a plan will wait for each other, as far as that is known before there are hosts."""
    most = max((workers_of(cell.factors) for cell in plan.cells), default=1)
    if most == 1:
        return
    asked = f"`{FACTOR}: {most}`"
    machine = MACHINES.get(plan.machine or "")
    if PROVIDERS[plan.provider].makes_hosts and machine is not None and machine.cores < most:
        yield f"{asked} is more than the cores of {machine.name} ({machine.cores:g}): the workers wait for each other"
    elif pinned := [pin for pin in plan.pins if pin != "off"]:
        yield (
            f"{asked} brings nothing here, as `pin: {pinned[0]}` gives the responder one CPU for all of them: give"
            " `pin: 'off'`"
        )
