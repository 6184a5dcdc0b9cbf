"""The committed code is what protoc makes of the contract today."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.python import generated

COMMITTED = Path(generated.__file__).parent


def test_the_committed_code_is_what_the_generator_writes(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools", reason="grpcio-tools (extra `dev`) is not installed: nothing to generate with")
    from services.python.protocols.grpc.generate import generate

    written = generate(tmp_path)

    assert [path.name for path in written] == ["orch_pb2.py", "orch_pb2.pyi", "orch_pb2_grpc.py"]
    for path in written:
        assert path.read_text() == (COMMITTED / path.name).read_text(), (
            f"{path.name} is out of date; run: python -m services.python.protocols.grpc.generate"
        )


def test_generated_code_is_imported_from_its_package_and_leaves_grpc_alone() -> None:
    import grpc

    from services.python.generated import orch_pb2, orch_pb2_grpc

    assert orch_pb2_grpc.grpc is grpc
    assert orch_pb2.__name__ == "services.python.generated.orch_pb2"
