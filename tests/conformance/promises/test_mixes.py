"""Mixes: which operation each request asks is drawn by the seed, and every row says it. No time is asserted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.kit import Asking, right
from tests.conformance.reference.contract import STATUS
from tests.conformance.reference.generator import below, words
from tests.conformance.reference.server import Asked, Error, Script

pytestmark = [pytest.mark.busy, pytest.mark.slow]

MIXED = 6
OPERATIONS = ("timestamp", "add")
MIX = [{"operation": "timestamp", "weight": 3}, {"operation": "add", "weight": 1}]
STREAM = {"operation": "events", "weight": 1, "payload": {"kind": "events", "size": 8, "per_second": 9.0}}
SEED = 7


def drawn(sequence: int) -> int:
    """The place, from 1, of the operation that a request asks, as `protos/payloads.md` has it."""
    word = words(f"mix/{SEED}", 65_536)[(sequence - 1) % 65_536]
    return 1 if below(word, 4) < 3 else 2


def make(asking: Asking, script: Script = right, **changes: Any):
    return asking.made(script, **{"operation": "timestamp", "mix": MIX, "seed": SEED, **changes})


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
def test_each_request_asks_what_the_seed_draws_and_its_row_says_so(asking: Asking, connection: str, concurrency: int):
    load = {"requests": 40, "concurrency": concurrency}
    trial, server = make(asking, connection=connection, load=load)
    done, rows = trial.done, trial.rows
    assert (done["requests"], done["verified"], done["errors"]) == (40, 40, {})
    assert {row.kind for row in rows} == {MIXED}
    in_order = sorted(rows, key=lambda row: row.sequence)
    assert [row.parent for row in in_order] == [drawn(n + 1) for n in range(len(rows))]
    asked = [operation.name for operation in server.operations]
    assert asked[:2] == list(OPERATIONS)  # the check
    for place, name in enumerate(OPERATIONS, start=1):
        assert asked[2:].count(name) == sum(row.parent == place for row in rows)
    if concurrency == 1:
        assert asked[2:] == [OPERATIONS[row.parent - 1] for row in in_order]


def test_the_check_tells_the_bodies_of_each_operation(asking: Asking):
    trial, _ = make(asking, load={"requests": 5})
    (checked,) = (line for line in trial.lines if line["type"] == "checked")
    first, second = checked["mix"]
    assert (checked["body_bytes_sent"], checked["body_bytes_received"]) == (first["sent"], first["received"])
    of_each = {1: first, 2: second}
    for row in trial.rows:
        assert row.bytes_sent == pytest.approx(of_each[row.parent]["sent"], abs=20)  # numbers in text differ in length


def test_each_worker_has_a_kept_connection_for_each_operation(asking: Asking):
    trial, _ = make(asking, load={"requests": 60, "concurrency": 2})
    kept = [{row.connection for row in trial.rows if row.parent == place} for place in (1, 2)]
    assert not kept[0] & kept[1]
    assert 1 <= max(map(len, kept)) <= 2


def test_a_request_that_fails_keeps_its_operation(asking: Asking):
    def refuse_additions(number: int, asked: Asked) -> Error | None:
        return Error() if asked.name == "add" and number > 10 else None

    trial, _ = make(asking, refuse_additions, load={"requests": 40})
    failed = [row for row in trial.phase(1) if row.status]
    assert failed
    assert {row.parent for row in failed} == {2}
    assert {row.status for row in failed} == {STATUS["protocol"]}


def test_an_open_loop_draws_the_same(asking: Asking):
    trial, _ = make(asking, load={"requests": 30, "rate_per_s": 300.0, "concurrency": 4})
    assert all(row.parent == drawn(row.sequence) for row in trial.rows)


@pytest.mark.parametrize(
    "changes",
    [
        {"mix": MIX[:1]},
        {"mix": [MIX[0], {"operation": "no such", "weight": 1}]},
        {"mix": MIX, "operation": "add"},
        {"mix": MIX, "calls": 2},
        {"mix": [MIX[0], STREAM]},
    ],
)
def test_a_mix_that_cannot_be_asked_is_refused(asking: Asking, changes: dict[str, Any]):
    trial, _ = make(asking, **changes)
    assert trial.failed["kind"] == "trial"
