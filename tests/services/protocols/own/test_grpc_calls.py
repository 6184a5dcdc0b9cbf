"""Calls of a real gRPC service over TLS: steps of several methods, a stream among them, and a certificate of our own."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf import wrappers_pb2

from orchestrator.experiment.plan.own.own_protos import compiled
from services.python.contract.descriptors import method_of
from services.python.contract.offers import protocols
from services.python.trial.parts import CannotTry
from tests.support.certificates import Made
from tests.support.own_services import answering_orders, order_step
from tests.support.own_trials import checked

CLIENTS = [client.name for client in protocols()["own_grpc"].clients]


@pytest.fixture(scope="module")
def port(made: Made) -> Iterator[int]:
    """Orders for those who have a certificate of the authority."""
    key, chain = Path(made.tls.key).read_bytes(), Path(made.tls.certificate).read_bytes()
    authority = Path(made.authority.path).read_bytes()
    credentials = grpc.ssl_server_credentials([(key, chain)], authority, require_client_auth=True)
    with answering_orders(credentials) as bound:
        yield bound


@pytest.mark.parametrize("client", CLIENTS)
def test_steps_are_of_several_methods_and_the_service_gets_our_certificate(
    tmp_path: Path, port: int, made: Made, client: str
) -> None:
    steps = [
        order_step("Get", "{id}", save={"total": "$.total"}),
        order_step("Items", "{total}", expect={"values": {"$[2].article": "7-2"}}),
    ]
    own = [made.tls.certificate, made.tls.key]
    checked(tmp_path, client, port, *steps, authority=made.authority, certificate=own)
    with pytest.raises(CannotTry):
        checked(tmp_path, client, port, *steps, authority=made.authority)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("decode", [True, False])
def test_a_wrong_message_is_an_error_whether_or_not_the_timed_call_decodes_it(
    tmp_path: Path, port: int, made: Made, client: str, decode: bool
) -> None:
    own = {"authority": made.authority, "certificate": [made.tls.certificate, made.tls.key]}
    right = order_step("Items", "{id}", decode=decode, expect={"size": 15, "values": {"$[0].article": "1-0"}})
    checked(tmp_path, client, port, right, **own)
    with pytest.raises(CannotTry, match=r"row 1: .* is '1-0', not '2-0'"):
        checked(tmp_path, client, port, {**right, "expect": {"values": {"$[0].article": "2-0"}}}, **own)


WRAPPED = """syntax = "proto3"; package a; import "google/protobuf/wrappers.proto";
service S { rpc Get(google.protobuf.StringValue) returns (google.protobuf.StringValue); }
"""


def test_a_wrapper_is_written_as_its_value(tmp_path: Path) -> None:
    (tmp_path / "a.proto").write_text(WRAPPED)
    method = method_of(base64.b64encode(compiled(tmp_path / "a.proto")).decode(), "a.S/Get")
    assert method.request("x").SerializeToString() == wrappers_pb2.StringValue(value="x").SerializeToString()
    for wrong in ({"value": "x"}, {}, 1):
        with pytest.raises(ValueError, match=r"."):
            method.request(wrong)
