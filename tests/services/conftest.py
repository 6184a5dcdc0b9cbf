"""Real responders, each started once for all tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest

from tests.support import wire
from tests.support.certificates import Made, certificates


@pytest.fixture(scope="module")
def answering() -> Iterator[Callable[[str, str], wire.Running]]:
    """Gives the running responder of a protocol and implementation."""
    with ExitStack() as stack:
        yield cache(lambda protocol, name: stack.enter_context(wire.responding(protocol, name)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A certificate of this machine."""
    return certificates(tmp_path_factory.mktemp("tls") / "right")
