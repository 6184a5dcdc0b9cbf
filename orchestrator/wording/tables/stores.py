"""Where the handling time of requests to a store went: a row for each cell."""

from __future__ import annotations

from typing import Final

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, DRIVER, OF_THE_STORE, POOL, POSTGRESQL, STORE, short
from orchestrator.findings.summary import PLACES, CellSummary, RunSummary, StoreTimes, Where
from orchestrator.wording.tables.table import Table, text_table

_OF_THE_STORE = frozenset(factor.name for factor in OF_THE_STORE)

HEADS: Final = (
    "Stack",
    "Asked",
    "Store",
    "Pool",
    "Queries",
    "Handling",
    "Own queue",
    "Connection",
    "Database",
    "Service",
    "Most of it",
)
NOTE: Final = (
    "Handling: from the decoded request to the reply in plain values, by the responder's own clock, on average over the"
    " measured requests of a trial (the median over trials), and what share of the median latency that is, for all calls"
    " of a task. Of a stream it is that of an event, its part of the page of rows that it was read in, and its share of the"
    " interval between two events. Of it: the responder's own queue (waiting for one of its threads, or for its event loop),"
    " waiting for a connection of the pool, the database, and the operation's own code. Queries: how many each request took,"
    " or all calls of a task, on average (-: this store does not count them); of a nested query's resolvers the times are"
    " summed up, also where they overlap."
)
_MOST_OF_IT: dict[Where, str] = {
    "queue": "the responder's own queue",
    "pool": "waiting for a connection",
    "database": "the database",
    "service": "the service",
}


def _row(cell: CellSummary, times: StoreTimes) -> tuple[str, ...]:
    store, driver, pool = (cell.factors.get(name, BY_NAME[name].default) for name in (STORE, DRIVER, POOL))
    named = BY_NAME[STORE].level(store).compared
    # Of how requests are made, what has no column of its own.
    call = short({name: value for name, value in cell.factors.items() if name not in _OF_THE_STORE})
    stream, calls = cell.details.stream, cell.factors.get("calls")
    calls = calls if isinstance(calls, int) else 1
    time_ms = cell.distribution.median if cell.distribution else None
    if stream is not None:  # an event is handled until the next one is due
        time_ms = stream.interval
    of_latency = f" ({quantities.percent(times.handling * calls / time_ms)})" if time_ms else ""
    return (
        cell.labels.stack,
        ", ".join((cell.labels.operation, cell.labels.placement, *call, cell.labels.load)),
        f"{named} by {driver}" if store == POSTGRESQL else named,
        BY_NAME[POOL].level(pool).compared if store not in (None, BY_NAME[STORE].default) else "",
        f"{times.queries * calls:.3g}" if times.queries else "-",
        f"{quantities.ms(times.handling)}{of_latency}",
        *(f"{quantities.ms(getattr(times, where))} ({quantities.percent(times.share(where))})" for where in PLACES),
        _MOST_OF_IT[times.most],
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return where the handling time of requests to a store went, a row for each cell whose responder says so."""
    rows = [_row(cell, times) for cell in summary.cells if (times := cell.details.store_times) is not None]
    return (text_table("where the responder's handling time goes", HEADS, rows, (NOTE,), texts=1),) if rows else ()
