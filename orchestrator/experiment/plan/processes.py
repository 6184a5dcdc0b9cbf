"""Several requesters of one load: how it is divided, by number. `requesters` says who has which number."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.plan.connections import FACTOR as CONNECTIONS
from services.python.contract.lines import Load

FACTOR = "processes"
_SEEDS = 2**53  # as every reader of JSON keeps them


def processes_of(values: Values) -> int:
    """How many requester processes each requester's host has in a cell; one where its plan says nothing of them."""
    number = values.get(FACTOR)
    return number if isinstance(number, int) else 1


def part(whole: int, processes: int, number: int) -> int:
    """The share of process `number` (from 0) in what is counted: as even as it can be, the first ones have one more.

    >>> [part(10, 4, number) for number in range(4)]
    [3, 3, 2, 2]
    """
    return whole // processes + (number < whole % processes)


def share(load: Load, processes: int, number: int) -> Load:
    """The load of requester `number` (from 0) of so many `processes`; the shares of all of them add up to the load.

    Requests in flight are divided as evenly as can be; the requests and the rate in proportion to these, so that all
    processes have as much to do for each in flight, and end together.

    >>> [(of.concurrency, of.requests) for of in (share(Load(concurrency=5, requests=1000), 2, n) for n in range(2))]
    [(3, 600), (2, 400)]
    """
    if processes == 1:
        return load
    mine = part(load.concurrency, processes, number)
    before = load.concurrency // processes * number + min(number, load.concurrency % processes)
    first, last = ((load.requests or 0) * upto // load.concurrency for upto in (before, before + mine))
    return replace(
        load,
        concurrency=mine,
        requests=None if load.requests is None else last - first,
        rate_per_s=None if load.rate_per_s is None else load.rate_per_s * mine / load.concurrency,
    )


def share_of_knobs(knobs: dict[str, str], processes: int, number: int) -> dict[str, str]:
    """What process `number` is told: of the connections that requests in flight share, its own."""
    shared = knobs.get(CONNECTIONS, "")
    if processes == 1 or not shared.isdecimal():
        return knobs
    return {**knobs, CONNECTIONS: str(part(int(shared), processes, number))}


def seed_of(seed: int, number: int) -> int:
    """The seed of a trial's requester `number` (from 0), of all that ask in it; the first one has the trial's own."""
    return (seed + number) % _SEEDS
