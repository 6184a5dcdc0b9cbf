"""JSON documents with the file that says how they travel typed, as the orchestrator makes it at set-up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from orchestrator.experiment.plan.own.json_documents import descriptor_set
from orchestrator.experiment.read.message_shape import typed_message
from services.python.contract.lines import Schema


def compiled(document: Any, *others: Any) -> bytes:
    """The descriptor set of the message of these documents."""
    proto = typed_message([document, *others], "test.json")
    assert proto
    return descriptor_set(proto)


def schema_file(document: Any, folder: Path) -> Schema:
    """It as a file in the folder, as a line names it."""
    path = folder / "document.pb"
    path.write_bytes(compiled(document))
    return Schema(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
