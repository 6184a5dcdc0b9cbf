"""How the user's own JSON travels over Protocol Buffers: as a message made from its shape, or as `google.protobuf.Value`.

The shape is taken when the plan is made, and its .proto compiled then and at set-up, here: the ends need no compiler.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from orchestrator.catalogue.offers import End, Responder
from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, OrchError
from orchestrator.experiment.plan.payloads import PlannedOperation
from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.read.json_payload import MOST_JSON_BYTES
from orchestrator.experiment.read.message_shape import typed_message
from orchestrator.files import read_file

How = Literal["typed", "value"]
DOCUMENT = "document"
TYPED: How = "typed"
AS_VALUE: How = "value"
WORDS: Mapping[str, str] = {TYPED: "as a typed message", AS_VALUE: "as google.protobuf.Value"}
INSTALL = "make setup, or: pip install grpcio-tools"
_CODEC = "Protocol Buffers"
_OWN = ("json", "documents")  # kinds of payloads


def carried_by(responder: Responder | None, client: End, codec: str) -> How | None:
    """The best that both ends can do with a document, a codec alone no message; None without Protocol Buffers."""
    if responder is not None and all(end.lacks(DOCUMENT, TYPED) is None for end in (responder, client)):
        return TYPED
    return AS_VALUE if codec == _CODEC else None


def is_compiler_there() -> bool:
    """Whether this machine can make a descriptor set of a .proto."""
    return find_spec("grpc_tools") is not None


def with_shape(folder: Path, planned: PlannedOperation) -> PlannedOperation:
    """The same with the shape of its document, of no message where it cannot have one; MissingError without a compiler."""
    file = planned.file
    if file is None or planned.operation.payload["kind"] not in _OWN:
        return planned
    sources = filter(None, (file.source, file.reply))
    documents = [json.loads(read_file(folder / source, MOST_JSON_BYTES)) for source in sources]
    if not (proto := typed_message(documents, file.name)):
        return planned
    descriptor_set(proto)
    shape = hashlib.sha256(proto.encode()).hexdigest()
    return replace(planned, operation=replace(planned.operation, shape=shape))


def write_schemas(plan: Plan, files: Sequence[Path]) -> dict[str, tuple[Path, str]]:
    """Beside each document that travels typed (of `materialise`), its .proto and descriptor set: path and SHA-256."""
    typed = {c.operation for c in plan.cells if plan_way(plan, c.stack, c.operation, c.factors.get(DOCUMENT)) == TYPED}
    schemas = {}
    for file, path in zip(plan.payload_files, files, strict=True):
        if file.operation not in typed:
            continue
        content = json.loads(path.read_bytes())
        proto = typed_message([content["request"], content["reply"]] if file.reply else [content], file.name)
        compiled = descriptor_set(proto)
        target = path.with_name(f"{path.name}.pb")
        for place, content in ((path.with_name(f"{path.name}.proto"), proto.encode()), (target, compiled)):
            with writing(place, "`orch run --resume`"), whole_file(place) as partial:
                partial.write_bytes(content)
        schemas[file.operation] = (target, hashlib.sha256(compiled).hexdigest())
    return schemas


def plan_way(plan: Plan, stack: str, operation: str, chosen: object) -> How | None:
    """How an operation's document travels, by what the stack can do (`carried_by`) and what is chosen; None without one."""
    planned = next(o for o in plan.operations if o.id == operation)
    carried = plan.resolved.get(stack, {}).get("documents")
    if carried is None or planned.payload.get("kind") not in _OWN:
        return None
    return TYPED if carried == TYPED and chosen == TYPED and planned.shape else AS_VALUE


def descriptor_set(proto: str) -> bytes:
    """What protoc makes of a .proto: a serialised FileDescriptorSet, its imports before it. MissingError without protoc."""
    from orchestrator.experiment.plan.own.own_protos import Unusable, protoc

    if not is_compiler_there():
        raise MissingError(
            "a typed message is compiled with protoc, which is not here",
            hint=f"{INSTALL}; or write `{DOCUMENT}: {AS_VALUE}`",
        )
    with tempfile.TemporaryDirectory(prefix="orch-") as folder:
        file = Path(folder, "document.proto")
        file.write_text(proto, encoding="utf-8")
        try:
            return protoc(file, [file.parent])
        except Unusable as error:
            raise OrchError(f"protoc refused its message: {error}", hint=f"`{DOCUMENT}: {AS_VALUE}`") from error


def sentence(plan: Plan) -> str:
    """Which it was, for headline, plan and report; empty where no JSON travels so."""
    labels = {stack.id: stack.label for stack in plan.stacks if stack.control_of is None}
    clauses = []
    for operation in plan.operations:
        by_way: dict[str, list[str]] = {}
        for cell in (c for c in plan.cells if c.operation == operation.id and c.stack in labels):
            if how := plan_way(plan, cell.stack, operation.id, cell.factors.get(DOCUMENT)):
                by_way.setdefault(how, []).append(labels[cell.stack])
        words = [f"{WORDS[w]} over {', '.join(dict.fromkeys(by_way[w]))}" for w in WORDS if w in by_way]
        clauses += [f"{operation.label.partition(' ')[2]} travels {' and '.join(words)}"] if words else []
    return f"Its own JSON: {'; '.join(clauses)}." if clauses else ""
