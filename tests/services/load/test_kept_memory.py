"""How much memory replies take that wait to be verified, and which do not wait."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from services.python.load.unverified import Unverified
from services.python.operations.base import Lasting


def test_requests_that_are_new_each_time_count_for_the_room_that_they_take() -> None:
    def room(requests: Sequence[dict[str, Any]]) -> int:
        kept = Unverified(1_000_000)
        for request in requests:
            if len(kept.waiting) >= kept.most and not kept.has_room():
                break
            kept.waiting.append((1, 0, 0, 0, 0, request, {"sum": 1}))
        return len(kept.waiting)

    shared = {"data": [bytes(1_000) for _ in range(10)]}
    assert room([shared] * 1000) == 1000
    assert room([Lasting(data=bytes(10_000)) for _ in range(1000)]) == 1000
    assert 80 <= room([{"data": [bytes(1_000) for _ in range(10)]} for _ in range(1000)]) <= 100


@pytest.mark.parametrize("where", ["reply", "request"])
def test_what_holds_a_large_buffer_does_not_wait(where: str) -> None:
    """The next one would be written into pages that the kernel has to provide first, in the middle of a call."""
    kept = Unverified(100_000_000)
    for _ in range(2):
        large = {"data": bytes(5_000)}
        request, reply = ({"sum": 1}, large) if where == "reply" else (large, {"sum": 1})
        kept.waiting.append((1, 0, 0, 0, 0, request, reply))
    assert not kept.has_room()
    assert kept.most == 0


_KEEPS_MESSAGES = """
import json, sys
from pathlib import Path
from services.python.codecs import protobuf as messages
from services.python.protocols.grpc.calling import calling
from services.python.protocols.grpc import PROTOCOL
from services.python.load.client import CallSpec
from services.python.load.unverified import footprint
request = json.loads(sys.argv[1])
call = CallSpec(host="127.0.0.1", port=1, operation="echo", timeout_s=1.0, example=request)
read = calling(call, next(c for c in PROTOCOL.clients if c.name == "grpcio-parse-only")).read
method = messages.method_for("echo", request)
packed = method.pack_reply(request)
data, parse = packed.SerializeToString(), type(packed).FromString
resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096
kept = [None] * 2000
estimate = footprint((read(parse(data)), len(data), len(data)))
before = resident()
for row in range(2000):
    kept[row] = (read(parse(data)), len(data), len(data))
print(estimate, (resident() - before) / 2000)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    "request_",
    [
        {
            "records": [{"id": 5, "name": "granite amber", "value": 1.5, "active": True, "tags": ["kelp", "amber"]}]
            * 200
        },
        {"records": [{"id": 0, "name": "", "value": 0.0, "active": False, "tags": []}] * 200},
        {"document": [True] * 500},
        {"document": {f"key{number}": number for number in range(300)}},
        {"document": [[[]]] * 200},
        {"data": "bytes"},
    ],
    ids=("records", "empty records", "list", "map", "nested lists", "bytes"),
)
def test_the_footprint_of_a_parse_only_reply_is_what_it_takes_in_memory(request_: dict[str, Any]) -> None:
    """Its message lives outside of the interpreter's objects; the kernel says how much memory 2,000 of them take."""
    asked = json.dumps(request_)
    keeps = (
        _KEEPS_MESSAGES.replace("json.loads(sys.argv[1])", "{'data': bytes(10_000)}") if "data" in request_ else None
    )
    ran = subprocess.run([sys.executable, "-c", keeps or _KEEPS_MESSAGES, asked], capture_output=True, check=True)
    estimate, real = map(float, ran.stdout.split())
    assert real <= estimate * 1.1
    assert estimate <= 3 * real


_KEEPS_RECORDS = """
import json, resource, sys
from services.python.load.unverified import Unverified
kept = Unverified(64 << 20)
if sys.argv[1] == "untouched":
    kept._touched = []
text = json.dumps([{"id": n, "name": "granite", "value": n / 7, "tags": ["kelp", "amber"]} for n in range(200)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for row in range(400):
    if len(kept.waiting) < kept.most or kept.has_room():
        kept.waiting.append((row, 0, 0, 0, 0, {}, json.loads(text)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_replies_that_are_kept_are_decoded_into_memory_that_is_there_already() -> None:
    """Page faults in the middle of a call would be the price of keeping; the kernel counts them."""
    faults = {
        how: int(subprocess.run([sys.executable, "-c", _KEEPS_RECORDS, how], capture_output=True, check=True).stdout)
        for how in ("touched", "untouched")
    }
    assert faults["touched"] < faults["untouched"] / 5
