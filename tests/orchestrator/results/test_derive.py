from __future__ import annotations

from dataclasses import asdict

from orchestrator.results import derive
from orchestrator.results.manifest import BaselineRecord, TrialRecord

BEGIN = {"event": "begin", "run_id": "r", "plan_id": "p", "orch_version": "1", "command": ["orch", "run"], "at": "now"}


def trial(index: int, block: int, attempt: int = 0) -> dict[str, object]:
    record = TrialRecord(
        index=index,
        block=block,
        cell="c",
        attempt=attempt,
        outcome="ok",
        started_wall_ns=0,
        ended_wall_ns=0,
        overhead_s=0.0,
    )
    return {"event": "trial", "trial": asdict(record)}


def baseline(block: int, attempt: int) -> dict[str, object]:
    record = BaselineRecord(
        kind="ping",
        placement="local",
        block=block,
        moment="before",
        requester="local",
        method="icmp-raw",
        samples=f"b{block}-a{attempt}",
        started_wall_ns=0,
    )
    return {"event": "baseline", "attempt": attempt, "baseline": asdict(record)}


def test_a_block_that_was_begun_again_forgets_its_earlier_attempt():
    first = [BEGIN, {"event": "block", "block": 0, "attempt": 0}, baseline(0, 0), trial(0, 0)]
    assert derive.read(first).samples == {"b0-a0"}
    again = [*first, {"event": "block", "block": 0, "attempt": 1}, baseline(0, 1)]
    assert derive.read(again).trials == ()
    assert derive.read(again).samples == {"b0-a1"}


def test_the_manifest_lists_only_files_that_count():
    events = [BEGIN, baseline(0, 0), *({"event": "file", "path": p, "sha256": "x"} for p in ("b0-a0", "b0-a9"))]
    assert derive.manifest(derive.read(events), {"stacks": [], "experiment_path": "", "overrides": []}).files == {
        "b0-a0": "x"
    }
