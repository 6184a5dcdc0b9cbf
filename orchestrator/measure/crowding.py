"""Processes of one end that share a CPU: more of them then do no more than one, which a reader must know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.experiment.model.factors import requesters_of
from orchestrator.experiment.plan.cells import processes_of, workers_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.hosts.base import Fleet
from services.python.contract.description import Description


def crowded(plan: Plan, fleet: Fleet, facts: Mapping[str, Description]) -> Iterator[str]:
    """A sentence for each host on which requester processes, or a responder's workers, have fewer CPUs than they are."""
    most: dict[str, tuple[int, int | None]] = {}
    for cell in plan.cells:
        pair, processes = fleet.pair(cell.placement), processes_of(cell.factors)
        for host in pair.asked_from(requesters_of(cell.factors)).requesters:
            cpus = facts[host.name].usable_cpus or facts[host.name].cpus
            if pair.requester_cpus is not None:
                cpus = len({pair.cpus_of(number) for number in range(processes)})
            if processes > most.get(host.name, (1, None))[0]:
                most[host.name] = processes, cpus
    for name, (processes, cpus) in most.items():
        if cpus is not None and cpus < processes:
            share = "one CPU" if cpus == 1 else f"{cpus} CPUs"
            yield f"on {name}, {processes} requester processes share {share}: they wait for each other"
    yield from _crowded_workers(plan, fleet, facts)


def _crowded_workers(plan: Plan, fleet: Fleet, facts: Mapping[str, Description]) -> Iterator[str]:
    most: dict[str, int] = {}
    for cell in plan.cells:
        pair, workers = fleet.pair(cell.placement), workers_of(cell.factors)
        name = pair.responder.name
        cpus = facts[name].usable_cpus or facts[name].cpus
        if pair.responder_cpus is not None:
            cpus = 1
        if cpus is not None and max(cpus, most.get(name, 1)) < workers:
            most[name] = workers
    for name, workers in most.items():
        yield f"on {name}, {workers} responder workers have fewer CPUs than they are: they wait for each other"
