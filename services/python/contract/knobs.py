"""Which values an end can be told of a knob: texts as they are, and ranges of whole numbers (`1..64`)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final

from services.python.contract.limits import RESUMED, SESSION, TLS, TLS_1_3

CONNECTIONS: Final = "connections"
HTTP: Final = "http"
FLOW_WINDOW: Final = "flow_window"
KEEPALIVE: Final = "keepalive"
TCP_WINDOW: Final = "tcp_window"
WORKERS: Final = "workers"
READ_RATE: Final = "read_rate"  # at most so many events a second each client of a stream reads
READ_RATES: Final = ("unlimited", "1..1000000")

CONGESTION: Final = "congestion"
IN_FORCE: Final = "congestion control"  # under which name an end tells among its settings which one it had
NODELAY: Final = "nodelay"
NAGLE: Final = "nagle"

HTTP_2: Final = "2"
HTTP_3: Final = "3"  # on QUIC, over UDP: neither TCP nor what the kernel knows of it is in its way
MULTIPLEXED: Final = (HTTP_2, HTTP_3)  # the versions of HTTP that carry several requests on one connection at a time

BATCHING: Final = "batching"
DATALOADER: Final = "dataloader"
FIELDS: Final = "fields"  # which fields of a reply its reader needs
ALL_FIELDS: Final = "all"
SHOWN: Final = "shown"
FETCH: Final = "fetch"  # whether an operation is asked as one call, or the operations that it is made of in its place
WHOLE: Final = "whole"
IN_A_ROW: Final = "in-a-row"
AT_ONCE: Final = "at-once"
FETCHES: Final = (WHOLE, IN_A_ROW, AT_ONCE)

PSYCOPG: Final = "psycopg"
ASYNCPG: Final = "asyncpg"
DRIVERS: Final = (PSYCOPG, ASYNCPG)
"""The libraries by which Python's responders ask PostgreSQL, the first one unless they are told otherwise."""

NO_LOOP: Final[Mapping[str, str]] = {
    "driver: asyncpg": "its server answers in threads, and has no event loop to await it on"
}
"""What a responder refuses that is not on an event loop."""

OF_SOCKETS: Final[Mapping[str, tuple[str, ...]]] = {
    CONGESTION: ("system", "cubic", "reno", "bbr"),
    NODELAY: ("immediate", NAGLE),
    TCP_WINDOW: ("system", "8192..1073741824"),
}
"""Knobs of the sockets themselves: every protocol has them, whatever library opened its connections."""

WHY_NOT: Final[Mapping[str, str]] = {
    CONNECTIONS: "each of its connections carries one request at a time",
    FLOW_WINDOW: "it has no window beside TCP's own",
    KEEPALIVE: "it has no pings that the library sends by itself",
    BATCHING: "it has no resolvers, whose queries a DataLoader could put together",
    FIELDS: "its requester cannot be told which fields of a reply it needs",
    FETCH: "none of its clients asks several operations on one connection",
    WORKERS: "each of its responders is one process",
    READ_RATE: "it carries no stream that a client could read slowly",
}
"""Why a protocol has no such knob, where it does not say so itself."""

SEVERAL: Final = ("1", "2..64")  # the values of `workers` at a protocol that has responders of several processes
OWN_TICKETS: Final = "each worker has keys of its own for its tickets, and no other one takes them"

REPLIES: Final = f"{FLOW_WINDOW}: replies"
"""What a client refuses whose own window cannot be set: then the responder's is, and requests alone are held back by it."""


def refusal_of_sharing(known: Iterable[str], knobs: Mapping[str, str]) -> str | None:
    """Why requests cannot share connections, by the version of HTTP that carries them; None where they can, or need not.

    `known` are the knobs that both ends have.
    """
    if CONNECTIONS not in knobs or HTTP not in known or knobs.get(HTTP) in MULTIPLEXED:
        return None
    return f"over HTTP/1.1 each of its connections carries one request at a time; give it `{HTTP}: {HTTP_2}`"


def allows(known: Iterable[str], value: str) -> bool:
    """Whether a value is one of these, or in one of their ranges."""
    for each in known:
        least, dots, most = each.partition("..")
        if value == each or (dots and value.isdecimal() and value.isascii() and int(least) <= int(value) <= int(most)):
            return True
    return False


def unfit(knobs: Mapping[str, str], known: Container[str]) -> str | None:
    """Why these knobs do not go together at an end that has those in `known`; None where they do."""
    window = knobs.get(FLOW_WINDOW)
    if window is not None and HTTP in known and knobs.get(HTTP) != HTTP_2:
        return f"{FLOW_WINDOW}: {window}: without {HTTP}: {HTTP_2} {WHY_NOT[FLOW_WINDOW]}"
    if knobs.get(HTTP) == HTTP_3:
        if knobs.get(TLS) != TLS_1_3:
            return f"{HTTP}: {HTTP_3} without {TLS}: {TLS_1_3}: QUIC is always encrypted by TLS 1.3 (RFC 9001)"
        if (name := next((name for name in OF_SOCKETS if name in knobs), None)) is not None:
            return f"{name}: {knobs[name]}: with {HTTP}: {HTTP_3} there is no TCP, and QUIC's is its library's own"
    if WORKERS in knobs and knobs.get(SESSION) == RESUMED:
        return f"{WORKERS}: {knobs[WORKERS]}: with {SESSION}: {RESUMED} {OWN_TICKETS}"
    return None
