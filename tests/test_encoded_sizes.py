"""The sizes in `docs/validation/README.md` are those that the codecs here come to, and the audit says what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.audit.claims import encoded_sizes, text_bytes
from services.python.codecs import avro, cbor, msgpack, orjson, protobuf
from services.python.codecs import json as stdlib

PAGE = (Path(__file__).parents[1] / "docs" / "validation" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\{.*?\})` \|(.*)\|$", PAGE, re.MULTILINE)
CODECS = [stdlib.CODEC, cbor.CODEC, msgpack.CODEC, avro.CODEC, protobuf.CODEC]


def test_the_page_has_messages() -> None:
    assert len(ROWS) == 3


@pytest.mark.parametrize(("text", "sizes"), ROWS)
def test_a_message_is_as_large_as_the_page_says(text: str, sizes: str) -> None:
    message: dict[str, Any] = json.loads(text)
    name = "add" if "a" in message else "timestamp"
    written = [len(codec.request(name).write(message)) for codec in CODECS]
    assert written == [int(size) for size in sizes.split("|")]
    assert len(orjson.CODEC.request(name).write(message)) == written[0]


def test_no_variant_of_cbor_comes_down_to_the_claim() -> None:
    claimed = json.loads(ROWS[0][0])
    assert text_bytes(claimed) == 36
    assert min(encoded_sizes("cbor", claimed).values()) == 39
    assert {43, 44} <= set(encoded_sizes("json", claimed).values())
