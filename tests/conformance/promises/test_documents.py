"""What `protos/documents.md` promises of a JSON document over Protocol Buffers, and of a schema that cannot be used."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

from tests.conformance.kit import Implementation

pytestmark = pytest.mark.busy

DOCUMENT = {
    "id": 2**53 + 1,
    "na-me": "ab",
    "tags": ["x", "", "y"],
    "note": None,
    "rows": [[1.5], []],
    "in": {"ok": True},
}
# Tags and lengths counted by hand: 1+8, 1+1+2, 3 * (1+1) + 2, nothing, (1+1 + 1+1+8) + (1+1), 1+1 + (1+1).
BODY_BYTES = 9 + 4 + 8 + 0 + 12 + 2 + 4

FIELD = descriptor_pb2.FieldDescriptorProto
STRING, NUMBER = FIELD.TYPE_STRING, FIELD.TYPE_INT64


def field(message: Any, name: str, kind: Any, key: str | None = None, *, many: bool = False, of: str = "") -> Any:
    return message.field.add(
        name=name,
        json_name=name if key is None else key,
        number=len(message.field) + 1,
        type=kind,
        label=FIELD.LABEL_REPEATED if many else FIELD.LABEL_OPTIONAL,
        type_name=f".orch.document.v1.{of}" if of else None,
    )


def schema() -> bytes:
    """The file of DOCUMENT, as the page says it is read."""
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="document.proto", package="orch.document.v1", syntax="proto3")
    field(file.message_type.add(name="List1"), "items", FIELD.TYPE_DOUBLE, many=True)
    field(file.message_type.add(name="Object2"), "ok", FIELD.TYPE_BOOL)
    root = file.message_type.add(name="Object3")
    field(root, "id", NUMBER)
    field(root, "name_of_it", STRING, "na-me")
    field(root, "tags", STRING, many=True)
    note = field(root, "note_or_null", STRING, "note")
    note.proto3_optional, note.oneof_index = True, 0
    root.oneof_decl.add(name="_note_or_null")
    field(root, "rows", FIELD.TYPE_MESSAGE, many=True, of="List1")
    field(root, "in_it", FIELD.TYPE_MESSAGE, "in", of="Object2")
    of_root = {"input_type": ".orch.document.v1.Object3", "output_type": ".orch.document.v1.Object3"}
    file.service.add(name="Documents").method.add(name="Echo", **of_root)
    return files.SerializeToString()


def carries_messages(protocol: dict[str, Any]) -> bool:
    """Whether the implementation says that its first responder can be told how a document travels."""
    return "document" in protocol["responders"][0].get("knobs", {})


def put(folder: Path, name: str, content: bytes) -> dict[str, str]:
    (folder / name).write_bytes(content)
    return {"path": str(folder / name), "sha256": sha256(content).hexdigest()}


def test_a_document_travels_as_the_message_of_its_schema(
    ends: Implementation, pair: tuple[str, str, str, str], tmp_path: Path
):
    protocol, implementation, client, operation = pair
    if operation != "echo":
        pytest.skip("a document is what echo carries")
    if not carries_messages(ends.protocol(protocol)):
        pytest.skip(f"{protocol} carries no document as a message")
    told = put(tmp_path, "document.pb", schema())
    payload = {"kind": "json", **put(tmp_path, "document.json", json.dumps(DOCUMENT).encode())}
    more = {"serve": {"schema": told}, "operation": operation, "payload": payload, "schema": told}
    trial, _ = ends.meet((protocol, implementation, client), tmp_path / "record", **more)
    assert (trial.done["requests"], trial.done["verified"], trial.done["errors"]) == (10, 10, {})
    assert trial.done["body_bytes_sent"] == trial.done["body_bytes_received"] == 10 * BODY_BYTES


def test_a_schema_that_cannot_be_used_is_refused(ends: Implementation, respond_protocol: str, tmp_path: Path):
    """By who carries no Protocol Buffers; by the others where the file is not that of the SHA-256, or no schema."""
    told = put(tmp_path, "document.pb", schema())
    for protocol in (each for each in ends.protocols if each["responders"]):
        wrong = (
            [told | {"sha256": "0" * 64}, put(tmp_path, "other.pb", b"no schema")]
            if carries_messages(protocol)
            else [told]
        )
        for given in wrong:
            assert "schema" in ends.refusal(protocol["name"], schema=given)
