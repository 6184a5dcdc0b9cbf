"""What is particular to Avro; that messages come back as they went is shown in transports/http/test_bodies.py."""

from __future__ import annotations

import json
from pathlib import Path

from services.python.codecs import avro as codec

ROOT = Path(__file__).parents[3]


def test_the_contract_under_protos_is_the_one_that_both_ends_read() -> None:
    assert (ROOT / "protos/operations.avsc").resolve() == codec.SCHEMAS.resolve()


def test_bodies_hold_values_only() -> None:
    assert codec.CODEC.request("add").write({"a": 1, "b": -1}) == b"\x02\x01"
    assert codec.CODEC.reply("image").write({"width": 0, "height": 64}) == b"\x00\x80\x01"


def test_a_document_travels_as_json_text() -> None:
    document = {"a": [1, None]}
    written = codec.CODEC.request("echo/document").write({"document": document})
    assert json.loads(written[1:]) == document
