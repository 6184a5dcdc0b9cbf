"""The operation `events`: what a subscription asks for, what an event carries, and which one is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.streams import schedule
from services.python.operations import OPERATIONS
from services.python.operations.base import PayloadError
from services.python.operations.events import text_of

OPERATION = OPERATIONS["events"]
STREAM = OPERATION.stream
PAYLOAD = Payload(kind="events", size=24, per_second=500.0)


def subscription(seconds: float = 1.0, seed: int = 42) -> dict[str, Any]:
    return dict(STREAM.subscription(PAYLOAD, seed, seconds))


def event(number: int, **changes: Any) -> dict[str, Any]:
    return {"sequence": number, "sent_ns": 7, "data": text_of(42, 24, number), **changes}


@pytest.mark.parametrize(
    ("per_second", "seconds", "expected"),
    [
        (500.0, 10.0, (2_000_000, 5000)),
        (3.0, 1.0, (333_333_333, 3)),
        (1e9, 0.001, (1000, 1000)),
        (0.1, 1.0, (10**10, 1)),
        (5e-324, 1.0, (10**18, 1)),
    ],
)
def test_a_rate_becomes_whole_nanoseconds_and_a_whole_number_of_events(
    per_second: float, seconds: float, expected: tuple[int, int]
) -> None:
    assert schedule(per_second, seconds) == expected


def test_a_subscription_asks_for_what_is_due_in_that_time_and_the_check_for_one_event() -> None:
    assert subscription() == {"interval_ns": 2_000_000, "count": 500, "size": 24, "seed": 42}
    assert OPERATION.requests(PAYLOAD, 42)(1, lambda: 0) == {**subscription(), "count": 1}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (event(501), "numbered 501, of 500"),
        (event(0), "numbered 0"),
        (event(3, sequence=True), "numbered True"),
        (event(3, sequence="3"), "numbered '3'"),
        ({"sent_ns": 1, "data": ""}, "numbered None"),
        (event(3, sent_ns=-1), "the stamp -1"),
        (event(3, sent_ns=1.5), "the stamp 1.5"),
        (event(3, data=text_of(42, 24, 4)), "event 3 carries"),
        (event(3, data=None), "event 3 carries None"),
        (event(3, sent_ns=(1 << 62) + 1), "the stamp 4611"),
        (event(3, padding="x" * 1000), "the fields ['data', 'padding', 'sent_ns', 'sequence']"),
    ],
)
def test_a_wrong_event_is_told(wrong: dict[str, Any], words: str) -> None:
    assert words in (STREAM.verify(subscription(), wrong) or "right")
    assert STREAM.verify(subscription(), event(3)) is None


@pytest.mark.parametrize(
    "changes",
    [{"interval_ns": 999}, {"interval_ns": 10**18 + 1}, {"count": 0}, {"count": 2**40}, {"size": -1}, {"seed": "1"}],
)
def test_a_subscription_that_cannot_be_met_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        STREAM.schedule({**subscription(), **changes})


def test_a_payload_that_does_not_fit_is_refused() -> None:
    with pytest.raises(PayloadError, match="kind events"):
        STREAM.subscription(Payload(), 1, 1.0)
    with pytest.raises(PayloadError, match="above 0"):
        STREAM.subscription(Payload(kind="events", size=5), 1, 1.0)
