"""Every protocol carried by HTTP, every implementation, every client, every operation: asked over a real socket."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uvloop

from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.contract.offers import protocols
from services.python.load.client import CallSpec
from services.python.operations import OPERATIONS
from services.python.operations.picture import picture
from tests.support.matrix import is_default_responder, others_slow
from tests.support.wire import HTTP
from tests.support.wire import HTTP_CLIENTS as CLIENTS

pytestmark = pytest.mark.busy

ROOT = Path(__file__).parents[4]
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


class Asker:
    """One protocol's dialer, blocking or awaiting, behind one blocking face."""

    def __init__(self, protocol: str, client: str, port: int, operation: str, example: Mapping[str, Any]) -> None:
        spec = protocols()[protocol].client(client)
        call = CallSpec(host="127.0.0.1", port=port, operation=operation, timeout_s=60, example=example)
        self._dialer = importlib.import_module(spec.module).dialer(call, spec)
        self._awaited = spec.style == "async"

    def ask(self, request: Mapping[str, Any], *, times: int) -> list[tuple[Any, tuple[int, int]]]:
        """Each reply's value and sizes, all on one connection."""
        if self._awaited:
            return uvloop.run(self._ask_awaiting(request, times))
        connection = self._dialer.dial()
        try:
            replies = [connection.call(request) for _ in range(times)]
            return [(connection.value(reply), connection.sizes(request, reply)) for reply in replies]
        finally:
            connection.close()
            connection.close()

    async def _ask_awaiting(self, request: Mapping[str, Any], times: int) -> list[tuple[Any, tuple[int, int]]]:
        connection = await self._dialer.dial()
        try:
            replies = [await connection.call(request) for _ in range(times)]
            return [(connection.value(reply), connection.sizes(request, reply)) for reply in replies]
        finally:
            await connection.close()
            await connection.close()


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
    for name, (operation, request) in {**SMALL, **large()}.items():
        asker = Asker(protocol, client, responder.port, operation, request)
        times = 1 if refuses_reuse(protocol, implementation) else 2
        for value, sizes in asker.ask(request, times=times):
            assert OPERATIONS[operation].verify(request, value) is None, name
            assert min(sizes) >= 0
            if "data" in request:
                assert sizes[0] >= len(request["data"])
    [(value, _)] = Asker(protocol, client, responder.port, "identity", {}).ask({}, times=1)
    assert value == {"identity": responder.identity}


@pytest.mark.parametrize(("protocol", "implementation", "client"), others_slow(PAIRS, is_light))
def test_the_responder_sees_the_connections_that_the_policy_implies(
    answering: Callable[..., Any], protocol: str, implementation: str, client: str
) -> None:
    responder = answering(protocol, implementation)
    operation, request = SMALL["add"]
    asker = Asker(protocol, client, responder.port, operation, request)
    before = responder.stats()
    for _ in range(5):
        asker.ask(request, times=1)
    apart = responder.stats()
    assert apart["answered"] - before["answered"] == 5
    # A port may come round again, so that five connections can be fewer peers; one connection can't be two.
    assert 2 <= apart["peers"] - before["peers"] <= 5

    if not refuses_reuse(protocol, implementation):
        asker.ask(request, times=5)
        kept = responder.stats()
        assert kept["answered"] - apart["answered"] == 5
        assert kept["peers"] - apart["peers"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "implementation", "client", "connection"),
    [(name, protocols()[name].responders[0].name, "pycurl", "reuse") for name in HTTP]
    + [
        ("rest", "fastapi", "aiohttp", "reuse"),
        ("rest", "fastapi", "httpx-async", "per-request"),
        ("rest", "flask", "requests", "per-request"),
        ("rest", "flask-gunicorn", "raw", "per-request"),
    ],
)
def test_a_trial_of_the_process_contract_succeeds(
    answering: Callable[..., Any], protocol: str, implementation: str, client: str, connection: Any, tmp_path: Path
) -> None:
    responder = answering(protocol, implementation)
    trial = Trial(
        target=Target(host="127.0.0.1", port=responder.port, identity=responder.identity),
        protocol=protocol,
        client=client,
        operation="echo",
        record=str(tmp_path / "record"),
        payload=Payload(kind="bytes", size=100),
        connection=connection,
        load=Load(requests=20, concurrency=2 if client == "aiohttp" else 1),
        warmup=Warmup(requests=5, at_least_s=0),
    )
    with subprocess.Popen(
        [sys.executable, "-m", "services.python.programs.request"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(trial.to_json() + "\n")
        process.stdin.flush()
        lines = [json.loads(line) for line in process.stdout]
    assert [line["type"] for line in lines if line["type"] != "progress"] == ["checked", "start", "done"], lines
    assert lines[-1]["requests"] == 20
    assert not any(lines[-1]["errors"].values())
