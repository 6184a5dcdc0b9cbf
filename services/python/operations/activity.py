"""`activity`: a subscription that follows the table of transactions, an event for each row, at a rate.

The table is that of `protos/store.md`, and has every number from 1 to the last: event n of a subscription to what follows
transaction a is transaction a + n, and behind the last one comes the first again. The sender reads rows in pages, with one
query each, where the store says; it asks for the next page when the last row of the one before is handed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from services.python.contract.generator import below, words
from services.python.contract.lines import Payload
from services.python.contract.messages import ACTIVITY
from services.python.operations import base
from services.python.operations.events import STAMPED, asked, due, misnumbered, no_reply
from services.python.stores import seed
from services.python.stores.base import RESOURCES, Held, Spent, StoreError, opened
from services.python.stores.seed import Transaction

PAGE: Final = 100  # rows that are read at once

_ROW = tuple(name for name in ACTIVITY.reply if name not in STAMPED)


def _subscription(payload: Payload, seed_: int, seconds: float) -> base.Request:
    asked_for = due("activity", payload, seconds)
    if payload.size:
        raise base.PayloadError("activity: its events are rows of a table, and have no size")
    [word] = words(f"activity/{seed_}", 1)
    return {**asked_for, "after": below(word, seed.TRANSACTIONS)}


def _requests(payload: Payload, seed_: int) -> base.Make:
    request = _subscription(payload, seed_, 0.0)
    return lambda _sequence, _wall_clock_ns: request


def _schedule(request: base.Request) -> base.Schedule:
    interval_ns, count = asked(request)
    if (after := base.whole(request, "after")) >= seed.TRANSACTIONS:
        raise ValueError(f"after must be from 0 to {seed.TRANSACTIONS - 1:,}, a number with a transaction behind it")

    def page(number: int) -> base.Request:
        read = _place(after, number)
        return {"after": read, "count": min(PAGE, count - number + 1, seed.TRANSACTIONS - read)}

    return base.Schedule(count=count, interval_ns=interval_ns, page=page)


def _place(after: int, number: int) -> int:
    return (after + number - 1) % seed.TRANSACTIONS


def _read(request: base.Request, _: base.WallClockNs, held: Held, spent: Spent) -> dict[str, Any]:
    return _page(request, held.store.after(request["after"], request["count"], spent), spent)


async def _read_on_loop(request: base.Request, _: base.WallClockNs, held: Held, spent: Spent) -> dict[str, Any]:
    return _page(request, await held.store.after(request["after"], request["count"], spent), spent)


def _page(request: base.Request, rows: Sequence[Transaction], spent: Spent) -> dict[str, Any]:
    after, count = request["after"], request["count"]
    if len(rows) != count:
        raise StoreError(f"of the {count:,} transactions after {after:,} the store has {len(rows):,}")
    spent.events += count
    return {"events": [dict(zip(_ROW, row, strict=True)) for row in rows]}


def _verify(request: base.Request, event: base.Event | base.Reply) -> str | None:
    if why := misnumbered(request, event):
        return why
    number = event["sequence"]
    for name, wanted in zip(_ROW, seed.transactions()[_place(request["after"], number)], strict=True):
        if type(got := event.get(name)) is not int or got != wanted:
            return f"event {number} has {name} {base.shorten(got)}, not {wanted}"
    if len(event) != len(ACTIVITY.reply):
        return f"event {number} has the fields {base.shorten(sorted(event))}"
    return None


_PAGE = base.Operation(
    name="activity",
    message=ACTIVITY,
    requests=_requests,
    answer=_read,
    awaited=_read_on_loop,
    verify=_verify,
    runs="held",
)

OPERATION = base.Operation(
    name="activity",
    message=ACTIVITY,
    kind="stream",
    payloads=("events",),
    requests=_requests,
    answer=no_reply,
    verify=_verify,
    open=opened,
    resources=RESOURCES,
    stream=base.Stream(subscription=_subscription, schedule=_schedule, verify=_verify, page=_PAGE),
)
