"""The store that a cell's rows are kept in: where there cannot be one, and what a plan needs for PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from orchestrator.catalogue.offers import Operation, Responder
from orchestrator.experiment.model.factor import Values
from orchestrator.experiment.model.factors import BY_NAME
from orchestrator.experiment.model.store_factors import DRIVER, GIVEN, POOL, POSTGRESQL, STORE, resources
from orchestrator.experiment.plan.plan import Cell
from orchestrator.experiment.plan.workers import workers_of
from orchestrator.experiment.providers import PROVIDERS
from services.python.contract.knobs import WORKERS
from services.python.contract.limits import Kind

NONE = BY_NAME[STORE].default
_POOL = 10  # connections of a pool whose size no cell names
_SPARE = 20  # connections beside those of a responder's pool: of who seeds, of the server's own user


def ask_postgresql(cells: Iterable[Cell]) -> bool:
    """Whether the rows of one of them are in PostgreSQL."""
    return any(cell.factors.get(STORE) == POSTGRESQL for cell in cells)


def makes_stores(provider: str, cells: Iterable[Cell]) -> bool:
    """Whether PostgreSQL gets hosts of its own: where hosts are made, unless the environment names a server."""
    return PROVIDERS[provider].makes_hosts and not os.environ.get(GIVEN) and ask_postgresql(cells)


def connections(cells: Iterable[Cell]) -> int:
    """How many connections a server must take: the largest pool's, and some to spare."""
    pools = (cell.factors.get(POOL) for cell in cells)
    return max((pool if isinstance(pool, int) else _POOL for pool in pools), default=_POOL) + _SPARE


def by_own_driver(call: Values, responder: Responder | None) -> Values:
    """How requests are made where nobody says by which library PostgreSQL is asked: by the responder's own first one.

    Where it asks no PostgreSQL the default stays, as with all others: cells that differ in no library are asked alike.
    """
    if responder is None or not responder.drivers or call[STORE] != POSTGRESQL or call[DRIVER] in responder.drivers:
        return call
    return {**call, DRIVER: responder.drivers[0]}


def refusal_of_driver(protocol: str, responder: Responder | None, call: Values) -> str | None:
    """Why a responder cannot ask PostgreSQL by the library of a cell; None where it can, or its libraries are not known."""
    if responder is None or not responder.drivers or call[STORE] != POSTGRESQL or call[DRIVER] in responder.drivers:
        return None
    known = " or ".join(responder.drivers)
    return f"{protocol}'s responder {responder.name} cannot do {DRIVER}: {call[DRIVER]}: it asks PostgreSQL by {known}"


def refusal_of_store(call: Values, asked_for: Sequence[Operation], kind: Kind, *, is_external: bool) -> str | None:
    """Why a cell cannot have its store, with what to do instead; None where it can. A mix asks for several operations."""
    if kind == "codec":
        return None
    of_a_store = [operation for operation in asked_for if STORE in operation.resources]
    if of_a_store and workers_of(call) > 1:
        return (
            f"`{WORKERS}: {call[WORKERS]}` with {of_a_store[0].name}: each worker would have a store of its own, and undo"
            f" what the others' payments change. Give `{WORKERS}: 1`"
        )
    if not resources(call):
        return None
    asked = next(f"`{name}: {value}`" for name, value in resources(call).items())
    if len(asked_for) != 1:
        return f"{asked}: a mix is answered from the responder's memory. Leave `{STORE}` out"
    (operation,) = asked_for
    if not of_a_store:
        return f"{asked}: {operation.name} asks no store. Leave `{STORE}` out"
    if is_external:
        return f"{asked}: the responder runs already, and what it asks is not known. Leave `{STORE}` out"
    store = call.get(STORE, NONE)
    if store == POSTGRESQL and DRIVER not in operation.resources:
        return f"{asked}: {operation.name} is kept in memory or in SQLite. Give `{STORE}: sqlite`"
    if store == NONE:
        return f"{asked}: rows in memory need no connection. Give a `{STORE}`"
    if store != POSTGRESQL and DRIVER in resources(call):
        return f"`{DRIVER}: {call[DRIVER]}` is of PostgreSQL. Give `{STORE}: {POSTGRESQL}`"
    return None
