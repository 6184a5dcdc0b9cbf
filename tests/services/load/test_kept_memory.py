"""How much memory replies take that wait to be verified, and which do not wait."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
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
