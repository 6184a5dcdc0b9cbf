"""Every operation that needs no payload, asked of the default responder of each protocol that carries it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.messages import OF_THE_STORE
from services.python.contract.offers import find_protocol, protocols
from services.python.operations import OPERATIONS
from tests.support import wire
from tests.support.ends import responder
from tests.support.matrix import others_slow

pytestmark = pytest.mark.busy

PLAIN = [operation.name for operation in OPERATIONS.values() if "none" in operation.payloads]
ASKED = others_slow(
    [(name, protocol) for name in PLAIN for protocol, p in protocols().items() if name in p.operations],
    lambda name, protocol: name not in OF_THE_STORE or protocol in ("rest", "grpc", "graphql"),
)


@pytest.fixture(scope="module")
def port_of() -> Iterator[Any]:
    """The port of a running responder of each protocol, which was told of all that it will be asked."""
    with ExitStack() as running:

        @cache
        def port(protocol: str) -> int:
            carried = [name for name in PLAIN if name in find_protocol(protocol).operations]
            return int(running.enter_context(responder(protocol, operations=carried))[1]["port"])

        yield port


@pytest.mark.parametrize(("operation", "protocol"), ASKED)
def test_its_reply_is_right(port_of: Any, operation: str, protocol: str) -> None:
    request = OPERATIONS[operation].requests(Payload(), 7)(1, time.time_ns)
    [(value, _)] = wire.ask(
        protocol, find_protocol(protocol).default_client(1).name, port_of(protocol), operation, request
    )
    assert OPERATIONS[operation].verify(request, value) is None
