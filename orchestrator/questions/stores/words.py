"""Where the handling time of requests to a store went: a row for each cell, and a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from orchestrator import quantities
from orchestrator.experiment.model.factors import BY_NAME, DRIVER, OF_THE_STORE, POOL, POSTGRESQL, STORE, short
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.questions.stores.times import PLACES, StoreTimes, Where
from orchestrator.wording.tables.table import Table, text_table

_HALF = 0.5  # from which share of the handling time on one part of it is called the bottleneck
_QUARTER = 0.25  # of the latency, below which handling is not what limits: coding, transport or the requester is

_MOST_NAMED = 3
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
_BOTTLENECKS: dict[Where, str] = {
    "database": "The database is the bottleneck",
    "pool": "The pool of connections is the bottleneck",
    "queue": "The responder itself, its threads and its event loop, is the bottleneck",
}


@dataclass(frozen=True, kw_only=True)
class StoreRow:
    """One cell: what is asked where, and the mean times of a request in ms."""

    cell: str
    stack: str
    asked: str
    store: str
    pool: str
    times: StoreTimes
    queries: float  # that a sample takes, those of all its calls; 0 where the store does not count them
    of_latency: float | None  # the handling time over the median latency; of events over the interval between two
    bottleneck: Where | None  # where half of the handling time goes, if that is a quarter of the latency

    @property
    def texts(self) -> tuple[str, ...]:
        """As a table shows it."""
        return (
            self.stack,
            self.asked,
            self.store,
            self.pool,
            f"{self.queries:.3g}" if self.queries else "-",
            quantities.ms(self.times.handling)
            + (f" ({quantities.percent(self.of_latency)})" if self.of_latency is not None else ""),
            *(
                f"{quantities.ms(getattr(self.times, where))} ({quantities.percent(self.times.share(where))})"
                for where in PLACES
            ),
            _MOST_OF_IT[self.times.most],
        )


def rows(cells: Iterable[CellSummary]) -> tuple[StoreRow, ...]:
    """Return a row for each cell whose responder says where its time went."""
    return tuple(_row(cell, cell.details.store_times) for cell in cells if cell.details.store_times is not None)


def sentence(cells: Iterable[CellSummary]) -> str:
    """Return which part of the handling time limits which cells; empty where none has half of it."""
    by_place: dict[Where, list[StoreRow]] = {}
    for row in rows(cells):
        if row.bottleneck in _BOTTLENECKS:
            by_place.setdefault(row.bottleneck, []).append(row)
    texts = []
    for where, limited in sorted(by_place.items(), key=lambda item: -len(item[1])):
        limited.sort(key=lambda row: -row.times.share(where))
        names = [
            f"{row.stack}, {row.asked}, {row.store}{row.pool and f' with {row.pool}'}"
            f" ({quantities.percent(row.times.share(where))} of the handling time)"
            for row in limited[:_MOST_NAMED]
        ]
        more = f"; and of {quantities.count(len(limited) - 1, 'more cell')}" if len(limited) > _MOST_NAMED else ""
        texts.append(f"{_BOTTLENECKS[where]} of {'; '.join(names if not more else names[:1])}{more}.")
    return " ".join(texts)


def _row(cell: CellSummary, times: StoreTimes) -> StoreRow:
    store, driver, pool = (cell.factors.get(name, BY_NAME[name].default) for name in (STORE, DRIVER, POOL))
    has_database = store not in (None, BY_NAME[STORE].default)
    stream, calls = cell.details.stream, cell.factors.get("calls")
    calls = calls if isinstance(calls, int) else 1
    time_ms = cell.distribution.median if cell.distribution else None
    if stream is not None:  # an event is handled until the next one is due
        time_ms = stream.interval
    of_latency = times.handling * calls / time_ms if time_ms else None
    queries = times.queries * calls
    named = BY_NAME[STORE].level(store).compared
    # Of how requests are made, what has no column of its own.
    call = short({name: value for name, value in cell.factors.items() if name not in _OF_THE_STORE})
    # Of several queries that together take longer than the sample some overlap: no part of that can be said to limit it.
    do_overlap = queries > 1 and of_latency is not None and of_latency > 1
    is_much = has_database and times.share(times.most) >= _HALF and (of_latency is None or of_latency >= _QUARTER)
    return StoreRow(
        cell=cell.id,
        stack=cell.stack_label,
        asked=", ".join((cell.operation, cell.placement, *call, cell.load)),
        store=f"{named} by {driver}" if store == POSTGRESQL else named,
        pool=BY_NAME[POOL].level(pool).compared if has_database else "",
        times=times,
        queries=queries,
        of_latency=of_latency,
        bottleneck=times.most if is_much and not do_overlap else None,
    )


def tables(summary: RunSummary) -> tuple[Table, ...]:
    """Return where the handling time of requests to a store went, a row for each cell."""
    texts = [row.texts for row in rows(summary.cells)]
    return (text_table("where the responder's handling time goes", HEADS, texts, (NOTE,), texts=1),) if texts else ()
