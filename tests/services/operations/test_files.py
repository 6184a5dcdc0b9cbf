"""What is read as a payload or a schema is a file of a bounded size: nothing that hangs, or has no end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload, Schema
from services.python.operations.base import PayloadError
from services.python.operations.files import read_checked, read_schema


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes into it
    for path in (str(pipe), "/dev/zero"):
        with pytest.raises(PayloadError, match="not a regular file"):
            read_checked("echo", Payload(kind="json", path=path))
        with pytest.raises(PayloadError, match=r"schema: .* not a regular file"):
            read_schema(Schema(path=path, sha256="0" * 64))
    with pytest.raises(PayloadError, match="cannot read"):
        read_checked("echo", Payload(kind="json", path=str(tmp_path)))


def test_what_is_larger_than_any_payload_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    for size in (MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 1):
        with path.open("wb") as file:
            file.truncate(size)
        if size == MAX_PAYLOAD_BYTES:
            assert len(read_checked("echo", Payload(kind="json", path=str(path)))) == size
    with pytest.raises(PayloadError, match="larger than 67,108,864 bytes"):
        read_checked("echo", Payload(kind="json", path=str(path)))
