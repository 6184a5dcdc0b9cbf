"""Calls of a real gRPC service over TLS: steps of several methods, a stream among them, and a certificate of our own."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory

from orchestrator.experiment.plan.own.own_protos import compiled
from services.python.contract.descriptors import pool_of
from services.python.contract.lines import Load, Payload, Target, Trial
from services.python.contract.offers import protocols
from services.python.trial.parts import CannotTry, check, load_parts
from tests.support.certificates import HOST, TLS, Made, certificates

PROTO = Path(__file__).parents[4] / "experiments" / "own" / "shop.proto"
DESCRIPTORS = base64.b64encode(compiled(PROTO)).decode()
CLIENTS = [client.name for client in protocols()["own_grpc"].clients]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return certificates(tmp_path_factory.mktemp("tls") / "right")


@pytest.fixture(scope="module")
def port(made: Made) -> Iterator[int]:
    """Orders for those who have a certificate of the authority."""
    names = ("OrderRequest", "Order", "Item")
    pool = pool_of(DESCRIPTORS)
    request, order, item = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shop.v1.{name}")) for name in names
    )

    def items(asked: Any, _context: Any) -> Iterator[Any]:
        yield from (item(article=f"{asked.id}-{number}") for number in range(3))

    handlers = {
        "Get": grpc.unary_unary_rpc_method_handler(
            lambda asked, _: order(id=asked.id, total=asked.id + 6),
            request_deserializer=request.FromString,
            response_serializer=order.SerializeToString,
        ),
        "Items": grpc.unary_stream_rpc_method_handler(
            items, request_deserializer=request.FromString, response_serializer=item.SerializeToString
        ),
    }
    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("shop.v1.Orders", handlers),))
    key, chain = Path(made.tls.key).read_bytes(), Path(made.tls.certificate).read_bytes()
    authority = Path(made.authority.path).read_bytes()
    credentials = grpc.ssl_server_credentials([(key, chain)], authority, require_client_auth=True)
    bound: int = server.add_secure_port(f"{HOST}:0", credentials)
    server.start()
    yield bound
    server.stop(None)


def step(method: str, identifier: str, **more: Any) -> dict[str, Any]:
    usual = {"kind": "grpc", "headers": {}, "decode": True, "expect": {}, "descriptors": DESCRIPTORS}
    return {**usual, "method": f"shop.v1.Orders/{method}", "message": {"id": identifier}, **more}


def checked(folder: Path, client: str, port: int, made: Made, certificate: list[str]) -> None:
    """The check of a task whose second step reads the items of what the first one names."""
    steps = [
        step("Get", "{id}", save={"total": "$.total"}),
        step("Items", "{total}", expect={"values": {"$[2].article": "7-2"}}),
    ]
    shared = {"kind": "grpc", "order": "file", "same": {}, "rows": [{"id": 1}], "certificate": certificate}
    content = json.dumps({**shared, "steps": steps}).encode()
    path = folder / "call.json"
    path.write_bytes(content)
    trial = Trial(
        target=Target(host=HOST, port=port, anonymous=True),
        protocol="own_grpc",
        client=client,
        operation="call",
        record="",
        payload=Payload(kind="call", path=str(path), sha256=hashlib.sha256(content).hexdigest()),
        connection="reuse",
        load=Load(requests=0),
        calls=len(steps),
        knobs=TLS,
        tls=made.authority,
        timeout_s=10.0,
    )
    parts = load_parts(trial)
    check(trial, parts, parts.make(1, lambda: 0))


@pytest.mark.parametrize("client", CLIENTS)
def test_steps_are_of_several_methods_and_the_service_gets_our_certificate(
    tmp_path: Path, port: int, made: Made, client: str
) -> None:
    checked(tmp_path, client, port, made, [made.tls.certificate, made.tls.key])
    with pytest.raises(CannotTry):
        checked(tmp_path, client, port, made, [])
