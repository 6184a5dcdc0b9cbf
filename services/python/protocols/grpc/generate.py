"""`python -m services.python.protocols.grpc.generate [FOLDER]` writes `services/python/generated/`.

It is made from `protos/orch.proto` and needs grpcio-tools (of the extra `dev`). FOLDER is where the tree goes, this
checkout by default.
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[4]
_PACKAGE = "services/python/generated"


def generate(into: Path) -> list[Path]:
    """The files written below `into`; RuntimeError when the compiler refuses the contract.

    protoc derives a module's import path from the path under which it is told to see the .proto file. The file is
    therefore mapped into the package that holds its code, so that no generated import needs a patched `sys.path`.
    """
    from grpc_tools import protoc  # type: ignore[import-untyped]

    arguments = [
        "protoc",
        f"-I{_PACKAGE}={_CHECKOUT / 'protos'}",
        f"-I{resources.files('grpc_tools') / '_proto'}",
        f"--python_out={into}",
        f"--pyi_out={into}",
        f"--grpc_python_out={into}",
        f"{_PACKAGE}/orch.proto",
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError("protoc refused protos/orch.proto; its words are above")
    return sorted((into / _PACKAGE).glob("orch_pb2*"))


if __name__ == "__main__":
    for path in generate(Path(sys.argv[1]) if len(sys.argv) > 1 else _CHECKOUT):
        print(path, file=sys.stderr)  # noqa: T201 - says what it wrote
