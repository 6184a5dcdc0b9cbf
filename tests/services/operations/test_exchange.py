"""The floor's own operation."""

from __future__ import annotations

import pytest

from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS

EXCHANGE = OPERATIONS["exchange"]


def test_only_the_second_request_opens_the_window_and_its_reply_is_as_much_larger():
    make = EXCHANGE.requests(Payload(kind="exchange", size=100, reply_size=30, opening=8), 1)
    requests = [make(sequence, lambda: 0) for sequence in range(1, 6)]
    assert [len(request["data"]) for request in requests] == [100, 800, 100, 100, 100]
    replies = [EXCHANGE.answer(request, lambda: 0) for request in requests]
    assert [len(reply["data"]) for reply in replies] == [30, 240, 30, 30, 30]
    assert not any(EXCHANGE.verify(*pair) for pair in zip(requests, replies, strict=True))


def test_a_floor_whose_window_opens_by_nothing_is_refused():
    with pytest.raises(ValueError, match="opening"):
        EXCHANGE.requests(Payload(kind="exchange", size=1, reply_size=1, opening=0), 1)
