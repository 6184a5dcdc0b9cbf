"""Every protocol carried by HTTP, every implementation, every client, every operation: asked over a real socket."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from services.python.contract.lines import Payload
from services.python.contract.offers import protocols
from services.python.operations import OPERATIONS
from services.python.operations.picture import picture
from tests.support import wire
from tests.support.matrix import is_default_responder, others_slow
from tests.support.wire import HTTP
from tests.support.wire import HTTP_CLIENTS as CLIENTS

pytestmark = pytest.mark.busy

IMPLEMENTATIONS = [(name, responder.name) for name in HTTP for responder in protocols()[name].responders]
DOCUMENT = {"nested": [1, None, -2.5, True, {"é": "ü", "large": 2**53}], "empty": {}, "text": 'with "quotes"'}


def of(operation: str, **payload: Any) -> Mapping[str, Any]:
    """A request, as the load loop is given it."""
    make = OPERATIONS[operation].requests(Payload(**payload), 7)
    return make(1, time.time_ns)


SMALL = {
    "timestamp": ("timestamp", of("timestamp")),
    "add": ("add", of("add")),
    "no bytes": ("echo", of("echo", kind="bytes", size=0)),
    "bytes": ("echo", of("echo", kind="bytes", size=1000)),
    "records": ("echo", of("echo", kind="records", count=20)),
    "no records": ("echo", of("echo", kind="records", count=0)),
    "document": ("echo", {"document": DOCUMENT}),
    "null": ("echo", {"document": None}),
    "upload": ("transfer", of("transfer", kind="transfer", size=3000, reply_size=1)),
    "download": ("transfer", of("transfer", kind="transfer", size=1, reply_size=3000)),
}


@cache
def large() -> dict[str, tuple[str, Mapping[str, Any]]]:
    image = picture(1_580_000)
    return {
        "5 MB": ("echo", of("echo", kind="bytes", size=5_000_000)),
        "image": ("image", {"data": image, "full_decode": False}),
        "image, decoded": ("image", {"data": image, "full_decode": True}),
    }


def refuses_reuse(protocol: str, implementation: str) -> bool:
    return "reuse" in protocols()[protocol].responder(implementation).refuses


# Every implementation with one client, and every client with one implementation of each protocol: a client knows no server.
PAIRS = [
    (*pair, client)
    for pair in IMPLEMENTATIONS
    for client in CLIENTS
    if client == "pycurl" or is_default_responder(*pair)
]


def is_light(protocol: str, implementation: str, client: str) -> bool:
    """Every client with one protocol, and every protocol with one client."""
    return is_default_responder(protocol, implementation) and (protocol == "rest" or client == "pycurl")


@pytest.mark.parametrize(("protocol", "implementation", "client"), others_slow(PAIRS, is_light))
def test_every_client_is_answered_rightly_whatever_it_asks(
    answering: Callable[..., Any], protocol: str, implementation: str, client: str
) -> None:
    responder = answering(protocol, implementation)
    times = 1 if refuses_reuse(protocol, implementation) else 2
    is_whole = protocol in ("rest", "http+json") or is_light(
        protocol, implementation, client
    )  # every end carries large bodies once
    for name, (operation, request) in {**SMALL, **(large() if is_whole else {})}.items():
        for value, sizes in wire.ask(protocol, client, responder.port, operation, request, times=times, timeout_s=60):
            assert OPERATIONS[operation].verify(request, value) is None, name
            assert min(sizes) >= 0
            if "data" in request:
                assert sizes[0] >= len(request["data"])
    [(value, _)] = wire.ask(protocol, client, responder.port, "identity", {})
    assert value == {"identity": responder.identity}
