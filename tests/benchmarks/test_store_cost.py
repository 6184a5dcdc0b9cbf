"""The bare operation that the store `none` is held against gives the same replies, and holds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from benchmarks.store import STORED
from benchmarks.store_program import BARE, enter
from services.python.contract.lines import Payload
from services.python.operations import OPERATIONS, Operation
from services.python.serve.dispatcher import Dispatcher
from services.python.stores.opening import opened


@pytest.fixture
def _entered() -> Iterator[None]:
    enter()
    yield
    del cast(dict[str, Operation], OPERATIONS)[BARE]


@pytest.mark.usefixtures("_entered")
def test_both_give_the_same_replies_and_one_asks_a_store() -> None:
    make = OPERATIONS[STORED].requests(Payload(), 3)
    with opened({}) as held:
        dispatcher = Dispatcher(identity="me", held={STORED: held})
        for sequence in range(1, 20):
            request: Any = make(sequence, lambda: 0)
            assert dispatcher.answer_async(BARE, request, "peer") == dispatcher.answer_async(STORED, request, "peer")
        assert held.times.requests == 19
    assert OPERATIONS[BARE].open is None
