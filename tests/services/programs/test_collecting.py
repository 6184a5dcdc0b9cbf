"""A responder loads without collecting garbage, and collects once it answers, as every user's does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from services.python.contract.offers import find_protocol
from services.python.contract.responder_lines import Ready
from services.python.programs.lines import Lines
from services.python.programs.respond import Control
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.holding import Holding


class Kept(Lines):
    """Lines that are written nowhere."""

    def __init__(self) -> None:
        self.written: list[Any] = []

    def write(self, line: Any) -> None:
        self.written.append((line, gc.isenabled()))


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_whoever_is_ready_collects() -> None:
    lines = Kept()
    Control(Dispatcher(identity="nonce"), find_protocol("tcp").responder(), lines, Holding([], {})).announce(1)
    ((ready, is_collecting),) = lines.written
    assert isinstance(ready, Ready)
    assert is_collecting
