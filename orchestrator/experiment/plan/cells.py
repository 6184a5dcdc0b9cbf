"""What the values of a cell mean: its id, its requesters' shares of the load, connections, workers, windows and store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import ceil

from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import GIVEN, POOL, POSTGRESQL, STORE, requesters_of, short
from orchestrator.experiment.plan.plan import Cell, Find
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.units import exact_duration, format_rate
from services.python.contract.knobs import FLOW_WINDOW, TCP_WINDOW, WORKERS
from services.python.contract.lines import Load

CONNECTIONS = "connections"


def _number(values: Values, name: str, otherwise: int) -> int:
    """A factor's value where that is a number."""
    value = values.get(name)
    return value if isinstance(value, int) else otherwise


def connections_of(values: Values, in_flight: int) -> int:
    """How many connections are kept open: one for each request in flight, unless fewer share them."""
    return _number(values, CONNECTIONS, in_flight)


def workers_of(values: Values) -> int:
    """How many worker processes answer in a cell; 1 by default."""
    return _number(values, WORKERS, 1)


def workers_told(knobs: Mapping[str, str]) -> int:
    """Return how many worker processes the settings of a responder request."""
    return int(knobs.get(WORKERS, "1"))


PROCESSES = "processes"
_SEEDS = 2**53  # as every reader of JSON keeps them


def processes_of(values: Values) -> int:
    """How many requester processes each requester's host has in a cell; 1 by default."""
    return _number(values, PROCESSES, 1)


def part(whole: int, processes: int, number: int) -> int:
    """The share of process `number` (from 0) in what is counted: as even as it can be, the first ones have one more."""
    return whole // processes + (number < whole % processes)


def share(load: Load, processes: int, number: int) -> Load:
    """The share of requester `number` (from 0) in a load: in flight as even as can be, requests and rate in proportion."""
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
    """The knobs of process `number`: of shared connections, its own."""
    shared = knobs.get(CONNECTIONS, "")
    if processes == 1 or not shared.isdecimal():
        return knobs
    return {**knobs, CONNECTIONS: str(part(int(shared), processes, number))}


def seed_of(seed: int, number: int) -> int:
    """The seed of a trial's requester `number` (from 0), of all in it; the first one has the trial's own."""
    return (seed + number) % _SEEDS


def in_all(values: Values) -> int:
    """How many requesters a trial of a cell has: the processes of all its hosts."""
    return requesters_of(values) * processes_of(values)


def number_among_all(hosts: int, host: int, place: int) -> int:
    """Which share is that of process `place` on host `host` (both from 0): hosts differ by one at most."""
    return place * hosts + host


def share_of(values: Values, load: Load, host: int, place: int) -> Load:
    """What process `place` on host `host` (both from 0) has of a cell's load; the shares of all add up to it."""
    return share(load, in_all(values), number_among_all(requesters_of(values), host, place))


def connections_in(cell: Cell, host: int, place: int) -> int:
    """How many connections a requester of a cell keeps open: one for each of its own in flight, unless fewer."""
    whole, parts = connections_of(cell.factors, cell.load.concurrency), in_all(cell.factors)
    return part(whole, parts, number_among_all(requesters_of(cell.factors), host, place))


def window_of(values: Values) -> int | None:
    """The smallest window that a cell sets, in bytes; None where it sets none."""
    windows = values.get(FLOW_WINDOW), values.get(TCP_WINDOW)
    return min((size for size in windows if isinstance(size, int)), default=None)


def rounds_beyond_first(values: Values, body_bytes: float) -> int:
    """Round trips beyond the first that a body of this size needs under the window that a cell sets; 0 without one."""
    window = window_of(values)
    return 0 if window is None else max(0, ceil(body_bytes / window) - 1)


_POOL = 10  # connections of a pool whose size no cell names
_SPARE = 20  # connections beside those of a responder's pool: of who seeds, of the server's own user


def ask_postgresql(cells: Iterable[Cell]) -> bool:
    """Whether the rows of one of them are in PostgreSQL."""
    return any(cell.factors.get(STORE) == POSTGRESQL for cell in cells)


def makes_stores(provider: str, cells: Iterable[Cell]) -> bool:
    """Whether PostgreSQL gets hosts of its own: where hosts are made, unless the environment names a server."""
    return PROVIDERS[provider].makes_hosts and not os.environ.get(GIVEN) and ask_postgresql(cells)


def postgresql_connections(cells: Iterable[Cell]) -> int:
    """How many connections a server must take: the largest pool's, and some to spare."""
    return max((_number(cell.factors, POOL, _POOL) for cell in cells), default=_POOL) + _SPARE


def cell_id(*, stack: str, operation: str, placement: str, values: Values, load: Load, find: Find | None = None) -> str:
    """The id of the cell of these parts, which are given by their ids: `rest-flask-requests__add__local__reuse__c1`."""
    offered = f"c{load.concurrency}"
    arrivals = "" if load.arrivals == "poisson" else f"-{load.arrivals}"
    if find is not None:
        offered = f"find{arrivals}" if find.concurrency is None else f"find{arrivals}-c{find.concurrency}"
    elif load.rate_per_s is not None:
        offered = f"r{format_rate(load.rate_per_s).removesuffix('/s')}{arrivals}-{offered}"
    elif load.think_s:
        thinking = "" if load.thinking == "constant" else f"-{load.thinking}"
        offered += f"-think{exact_duration(load.think_s).replace(' ', '')}{thinking}"
    return "__".join((stack, operation, placement, *short(values), offered))
