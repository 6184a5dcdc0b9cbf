"""A page by one call or by three, needed whole or in part, as programs over the wire: calls, connections, queries, bytes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Target, Trial, Warmup
from services.python.load.record import KINDS, read_record
from tests.support.ends import make_trial, responder
from tests.support.matrix import others_slow

pytestmark = pytest.mark.busy

REQUESTS, WARM = 12, 4
TASKS = REQUESTS + WARM
REST: dict[str, Any] = {"protocol": "rest", "client": "pycurl-multi"}


def made(
    tmp_path: Path, knobs: dict[str, str], *, implementation: str = "starlette", **changes: Any
) -> tuple[list[dict[str, Any]], dict[str, Any], list[Any]]:
    """The requester's lines, the responder's stats, and the rows."""
    asked = {**REST, "calls": 3 if "fetch" in knobs else 1, **changes}
    with responder(asked["protocol"], implementation=implementation, operations=["feed"], knobs=knobs) as (told, ready):
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
            operation="feed",
            record=str(tmp_path / "record"),
            load=Load(requests=REQUESTS),
            warmup=Warmup(requests=WARM, at_least_s=0.0),
            knobs=knobs,
            seed=7,
            **asked,
        )
        lines = make_trial(trial)
        told.send("stats")
        stats = told.read()
    failed = lines[-1]["type"] != "done"
    return lines, stats, [] if failed else list(read_record(tmp_path / "record"))


WAYS = [
    ("in-a-row", "1.1", "reuse", 1),
    ("at-once", "1.1", "reuse", 3),
    ("at-once", "2", "reuse", 1),
    ("in-a-row", "2", "reuse", 1),
    ("in-a-row", "1.1", "per-request", TASKS),
    ("at-once", "1.1", "per-request", 3 * TASKS),
]


@pytest.mark.parametrize(
    ("fetch", "http", "connection", "sockets"),
    others_slow(
        WAYS, lambda fetch, http, connection, _sockets: (fetch, http, connection) == ("at-once", "1.1", "reuse")
    ),
)
def test_three_calls_make_one_sample(tmp_path: Path, fetch: str, http: str, connection: str, sockets: int) -> None:
    knobs = {"fetch": fetch, **({"http": "2"} if http == "2" else {})}
    implementation = "starlette-granian" if http == "2" else "starlette"
    lines, stats, rows = made(tmp_path, knobs, implementation=implementation, connection=connection)
    done = lines[-1]
    assert (done["type"], done.get("errors"), done["requests"], done["verified"]) == ("done", {}, REQUESTS, REQUESTS)
    assert done["over_fetched_bytes"] is None
    assert stats["answered"] == 3 * TASKS + 2  # and both of the check
    assert stats["peers"] == sockets + 2
    assert stats["store"]["requests"] == 3 * TASKS + 1
    assert stats["store"]["queries"] == 3 * TASKS + 3  # one of each call, three of the check's whole page
    assert [KINDS[row.kind] for row in rows] == ["task", "part", "part", "part"] * TASKS
    begun_together = 0
    for place in range(0, len(rows), 4):
        task, *parts = rows[place : place + 4]
        assert [part.sequence for part in parts] == [1, 2, 3]
        assert sum(part.bytes_received for part in parts) == task.bytes_received
        assert all(task.sent_ns <= part.sent_ns <= part.received_ns <= task.received_ns for part in parts)
        if fetch == "in-a-row":
            assert all(a.received_ns <= b.sent_ns for a, b in pairwise(parts))
        begun_together += parts[2].sent_ns < parts[0].received_ns
    assert bool(begun_together) is (fetch == "at-once")  # a busy machine may serve some of them one after the other


@pytest.mark.parametrize(
    ("protocol", "client", "implementation", "fetch"),
    others_slow(
        [
            ("graphql", "pycurl", "strawberry", "whole"),
            ("rest", "pycurl", "starlette", "whole"),
            ("rest", "pycurl-multi", "starlette", "at-once"),
            ("grpc", "grpcio", "grpcio", "whole"),
        ],
        lambda protocol, _client, _implementation, fetch: (protocol, fetch) == ("rest", "whole"),
    ),
)
def test_what_nobody_needs_is_counted_and_a_query_does_not_fetch_it(
    tmp_path: Path, protocol: str, client: str, implementation: str, fetch: str
) -> None:
    knobs = {"fields": "shown", **({"fetch": fetch} if fetch != "whole" else {})}
    lines, _, _ = made(tmp_path, knobs, implementation=implementation, protocol=protocol, client=client)
    done = lines[-1]
    assert (done["type"], done["verified"]) == ("done", REQUESTS), done
    if protocol == "graphql":
        assert done["over_fetched_bytes"] == 0
        assert done["body_bytes_received"] < REQUESTS * 4_000
    else:
        assert done["over_fetched_bytes"] > 3_000
        assert done["body_bytes_received"] > REQUESTS * 4_000
