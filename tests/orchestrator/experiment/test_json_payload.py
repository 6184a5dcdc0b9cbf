"""The user's own JSON: what no stack carries exactly is refused at its place, and what is left every codec brings back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.read.json_payload import MOST_NESTED, fault_of
from services.python.codecs import cbor, msgpack, orjson
from services.python.codecs import json as standard
from tests.support.experiments import problems


@pytest.mark.parametrize(
    ("content", "offset", "reason"),
    [
        (b'{"a": 1, "\\u0061": 2}', 9, "the key 'a' is given twice, and readers keep one of its values"),
        (b"[-0]", 1, "-0 is negative zero, which readers keep or write as 0"),
        (b"123.456e-789", 0, "123.456e-789 is not the number that a double holds in its place, 0"),
        (b"0.30000000000000000001", 0, "0.30000000000000000001 is not the number that a double holds in its place, 0.3"),
        (b'["\\ud800"]', 1, "half a surrogate pair, which UTF-8 cannot express"),
        (b"18446744073709551616", 0, "18446744073709551616 needs more than 64 bits"),
        (b"[9007199254740993]", 1, "9007199254740993 is a whole number that no double holds: write it as text"),
        (b"[" * 500 + b"]" * 500, MOST_NESTED, "more than 32 lists and objects within each other"),
        (b"{'a': 1}", 1, "this is not JSON: Expecting property name enclosed in double quotes"),
        (b'"\xff"', 1, "this is not JSON: byte 0xff is not UTF-8"),
        (b'{"a": -Infinity}', 6, "this is not JSON: -Infinity"),
    ],
)  # fmt: skip
def test_what_no_stack_carries_exactly_is_refused_where_it_stands(content: bytes, offset: int, reason: str) -> None:
    assert fault_of(content) == (offset, reason)


def nested(depth: int) -> Any:
    document: Any = "\U0001f600"
    for level in range(depth):
        document = [document, None] if level % 2 else {"\0": document, '"a"': 1}
    return document


HARD = [nested(MOST_NESTED - 1), -(2**63), 2**63, 5e-324, 1.7976931348623157e308, 0.1, 1e22, 2**53, "[{,:\\"]


@pytest.mark.parametrize("codec", [standard.CODEC, orjson.CODEC, msgpack.CODEC, cbor.CODEC])
def test_what_is_not_refused_comes_back_from_every_codec(codec: Any) -> None:
    assert fault_of(json.dumps(HARD).encode()) is None
    coder = codec.request("echo/document")
    assert coder.read(coder.write({"document": HARD})) == {"document": HARD}


def test_a_fault_of_a_file_has_its_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{\n "é": "x", "b": [\n  1, -0]}')
    path = tmp_path / "x.yaml"
    path.write_text("name: own\nquestion: How?\nstacks: [rest]\noperations: [{echo: {json: own.json}}]\n")
    assert problems(path) == [
        f"4:28: {tmp_path / 'own.json'}:3:6: -0 is negative zero, which readers keep or write as 0."
    ]
