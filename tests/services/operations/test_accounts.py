"""`balance`, `payment`, `transactions` and `accounts`: requests of a seed, answers of a store, and what is a wrong reply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.messages import OF_ACCOUNTS, OF_THE_STORE
from services.python.operations import OPERATIONS, PayloadError
from services.python.stores import seed
from services.python.stores.base import Held, Spent, opened

NAMES = sorted(OF_ACCOUNTS)


@pytest.fixture
def held() -> Iterator[Held]:
    with opened({}) as held:
        yield held


def asked(name: str, seed_: int = 7, sequence: int = 1) -> dict[str, Any]:
    return dict(OPERATIONS[name].requests(Payload(), seed_)(sequence, lambda: 0))


def answer(name: str, request: Any, held: Held) -> dict[str, Any]:
    return OPERATIONS[name].answer(request, lambda: 0, held, Spent())


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_a_right_reply_and_has_the_fields_of_its_message(name: str, held: Held) -> None:
    operation = OPERATIONS[name]
    for sequence in range(1, 30):
        request = asked(name, sequence=sequence)
        assert request.keys() == operation.message.request.keys()
        reply = answer(name, request, held)
        assert reply.keys() == operation.message.reply.keys()
        assert operation.verify(request, reply) is None
    assert asked(name) == asked(name)
    assert asked(name) != asked(name, seed_=8)
    assert asked(name) != asked(name, sequence=2)


@pytest.mark.parametrize("name", sorted(OF_THE_STORE))
def test_a_payload_is_refused(name: str) -> None:
    with pytest.raises(PayloadError, match=name):
        OPERATIONS[name].requests(Payload(kind="bytes", size=1), 7)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("balance", {"balance": 1}),
        ("balance", {"owner": "somebody"}),
        ("balance", {"account": 0}),
        ("balance", {"more": 1}),
        ("payment", {"payment": seed.TRANSACTIONS}),
        ("payment", {"payment": 0}),
        ("payment", {"payment": True}),
        ("payment", {"balance": -1}),
        ("payment", {"balance": 2**31}),
        ("payment", {"balance": 1.0}),
        ("payment", {"accepted": 1}),
        ("payment", {"accepted": False}),
        ("payment", {"accepted": False, "payment": 0, "balance": 10_000}),
        ("transactions", {"transactions": []}),
        ("transactions", {"transactions": None}),
        ("accounts", {"accounts": []}),
    ],
)
def test_a_wrong_reply_is_found(name: str, changes: dict[str, Any], held: Held) -> None:
    request = asked(name)
    reply = {**answer(name, request, held), **changes}
    assert OPERATIONS[name].verify(request, reply)


@pytest.mark.parametrize(
    ("name", "request_", "why"),
    [
        ("balance", {"account": 10_001}, "no account 10001"),
        ("balance", {"account": "1"}, "whole number"),
        ("balance", {}, "whole number"),
        ("payment", {"payer": 1, "payee": 2, "amount": 1.5}, "whole number"),
        ("payment", {"payer": 1, "payee": 1, "amount": 1}, "itself"),
        ("transactions", {"account": 1, "count": 0}, "1 to 1,000"),
        ("accounts", {"after": 1, "count": 1_001}, "1 to 1,000"),
        ("accounts", {"after": True, "count": 1}, "whole number"),
    ],
)
def test_a_request_that_cannot_be_answered_says_why(name: str, request_: Any, why: str, held: Held) -> None:
    with pytest.raises(ValueError, match=why):
        answer(name, request_, held)
