"""A page by the operations that `feed` is made of: in a row on one connection, at once on one each; what is needed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation

pytestmark = [pytest.mark.busy, pytest.mark.slow]

TASK, PART = 1, 2
TASKS = 13  # three of them to warm up
STORE_OF_THE_CHECK = 3  # queries of the whole page


def end(ends: Implementation, role: str, **knobs: str) -> tuple[str, str]:
    """The first protocol of `feed`, and its first responder or client, that can be told these knobs."""
    for protocol in ends.protocols:
        for known in protocol[role] if "feed" in protocol["operations"] else ():
            refused = {*known.get("refuses", {})} & {*knobs, *(f"{name}: {value}" for name, value in knobs.items())}
            has = all(value in known.get("knobs", {}).get(name, ()) for name, value in knobs.items())
            if has and not refused and known.get("kind", "call") == "call":
                return protocol["name"], known["name"]
    pytest.skip(f"nobody among the {role} has {knobs}")


def made(ends: Implementation, folder: Path, calls: int, **knobs: str) -> tuple[Any, dict[str, Any]]:
    """The trial of ten samples, and what the responder says of it."""
    protocol, client = end(ends, "clients", **knobs)
    told = {"operation": "feed", "calls": calls, "knobs": knobs}
    return ends.meet(
        (protocol, None, client), folder / "record", serve={"operations": ["feed"], "knobs": knobs}, **told
    )


@pytest.mark.parametrize(("fetch", "sockets"), [("in-a-row", 1), ("at-once", 3)])
def test_its_parts_are_asked_verified_and_recorded(ends: Implementation, tmp_path: Path, fetch: str, sockets: int):
    trial, stats = made(ends, tmp_path, 3, fetch=fetch)
    done = trial.done
    assert (done["requests"], done["verified"], done["errors"]) == (10, 10, {})
    assert stats["answered"] == 3 * TASKS + 2
    assert stats["peers"] == sockets + 2
    assert stats["store"]["queries"] == 3 * TASKS + STORE_OF_THE_CHECK
    assert [row.kind for row in trial.rows] == [TASK, PART, PART, PART] * TASKS
    in_turn = []
    for place in range(0, 4 * TASKS, 4):
        task, *parts = trial.rows[place : place + 4]
        assert [(part.sequence, part.parent) for part in parts] == [(n, task.sequence) for n in (1, 2, 3)]
        in_turn.append(all(one.received_ns <= later.sent_ns for one, later in pairwise(parts)))
    assert all(in_turn) is (fetch == "in-a-row")  # at once a busy machine may still serve one after the other


def test_another_number_of_calls_is_refused(ends: Implementation, tmp_path: Path):
    protocol, client = end(ends, "clients", fetch="in-a-row")
    told = {"operation": "feed", "calls": 2, "knobs": {"fetch": "in-a-row"}}
    trial = ends.request(ends.trial(protocol, client, 1, tmp_path / "record", **told))
    assert (trial.lines[-1]["type"], trial.lines[-1]["kind"]) == ("failed", "trial")


def test_what_nobody_needs_of_a_page_is_told(ends: Implementation, tmp_path: Path):
    trial, _ = made(ends, tmp_path, 1, fields="shown")
    assert trial.done["verified"] == 10
    assert trial.done["over_fetched_bytes"] >= 0
    whole, _ = made(ends, tmp_path, 1)
    assert whole.done.get("over_fetched_bytes") is None
