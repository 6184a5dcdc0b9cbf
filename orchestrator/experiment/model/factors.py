"""What can differ between two cells: every factor once, and nowhere else.

Keys of experiment files, the matrix and its ids, `exclude`, columns of samples, comparing and the report go through
`FACTORS`; so do both end programs, which receive a factor that `reaches` them as a knob.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Any

from orchestrator.experiment.model.factor import Factor, Numbers, Value, Values, chosen, fixed_by, level, of_payload

CALLS = "calls"
PIN = "pin"
REQUESTERS = "requesters"
FETCH = "fetch"
BATCHING = "batching"
FIELDS = "fields"
WHOLE = "whole"
AT_ONCE = "at-once"
STORE = "store"
POOL = "pool"
DRIVER = "driver"
DATABASE = "database"
SQLITE = "sqlite"
POSTGRESQL = "postgresql"
OWN_DRIVERS = ("psycopg", "pgx")
"""The default PostgreSQL drivers of responders: each has one of them."""
GIVEN = "ORCH_POSTGRESQL"
"""The environment's variable that holds the DSN of a server that runs already; it may hold a password, and is in no file."""
STACK = "stack"
"""What cells are compared by unless an experiment says otherwise: protocol, responder and client together."""
_OF_PAYLOADS = ("bytes", "reply_bytes", "records", "per_second", "schema_change")
_WITH_PAYLOADS = ("payload", *_OF_PAYLOADS)

FACTORS: tuple[Factor, ...] = (
    fixed_by("stack", "protocol", "name"),
    fixed_by("stack", "responder", "name"),
    fixed_by("stack", "client", "name"),
    fixed_by(
        "operation", "operation", "name", "name", reaches="program", compared_as="for {}", varies_with=_WITH_PAYLOADS
    ),
    fixed_by(
        "operation", "payload", "text", "asked", compared_as="at {}", varies_with=_OF_PAYLOADS, is_excludable=False
    ),
    of_payload("bytes", "bytes", "size", unit=" B", compared_as="at {}"),
    of_payload("reply_bytes", "bytes", "reply_size", unit=" B", compared_as="with a reply of {}"),
    of_payload("records", "count", "count", compared_as="with {} records"),
    of_payload("per_second", "rate", "per_second", title="events per second", unit="/s", compared_as="at {}"),
    of_payload(
        "schema_change",
        "level",
        "schema_change",
        levels=(
            level("none", "one schema"),
            level("added", "a field added"),
            level("removed", "a field removed"),
            level("renamed", "a field renamed"),
            level("renamed-without-alias", "a field renamed without an alias"),
            level("renumbered", "a field renumbered"),
            level("widened", "a field widened"),
            level("retyped", "a field retyped"),
        ),
    ),
    fixed_by("operation", CALLS, "count", reaches="program", unit=" calls", compared_as="in {}"),
    fixed_by("placement", "placement", "name", "name", compared_as="at {}", varies_with=("pin",)),
    fixed_by(
        "placement",
        PIN,
        "level",
        title="CPUs of both ends",
        levels=(
            level("apart", "both ends on CPUs of their own", compared="both ends on two CPUs"),
            level("together", "both ends on one CPU"),
            level("off", "neither end pinned"),
        ),
        varies_with=("placement",),
    ),
    chosen(
        "connection",
        reaches="connection",
        levels=(
            level("reuse", "connections kept open", compared="a kept connection"),
            level("per-request", "a new connection for each request", compared="a connection per request"),
        ),
        description="Keep connections (reuse), or open one per request (per-request)",
        column="policy",
        is_always_said=True,
    ),
    chosen(
        "compression",
        levels=(
            level("none", "bodies not compressed", compared="no compression"),
            level("gzip", "bodies compressed with gzip", compared="gzip"),
            level("zstd", "bodies compressed with zstd", compared="zstd"),
        ),
        description="Compress the bodies of requests and replies (gzip, zstd), or not (none)",
        column="compression",
    ),
    chosen(
        "http",
        title="HTTP",
        levels=(
            level("1.1", "HTTP/1.1"),
            level("2", "HTTP/2", said="http2"),
            level("3", "HTTP/3", said="http3"),
        ),
        description="Which version of HTTP carries the protocols that leave it open (1.1, 2 or 3)",
    ),
    chosen(
        "document",
        levels=(
            level("typed", "JSON documents as a typed message", compared="a typed message"),
            level("value", "JSON documents as google.protobuf.Value", compared="google.protobuf.Value"),
        ),
        description="Carry the user's own JSON over Protocol Buffers as a message made from its shape (typed), or as "
        "google.protobuf.Value (value)",
    ),
    chosen(
        "tls",
        title="encryption",
        levels=(level("none", "no TLS"), level("tls1.3", "TLS 1.3")),
        description="Encrypt connections by TLS 1.3, with certificates made for the run (tls1.3), or not (none)",
        column="tls",
        has_streams=True,
    ),
    chosen(
        "session",
        title="TLS session",
        levels=(
            level("new", "full TLS handshakes", compared="a full TLS handshake"),
            level("resumed", "resumed TLS sessions", compared="a resumed TLS session"),
        ),
        description="Have a new connection resume the TLS session of an earlier one (resumed), or not (new)",
        column="session",
    ),
    chosen(
        "connections",
        levels=(level("each", "a connection for each request in flight", compared="a connection for each"),),
        numbers=Numbers(
            least=1,
            most=10_000,
            words="{} connections for all requests in flight",
            compared="{} connections for all",
            one="one connection for all requests in flight",
        ),
        description="Share so many kept connections among the requests in flight (gRPC: channels), or keep one for each "
        "of them (each)",
    ),
    chosen(
        "flow_window",
        levels=(level("library", "HTTP/2 windows as the library sets them", compared="the library's window"),),
        numbers=Numbers(
            least=65_535,
            most=2_147_483_647,
            words="HTTP/2 windows of {}",
            compared="a window of {}",
            measure="size",
            why="what HTTP/2 begins with, and the most that it has",
        ),
        description="How many bytes HTTP/2 lets a peer send on a stream before it has to wait: from 65535 B on, or "
        "what the library finds fit (library)",
    ),
    chosen(
        "tcp_window",
        title="TCP window",
        levels=(level("system", "TCP windows as the hosts set them", compared="the hosts' own TCP window"),),
        numbers=Numbers(
            least=8_192,
            most=1_073_741_824,
            words="TCP windows of {}",
            compared="a TCP window of {}",
            measure="size",
            why="a few segments, and the most that TCP has",
        ),
        description="How many bytes TCP lets a peer send until they are acknowledged (the receive window of both ends), "
        "from 8 KiB on, or as the hosts set it (system)",
    ),
    chosen(
        "keepalive",
        title="keep-alive",
        levels=(level("none", "no keep-alive pings"),),
        numbers=Numbers(least=10, most=3_600_000, words="a keep-alive ping every {}", measure="time"),
        description="How often the requester pings a kept HTTP/2 connection (10ms to 1h), or never (none)",
    ),
    chosen(
        "congestion",
        title="congestion control",
        levels=(
            level("system", "the hosts' own congestion control"),
            *(level(name, f"congestion control {name}", name) for name in ("cubic", "reno", "bbr")),
        ),
        description="TCP's congestion control at both ends (cubic, reno, bbr), or the hosts' own (system)",
    ),
    chosen(
        "nodelay",
        title="small segments",
        levels=(
            level("immediate", "small segments sent at once (TCP_NODELAY)", compared="small segments sent at once"),
            level("nagle", "requests' small segments held back by Nagle's algorithm", compared="Nagle's algorithm"),
        ),
        description="Whether the requester sends small segments at once (immediate), or holds them back while others are "
        "not acknowledged (nagle); the responder always sends at once",
    ),
    chosen(
        "read_rate",
        levels=(level("unlimited", "events read as they come", compared="a client that reads events as they come"),),
        numbers=Numbers(
            least=1,
            most=1_000_000,
            words="clients that read at most {}",
            compared="a client that reads at most {}",
            measure="rate",
        ),
        description="How many events a second each client of a stream reads at most (100/s): a slow reader; or as they "
        "come (unlimited)",
        has_streams=True,
        is_of_streams=True,
    ),
    chosen(
        REQUESTERS,
        title="requester hosts",
        reaches="hosts",
        numbers=Numbers(least=1, most=64, words="{} requester hosts", one="one requester host"),
        description="So many requester hosts for one responder, which share requests in flight, rate and requests",
        has_streams=True,
    ),
    chosen(
        "processes",
        title="requester processes",
        reaches="hosts",
        numbers=Numbers(least=1, most=64, words="{} requester processes", one="one requester process"),
        description="So many requester processes on each requester's host, which share its requests in flight, its rate "
        "and its requests",
    ),
    chosen(
        "workers",
        title="responder workers",
        numbers=Numbers(least=1, most=64, words="{} responder workers", one="one responder worker"),
        description="So many worker processes that answer on the responder's one port, where its server has them",
    ),
    chosen(
        STORE,
        reaches="resource",
        levels=(
            level("none", "rows in the responder's memory", compared="no database"),
            level(SQLITE, "rows in SQLite", compared="SQLite"),
            level(POSTGRESQL, "rows in PostgreSQL", compared="PostgreSQL"),
        ),
        description="Keep accounts and transactions in the responder's memory (none), or in a database: SQLite in WAL "
        "mode (sqlite), or PostgreSQL (postgresql)",
        column="store",
        has_streams=True,
    ),
    chosen(
        POOL,
        reaches="resource",
        levels=(level("standard", "a pool of 10 connections to the database", compared="a pool of 10 connections"),),
        numbers=Numbers(
            least=1,
            most=1_000,
            words="a pool of {} connections to the database",
            compared="a pool of {} connections",
            one="a pool of one connection to the database",
            why="a pool without a connection answers nobody",
        ),
        description="How many connections to the database the responder keeps, 1 to 1000; 10 unless given (standard)",
        has_streams=True,
    ),
    chosen(
        DRIVER,
        reaches="resource",
        levels=(
            level("psycopg", "psycopg 3 in threads", compared="psycopg"),
            level("asyncpg", "asyncpg on the event loop", compared="asyncpg"),
            level("pgx", "pgx in goroutines", compared="pgx"),
        ),
        description="The PostgreSQL driver of the responder: in Python psycopg 3 in threads (psycopg), or asyncpg "
        "on its event loop (asyncpg); in Go pgx; its own first one unless given",
        has_streams=True,
    ),
    chosen(
        FETCH,
        levels=(
            level(WHOLE, "all in one call", compared="one call"),
            level("in-a-row", "a call for each part, in a row", compared="calls in a row"),
            level(AT_ONCE, "a call for each part, all at once", compared="calls at once"),
        ),
        varies_with=(CALLS,),
        description="Ask an operation that is made of others in one call (whole), or those others in its place: one after "
        "the other on one connection (in-a-row), or all at once (at-once), over HTTP/1.1 on a connection "
        "each, over HTTP/2 on one",
    ),
    chosen(
        BATCHING,
        levels=(
            level("none", "a query by each resolver"),
            level("dataloader", "resolvers' queries put together by a DataLoader", compared="a DataLoader"),
        ),
        description="Have each of GraphQL's resolvers query the store for itself (none: N + 1 queries), or put the "
        "queries of a page's posts together by a DataLoader (dataloader)",
    ),
    chosen(
        FIELDS,
        levels=(
            level("all", "every field needed"),
            level("shown", "only the fields needed that a list shows", compared="few fields needed"),
        ),
        description="Which fields of a page its reader needs: all, or the few that a list shows (shown): GraphQL's query "
        "selects them alone, others send all, and what nobody needs is counted",
    ),
    fixed_by("load", "concurrency", "count", unit=" in flight", column="concurrency"),
    fixed_by("load", "rate", "rate", "rate_per_s", unit="/s", compared_as="at {}", varies_with=("concurrency",)),
    fixed_by(
        "load",
        "arrivals",
        "level",
        unit=" arrivals",
        needs="rate_per_s",
        levels=(level("poisson", "Poisson arrivals"), level("uniform", "uniform arrivals")),
    ),
    fixed_by("load", "think", "time", "think_s", title="think time", lacks="rate_per_s"),
    fixed_by(
        "load",
        "thinking",
        "level",
        title="think times",
        unit=" think times",
        lacks="rate_per_s",
        levels=(level("constant", "constant think times"), level("exponential", "exponential think times")),
    ),
)
"""A cell has a value of `pin` where a list of them was given: then each is a placement of its own, with its own floor."""
BY_NAME: Mapping[str, Factor] = {factor.name: factor for factor in FACTORS}
OF_THE_CALL: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.belongs_to == "call")
OF_THE_LOAD: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.belongs_to == "load")
OF_THE_STORE: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.reaches == "resource")
KNOBS: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.reaches == "knob")
COLUMNS: tuple[str, ...] = tuple(factor.column for factor in FACTORS if factor.column)
DEFAULTS: Mapping[str, Value] = {factor.name: factor.default for factor in OF_THE_CALL}


def values(*, stack: Any, operation: Any, placement: Any, load: Any, call: Values = DEFAULTS) -> dict[str, Value]:
    """Every factor of a cell made of these parts; what `call` leaves out has its default."""
    parts = {"stack": stack, "operation": operation, "placement": placement, "load": load, "call": {**DEFAULTS, **call}}
    cell = {
        factor.name: parts["call"][factor.name] if factor.belongs_to == "call" else factor.read(parts)
        for factor in FACTORS
    }
    if stack.steps > 1:
        return {**cell, CALLS: stack.steps}
    return {**cell, CALLS: len(operation.made_of)} if is_in_pieces(cell) and operation.made_of else cell


def choices(chosen: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    """Every combination of the values chosen for the factors of a call, the last one varying fastest."""
    for combination in product(*(chosen[factor.name] for factor in OF_THE_CALL)):
        yield {factor.name: value for factor, value in zip(OF_THE_CALL, combination, strict=True)}


def of_load(cell: Values, without: Collection[str] = ()) -> tuple[str, ...]:
    """What a cell's load is beyond requests in flight and rate, in words: `uniform arrivals`, `think time 10 ms`."""
    others = [factor for factor in OF_THE_LOAD if factor.name not in ("concurrency", "rate", *without)]
    present = (factor for factor in others if factor.name != "thinking" or cell.get("think"))
    return tuple(factor.text(value) for factor in present if not factor.is_usual(value := cell.get(factor.name)))


def without_call() -> dict[str, Value]:
    """The factors of a call in a cell without calls: no value, as none applies."""
    return dict.fromkeys(DEFAULTS)


def of_the_call(cell: Values) -> tuple[Value, ...]:
    """How a cell's requests are made: what cells that differ in the stack alone have in common, beside their parts."""
    return tuple(cell.get(factor.name, factor.default) for factor in OF_THE_CALL)


def said(cell: Values) -> list[tuple[Factor, Value]]:
    """The factors of a call that ids, titles and sentences name: those that differ from the default, and some always."""
    chosen = zip(OF_THE_CALL, of_the_call(cell), strict=True)
    applying = ((factor, value) for factor, value in chosen if value is not None)
    return [(factor, value) for factor, value in applying if factor.is_always_said or value != factor.default]


def short(cell: Values) -> tuple[str, ...]:
    """The values that are named, as in ids and names: `reuse`, `http2`, `connections-4`."""
    return tuple(factor.short(value) for factor, value in said(cell))


def phrases(cell: Values) -> tuple[str, ...]:
    """The values that are said, in words: `connections kept open`."""
    return tuple(factor.level(value).words for factor, value in said(cell))


def knobs(cell: Values) -> dict[str, str]:
    """The settings that both end programs receive beside the trial's own keys; empty where all have their defaults."""
    return _beside_defaults(KNOBS, cell)


def resources(cell: Values) -> dict[str, str]:
    """The settings of a cell's store that a responder receives, by name; empty where rows are in memory."""
    return _beside_defaults(OF_THE_STORE, cell)


def _beside_defaults(factors: tuple[Factor, ...], cell: Values) -> dict[str, str]:
    values = ((factor, cell.get(factor.name, factor.default)) for factor in factors)
    return {factor.name: str(value) for factor, value in values if value is not None and value != factor.default}


def in_columns(cell: Values) -> dict[str, Value]:
    """The values in samples files, by column: the default of what is not given, `n/a` for what does not apply."""
    of_cell = ((factor, cell.get(factor.name, factor.default)) for factor in FACTORS if factor.column)
    return {factor.column: "n/a" if factor.levels and value is None else value for factor, value in of_cell}


def requesters_of(values: Values) -> int:
    """Return how many requester hosts a cell has; 1 by default."""
    number = values.get(REQUESTERS)
    return number if isinstance(number, int) else 1


def is_in_pieces(values: Values) -> bool:
    """Whether the parts of an operation are requested in its place."""
    return values.get(FETCH) not in (None, WHOLE)


def in_a_row(values: Values, calls: int) -> int:
    """How many of a sample's calls wait for one another."""
    return 1 if values.get(FETCH) == AT_ONCE else calls
