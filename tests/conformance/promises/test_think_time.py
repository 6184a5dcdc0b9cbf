"""Think time of a closed loop is that of `protos/payloads.md`, and is in no latency. No time is asserted."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.conformance.kit import IDENTITY, Implementation
from tests.conformance.reference.generator import first_rest, rest
from tests.conformance.reference.server import Server
from tests.conformance.reference.wire import WIRES

pytestmark = pytest.mark.busy

Asking = tuple[str, str]


@pytest.mark.slow
@pytest.mark.parametrize("thinking", ["constant", "exponential"])
def test_each_worker_rests_as_long_as_the_page_says(
    ends: Implementation, asking: Asking, tmp_path: Path, thinking: str
):
    load = {"requests": 40, "concurrency": 3, "think_s": 0.01, "thinking": thinking}
    with Server(WIRES[asking[0]], IDENTITY) as server:
        trial = ends.request(ends.trial(*asking, server.port, tmp_path / "record", load=load))
    done, rows = trial.done, trial.phase(1)
    assert (done["requests"], done["errors"]) == (40, {})
    workers = [[row for row in rows if row.connection == kept] for kept in {row.connection for row in rows}]
    first = [min(row.intended_ns for row in made) - done["begin_ns"] for made in workers]
    assert sorted(first) == sorted(first_rest(7, load, number) for number in range(3))
    begun = min(row.sequence for row in rows)
    for made in workers:
        for row, following in pairwise(made):
            assert following.intended_ns >= row.received_ns + rest(7, load, row.sequence - begun)
    assert all(row.sent_ns >= row.intended_ns for row in rows)
    assert all(row.intended_ns == row.sent_ns for row in trial.phase(0))  # nobody rests while warming up
    assert max(asked.in_flight for asked in server.operations) <= 3


def test_a_trial_ends_with_its_last_request_however_long_somebody_was_to_rest(
    ends: Implementation, asking: Asking, tmp_path: Path
):
    """The second worker is to rest for longer than the suite waits."""
    load = {"requests": 1, "concurrency": 2, "think_s": 10.0 * ends.patience_s}
    with Server(WIRES[asking[0]], IDENTITY) as server:
        trial = ends.request(ends.trial(*asking, server.port, tmp_path / "record", load=load))
    assert trial.done["requests"] == len(trial.phase(1)) == 1


def test_an_open_loop_has_no_think_time(ends: Implementation, asking: Asking, tmp_path: Path):
    load = {"requests": 5, "rate_per_s": 100.0, "think_s": 0.01}
    with Server(WIRES[asking[0]], IDENTITY) as server:
        trial = ends.request(ends.trial(*asking, server.port, tmp_path / "record", load=load))
    assert trial.failed["kind"] == "trial"
