"""The operation `activity`: where a subscription begins, which rows its events carry, and which event is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.messages import ACTIVITY
from services.python.operations import OPERATIONS
from services.python.operations.activity import PAGE
from services.python.operations.base import PayloadError
from services.python.stores import seed
from services.python.stores.base import Held, Spent, StoreError, opened

OPERATION = OPERATIONS["activity"]
STREAM = OPERATION.stream
READ = STREAM.page
PAYLOAD = Payload(kind="events", per_second=500.0)


@pytest.fixture
def held() -> Iterator[Held]:
    with opened({}) as held:
        yield held


def subscription(**changes: Any) -> dict[str, Any]:
    return {**STREAM.subscription(PAYLOAD, 42, 1.0), **changes}


def sent(asked: dict[str, Any], held: Held, spent: Spent | None = None) -> list[dict[str, Any]]:
    """What all events of a subscription carry, page by page."""
    schedule = STREAM.schedule(asked)
    found: list[dict[str, Any]] = []
    while len(found) < schedule.count:
        wanted = schedule.page(len(found) + 1)
        assert 1 <= wanted["count"] <= PAGE
        found += READ.answer(wanted, lambda: 0, held, spent or Spent())["events"]
    return found


def event(number: int, **changes: Any) -> dict[str, Any]:
    row = seed.transactions()[(subscription()["after"] + number - 1) % seed.TRANSACTIONS]
    carried = dict(zip(("transaction", "payer", "payee", "amount"), row, strict=True))
    return {"sequence": number, "sent_ns": 7, **carried, **changes}


def test_a_subscription_begins_where_the_seed_says_and_the_check_asks_for_one_event() -> None:
    asked = subscription()
    assert asked == {"interval_ns": 2_000_000, "count": 500, "after": asked["after"]}
    assert asked.keys() == ACTIVITY.request.keys()
    assert OPERATION.requests(PAYLOAD, 42)(1, lambda: 0) == {**asked, "count": 1}
    begins = {STREAM.subscription(PAYLOAD, one, 1.0)["after"] for one in range(50)}
    assert len(begins) > 40
    assert all(0 <= after < seed.TRANSACTIONS for after in begins)


@pytest.mark.parametrize("after", [0, 77, seed.TRANSACTIONS - 130, seed.TRANSACTIONS - 1])
def test_events_are_the_rows_behind_that_number_and_then_the_first_again(after: int, held: Held) -> None:
    asked, spent = subscription(count=2 * PAGE + 50, after=after), Spent()
    found = sent(asked, held, spent)
    assert [each["transaction"] for each in found] == [
        (after + place) % seed.TRANSACTIONS + 1 for place in range(2 * PAGE + 50)
    ]
    for number, carried in enumerate(found, start=1):
        assert STREAM.verify(asked, {"sequence": number, "sent_ns": 1, **carried}) is None
    assert spent.events == len(found) == asked["count"]


def test_payments_that_were_entered_meanwhile_are_in_no_stream(held: Held) -> None:
    held.store.pay(1, 2, 3, Spent())
    found = sent(subscription(count=4, after=seed.TRANSACTIONS - 2), held)
    assert [each["transaction"] for each in found] == [seed.TRANSACTIONS - 1, seed.TRANSACTIONS, 1, 2]


def test_rows_that_are_not_there_end_the_stream_in_clear_words(held: Held) -> None:
    with pytest.raises(StoreError, match="of the 10 transactions after 99,995 the store has 5"):
        READ.answer({"after": 99_995, "count": 10}, lambda: 0, held, Spent())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (event(501), "numbered 501, of 500"),
        (event(3, transaction=event(4)["transaction"]), "event 3 has transaction"),
        (event(3, payer=0), "event 3 has payer 0, not"),
        (event(3, payee=None), "event 3 has payee None"),
        (event(3, amount=str(event(3)["amount"])), "event 3 has amount '"),
        (event(3, amount=float(event(3)["amount"])), "event 3 has amount"),
        ({name: value for name, value in event(3).items() if name != "amount"}, "event 3 has amount None"),
        (event(3, data="x"), "the fields ['amount', 'data',"),
    ],
)
def test_a_wrong_event_is_told(wrong: dict[str, Any], words: str) -> None:
    assert words in (STREAM.verify(subscription(), wrong) or "right")
    assert STREAM.verify(subscription(), event(3)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 0},
        {"after": -1},
        {"after": seed.TRANSACTIONS},
        {"after": True},
        {"after": None},
    ],
)
def test_a_subscription_that_cannot_be_met_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        STREAM.schedule(subscription(**changes))


def test_a_payload_that_does_not_fit_is_refused() -> None:
    with pytest.raises(PayloadError, match="kind events"):
        STREAM.subscription(Payload(), 1, 1.0)
    with pytest.raises(PayloadError, match="above 0"):
        STREAM.subscription(Payload(kind="events"), 1, 1.0)
    with pytest.raises(PayloadError, match="have no size"):
        STREAM.subscription(Payload(kind="events", size=5, per_second=1.0), 1, 1.0)
