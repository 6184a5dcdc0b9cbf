"""How the user's own JSON travels over Protocol Buffers: as a message made from its shape, or as `google.protobuf.Value`.

The shape is taken when the plan is made, and its .proto compiled then and at set-up, here: the ends need no compiler. Each
time the document goes there and back, so that what Protocol Buffers cannot carry is known before hosts are made.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from orchestrator.catalogue.offers import End, Responder
from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.payloads import MOST_JSON_BYTES, Asked
from orchestrator.experiment.plan.plan import Plan, Shape
from orchestrator.experiment.plan.typed_message import typed_message
from orchestrator.files import read_file

How = Literal["typed", "value"]

FACTOR = "document"
TYPED: How = "typed"
AS_VALUE: How = "value"
WORDS: Mapping[str, str] = {TYPED: "as a typed message", AS_VALUE: "as google.protobuf.Value"}
INSTALL = "make setup, or: pip install grpcio-tools"

_CODEC = "Protocol Buffers"
_COMPILE_S = 120.0
_CARRY_S = 120.0


def carried_by(responder: Responder, client: End) -> How | None:
    """The best that both ends can do with a document; None where it travels as it is, without Protocol Buffers."""
    if all(end.lacks(FACTOR, TYPED) is None for end in (responder, client)):
        return TYPED
    return AS_VALUE if responder.parts.codec == _CODEC else None


def carried_alone(parts: Mapping[str, str]) -> How | None:
    """What a codec alone does with a document: no schema is made for it."""
    return AS_VALUE if parts["codec"] == _CODEC else None


def way(carried: object, payload: Mapping[str, Any], chosen: object, shape: Shape | None) -> How | None:
    """How a cell's document travels, by what its stack can do (`carried_by`) and what is chosen; None if it has none."""
    if carried is None or payload.get("kind") != "json":
        return None
    return TYPED if carried == TYPED and chosen == TYPED and shape is not None and shape.proto_sha256 else AS_VALUE


def is_compiler_there() -> bool:
    """Whether this machine can make a descriptor set of a .proto."""
    return find_spec("grpc_tools") is not None


def with_shape(located: Located, asked: Asked) -> Asked:
    """The same with the shape of its document, one of no message where that would not bring the document back.

    Where there is no compiler, that is noted in `located`.
    """
    if asked.file is None:
        return asked
    path = ("operations", asked.item, asked.operation.name, "json")
    if not is_compiler_there():
        located.add(
            path,
            f"a typed message of {asked.file.source} is compiled with protoc, which is not here: {INSTALL}; or write"
            f" `{FACTOR}: {AS_VALUE}`.",
        )
        return asked
    content = read_file(located.folder / asked.file.source, MOST_JSON_BYTES)
    made = typed_message(json.loads(content), asked.file.name)
    shape = Shape(proto_sha256=made.sha256, values=made.values, typed=made.typed, note=made.note)
    if made.proto:
        try:
            _compiled(made.proto, content)
        except OrchError as error:
            shape = Shape(proto_sha256="", values=made.values, typed=0, note=str(error))
    return replace(asked, operation=replace(asked.operation, shape=shape))


def refusal_of_value(located: Located, asked: Asked) -> str | None:
    """Why this document cannot travel as `google.protobuf.Value`; None when it can, or that cannot be known here."""
    if asked.file is None:
        return None
    lost = _lost(read_file(located.folder / asked.file.source, MOST_JSON_BYTES))
    return f"{WORDS[AS_VALUE]} {asked.file.source} does not come back: {lost}" if lost else None


def write_schemas(plan: Plan, files: Sequence[Path]) -> dict[str, tuple[Path, str]]:
    """Beside each document that travels typed, its .proto and the descriptor set of it: path and SHA-256, by operation.

    `files` are those of `payloads.materialise`. MissingError without a compiler; UsageError where another version of orch
    made another message of the same document; OrchError where the message does not bring the document back.
    """
    operations = {operation.id: operation for operation in plan.operations}
    asked = {
        cell.operation
        for cell in plan.cells
        if plan_way(plan, cell.stack, cell.operation, cell.factors.get(FACTOR)) == TYPED
    }
    found = {}
    for file, path in zip(plan.payload_files, files, strict=True):
        if file.operation not in asked:
            continue
        made = typed_message(json.loads(path.read_bytes()), file.name)
        shape = operations[file.operation].shape
        if shape is None or made.sha256 != shape.proto_sha256:
            raise UsageError(
                f"the typed message of {file.source} is not what it was when the plan was made",
                hint=f"plan again: orch plan {plan.experiment_path}",
            )
        compiled = _compiled(made.proto, path.read_bytes())
        target = path.with_name(f"{path.name}.pb")
        for place, content in ((path.with_name(f"{path.name}.proto"), made.proto.encode()), (target, compiled)):
            with writing(place, "`orch run --resume`"), whole_file(place) as partial:
                partial.write_bytes(content)
        found[file.operation] = (target, hashlib.sha256(compiled).hexdigest())
    return found


def plan_way(plan: Plan, stack: str, operation: str, chosen: object) -> How | None:
    """How the document of an operation travels over a stack of the plan; None where there is none."""
    asked = next(o for o in plan.operations if o.id == operation)
    return way(plan.resolved.get(stack, {}).get("documents"), asked.payload, chosen, asked.shape)


def descriptor_set(proto: str) -> bytes:
    """What protoc makes of a .proto: a serialised FileDescriptorSet, its imports before it. MissingError without protoc."""
    if not is_compiler_there():
        raise MissingError("a typed message is compiled with protoc, which is not here", hint=INSTALL)
    with tempfile.TemporaryDirectory(prefix="orch-") as folder:
        Path(folder, "document.proto").write_text(proto, encoding="utf-8")
        arguments = ["--include_imports", "--descriptor_set_out=document.pb", "-I.", "document.proto"]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "grpc_tools.protoc", *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_COMPILE_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise OrchError(
                f"protoc took longer than {_COMPILE_S:g} s", hint=f"write `{FACTOR}: {AS_VALUE}`"
            ) from error
        if done.returncode != 0:
            raise OrchError(f"protoc refused its message: {done.stderr.strip()}", hint=f"write `{FACTOR}: {AS_VALUE}`")
        return Path(folder, "document.pb").read_bytes()


def _compiled(proto: str, document: bytes) -> bytes:
    """The descriptor set of a .proto; OrchError when it cannot be made, or does not bring the document back."""
    compiled = descriptor_set(proto)
    if lost := _lost(document, compiled):
        raise OrchError(f"as a typed message it does not come back: {lost}", hint=f"write `{FACTOR}: {AS_VALUE}`")
    return compiled


def _lost(document: bytes, schema: bytes | None = None) -> str:
    """Why a document does not come back from Protocol Buffers, empty if it does: typed with a schema, else as a Value."""
    from services.python.codecs.there_and_back import __name__ as there_and_back  # slow to import, and rarely needed

    with tempfile.TemporaryDirectory(prefix="orch-") as folder:
        words = []
        if schema is not None:
            Path(folder, "document.pb").write_bytes(schema)
            words = ["document.pb"]
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", there_and_back, *words],
                cwd=folder,
                input=document,
                capture_output=True,
                timeout=_CARRY_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"it takes longer than {_CARRY_S:g} s"
    told = (done.stdout if done.returncode == 0 else done.stderr).decode(errors="replace").strip()
    return told.rpartition("\n")[2] or (f"it ends with {done.returncode}" if done.returncode else "")


def sentence(plan: Mapping[str, Any]) -> str:
    """Which it was, for headline, plan and report, of what `Plan.to_dict` gives; empty where no JSON travels so."""
    labels = {s["id"]: s["label"] for s in plan.get("stacks", ()) if not s.get("control_of")}
    told = []
    for operation in plan.get("operations", ()):
        shape = None if operation.get("shape") is None else Shape(**operation["shape"])
        by_way: dict[str, list[str]] = {}
        for cell in plan.get("cells", ()):
            carried = plan.get("resolved", {}).get(cell["stack"], {}).get("documents")
            found = way(carried, operation["payload"], cell["factors"].get(FACTOR), shape)
            if cell["operation"] == operation["id"] and cell["stack"] in labels and found:
                by_way.setdefault(found, []).append(labels[cell["stack"]])
        words = [
            f"{WORDS[w]} over {', '.join(dict.fromkeys(by_way[w]))}{_share(w, shape)}" for w in WORDS if w in by_way
        ]
        told += [f"{operation['label'].removeprefix('echo ')} travels {' and '.join(words)}"] if words else []
    return f"Its own JSON: {'; '.join(told)}." if told else ""


def carried_cells(plan: Mapping[str, Any]) -> frozenset[str]:
    """The ids of the cells whose document travels over Protocol Buffers, of what `Plan.to_dict` gives."""
    operations = {operation["id"]: operation for operation in plan.get("operations", ())}
    return frozenset(
        cell["id"]
        for cell in plan.get("cells", ())
        if way(
            plan.get("resolved", {}).get(cell["stack"], {}).get("documents"),
            operations[cell["operation"]]["payload"],
            cell["factors"].get(FACTOR),
            None,
        )
    )


def _share(how: str, shape: Shape | None) -> str:
    """How much of a typed document is, and why one is not that was to be."""
    if shape is None:
        return ""
    if how != TYPED:
        return f" ({shape.note})" if shape.note else ""
    if shape.typed == shape.values:
        return f" (all of its {shape.values:,} values)"
    return f" ({shape.typed:,} of its {shape.values:,} values, the others as google.protobuf.Value within it)"
