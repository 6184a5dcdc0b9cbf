"""gRPC: the committed code, and a call's end in the words of the record."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from services.python.load.client import CallFailed
from services.python.protocols.grpc import options
from tests.support import wire

ROOT, PACKAGE = Path(__file__).parents[4], "services/python/generated"


def test_the_committed_code_is_what_the_generator_writes(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools (extra `dev`) is not installed: nothing to generate with")
    outs = [f"--{kind}_out={tmp_path}" for kind in ("python", "pyi", "grpc_python")]
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PACKAGE}=protos", *outs, f"{PACKAGE}/orch.proto"]
    subprocess.run(command, check=True, cwd=ROOT)
    written = sorted((tmp_path / PACKAGE).glob("orch_pb2*"))
    assert [path.name for path in written] == ["orch_pb2.py", "orch_pb2.pyi", "orch_pb2_grpc.py"]
    for path in written:
        assert path.read_text() == (ROOT / PACKAGE / path.name).read_text(), (
            f"{path.name} is out of date: make generated"
        )


def test_generated_code_is_imported_from_its_package_and_leaves_grpc_alone() -> None:
    import grpc

    from services.python.generated import orch_pb2, orch_pb2_grpc

    assert orch_pb2_grpc.grpc is grpc
    assert orch_pb2.__name__ == "services.python.generated.orch_pb2"


@pytest.mark.parametrize(
    ("code", "details", "status"),
    [
        (grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded", "timeout"),
        (grpc.StatusCode.CANCELLED, "Channel closed!", "cancelled"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: Connection refused", "refused"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect to all addresses; last error: Socket closed", "closed"),
        (grpc.StatusCode.UNAVAILABLE, "failed to connect: Failed parsing HTTP/2 (Expected SETTINGS)", "undecodable"),
        (grpc.StatusCode.UNAVAILABLE, "recvmsg:Connection reset by peer", "closed"),
        (grpc.StatusCode.INTERNAL, "Exception deserializing response!", "undecodable"),
        (grpc.StatusCode.INTERNAL, "RST_STREAM with error code 2", "protocol"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max", "protocol"),
        (grpc.StatusCode.UNKNOWN, None, "protocol"),
    ],
)
def test_status_codes(code: grpc.StatusCode, details: str | None, status: str) -> None:
    failure = options.failure(code, details)
    assert failure.status == status
    assert failure.detail.startswith(code.name)


@pytest.mark.parametrize("client", ["grpcio", "grpc-aio"])
def test_a_reply_that_is_no_message_is_undecodable(client: str) -> None:
    class Junk(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, _details: object) -> object:
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"\xff\xff\xff")

    server = grpc.server(ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers((Junk(),))
    port = server.add_insecure_port(f"{wire.HOST}:0")
    server.start()
    try:
        with pytest.raises(CallFailed) as failed:
            wire.ask("grpc", client, port, "add", {"a": 1, "b": 2})
    finally:
        server.stop(None)
    assert failed.value.status == "undecodable"
