"""The suite's own generator gives what `payload-vectors.json` says, so that others can be held against it."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from typing import Any

import pytest

from tests.conformance.reference.contract import PROTOS
from tests.conformance.reference.generator import arrivals, first_rest, pair, records, rest, stream
from tests.conformance.reference.streams import text_of
from tests.conformance.reference.wire import compact

VECTORS = json.loads((PROTOS / "payload-vectors.json").read_text(encoding="utf-8"))


def _of_bytes(content: bytes, gives: dict[str, Any]) -> dict[str, Any]:
    return {"hex": _grouped(content)} if "hex" in gives else {"sha256": _grouped(sha256(content).digest())}


def _given(part: str, wanted: dict[str, Any], gives: dict[str, Any]) -> dict[str, Any]:
    if part == "bytes":
        return _of_bytes(stream(f"bytes/{wanted['seed']}", wanted["size"]), gives)
    if part == "request":
        return _of_bytes(stream("request", wanted["size"]), gives)
    if part == "reply":
        return _of_bytes(stream("reply", wanted["size"]), gives)
    if part == "events":
        return {"data": text_of(**wanted)}
    if part == "add":
        return pair(**wanted)
    if part == "records":
        made = records(**wanted)
        return {"records": made} if "records" in gives else _of_bytes(compact(made), gives)
    if part == "arrivals":
        due = arrivals(
            wanted["seed"], wanted["rate_per_s"], wanted["arrivals"], wanted["requests"], wanted["duration_s"]
        )
        first, digest = due[: len(gives["first_ns"])], sha256(struct.pack(f"<{len(due)}q", *due)).digest()
        return {"count": len(due), "first_ns": first, "last_ns": due[-1], "sha256": _grouped(digest)}
    if part == "rests":
        load = {**wanted, "concurrency": wanted["workers"]}
        first = [first_rest(wanted["seed"], load, worker) for worker in range(wanted["workers"])]
        after = [rest(wanted["seed"], load, place) for place in range(wanted["requests"])]
        every = sha256(struct.pack(f"<{len(first) + len(after)}q", *first, *after)).digest()
        return {"before_ns": first[:4], "after_ns": after[:4], "sha256": _grouped(every)}
    raise AssertionError(f"vectors of {part} are not checked")


def _grouped(digest: bytes) -> str:
    return " ".join(digest[at : at + 4].hex() for at in range(0, len(digest), 4))


CASES = [
    pytest.param(part, vector["for"], vector["gives"], id=f"{part}-{number}")
    for part, vectors in VECTORS.items()
    for number, vector in enumerate(vectors)
]


@pytest.mark.parametrize(("part", "wanted", "gives"), CASES)
def test_vector(part: str, wanted: dict[str, Any], gives: dict[str, Any]):
    assert _given(part, wanted, gives) == gives
