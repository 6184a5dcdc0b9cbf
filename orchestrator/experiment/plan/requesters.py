"""Several requesters in a trial, hosts and their processes: each one's share of the load, and where it has none."""

from __future__ import annotations

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.process_factors import REQUESTERS, requesters_of
from orchestrator.experiment.plan.connections import FACTOR as CONNECTIONS
from orchestrator.experiment.plan.connections import connections_of
from orchestrator.experiment.plan.plan import Cell, Placement
from orchestrator.experiment.plan.processes import FACTOR as PROCESSES
from orchestrator.experiment.plan.processes import part, processes_of, share
from orchestrator.experiment.providers import MAKERS, PROVIDERS, any_of
from orchestrator.experiment.read.units import format_duration, format_rate
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

FACTOR = REQUESTERS


def in_all(values: Values) -> int:
    """How many requesters ask in a trial of a cell: the processes of all its hosts."""
    return requesters_of(values) * processes_of(values)


def number_among_all(hosts: int, host: int, place: int) -> int:
    """Which share is that of process `place` on host `host` (both from 0), of so many hosts.

    Shares that are larger by one go to the first process of each host before any second one, so that hosts differ by one.
    """
    return place * hosts + host


def share_of(values: Values, load: Load, host: int, place: int) -> Load:
    """What process `place` on host `host` (both from 0) has of a cell's load; the shares of all add up to it.

    >>> [share_of({"requesters": 2, "processes": 2}, Load(concurrency=10), h, p).concurrency for h in (0, 1) for p in (0, 1)]
    [3, 2, 3, 2]
    """
    return share(load, in_all(values), number_among_all(requesters_of(values), host, place))


def connections_in(cell: Cell, host: int, place: int) -> int:
    """How many connections a requester of a cell keeps open: one for each of its own in flight, unless fewer."""
    whole, parts = connections_of(cell.factors, cell.load.concurrency), in_all(cell.factors)
    return part(whole, parts, number_among_all(requesters_of(cell.factors), host, place))


def refusal_of_hosts(call: Values, placement: Placement, provider: str) -> str | None:
    """Why a placement cannot have several requester hosts, with what to do instead; None where it can, or has one."""
    hosts = requesters_of(call)
    if hosts == 1:
        return None
    asked = f"`{FACTOR}: {hosts}` needs as many hosts that ask"
    if not PROVIDERS[provider].makes_hosts:
        return f"{asked}, and provider {provider} has one: use {any_of(MAKERS)}"
    if placement.kind == "local":
        return f"{asked}, and both ends of a local placement share one: give another placement"
    return None


def refusal_of_shares(call: Values, load: Load, kind: Kind) -> str | None:
    """Why the load cannot be divided among a cell's requesters, with what to do instead; None where it can."""
    hosts, processes = requesters_of(call), processes_of(call)
    parts = hosts * processes
    if parts == 1 or kind == "codec":
        return None
    asked, each, sharing = f"`{PROCESSES}: {processes}`", "process", "processes"
    if hosts > 1:
        asked = f"`{FACTOR}: {hosts}`" + (f" with {asked}" if processes > 1 else "")
        each, sharing = "requester", "requesters"
    if parts > load.concurrency:
        flying = f"{load.concurrency:,} clients" if kind == "stream" else f"{load.concurrency:,} in flight"
        return (
            f"{asked} is more than the {flying}, which the {sharing} share: some would ask nothing."
            " Give fewer, or raise the concurrency"
        )
    shared = call.get(CONNECTIONS)
    if isinstance(shared, int) and parts > shared:
        return (
            f"{asked} is more than `{CONNECTIONS}: {shared}`, and each {each} has connections of its own. Give fewer"
            f" {sharing}, or more connections"
        )
    if load.rate_per_s is None:
        return None
    if load.arrivals == "uniform":
        return (
            f"{asked} cannot space requests evenly (`arrivals: uniform`): each {each} would, and all of them together"
            " would not. Give `arrivals: poisson`, which adds up to itself"
        )
    if load.duration_s is not None and load.rate_per_s * load.duration_s < parts:
        return (
            f"{asked} is more than the requests that {format_rate(load.rate_per_s)} makes in"
            f" {format_duration(load.duration_s)}: some would ask nothing. Give fewer, or a higher rate"
        )
    return None
