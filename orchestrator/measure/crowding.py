"""Requester processes that share a CPU: more of them then ask no more than one, which a reader must know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.processes import processes_of
from orchestrator.hosts.base import Fleet
from services.python.contract.description import Description


def crowded(plan: Plan, fleet: Fleet, facts: Mapping[str, Description]) -> Iterator[str]:
    """A sentence for each host on which requester processes have fewer CPUs than there are of them."""
    most: dict[str, tuple[int, int | None]] = {}
    for cell in plan.cells:
        pair, processes = fleet.pair(cell.placement), processes_of(cell.factors)
        for host in pair.requesters:
            cpus = facts[host.name].usable_cpus or facts[host.name].cpus
            if pair.requester_cpus is not None:
                cpus = len({pair.cpus_of(number) for number in range(processes)})
            if processes > most.get(host.name, (1, None))[0]:
                most[host.name] = processes, cpus
    for name, (processes, cpus) in most.items():
        if cpus is not None and cpus < processes:
            share = "one CPU" if cpus == 1 else f"{cpus} CPUs"
            yield f"on {name}, {processes} requester processes share {share}: they wait for each other"
