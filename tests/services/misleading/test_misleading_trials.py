"""Timing rules that mislead, in whole trials: a requester that is told of them records them, and no other one does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Target, Trial, Warmup
from services.python.contract.timing_rules import MISLEADING, RULES, TIMING_RULES
from services.python.load.record import KINDS, read_record
from tests.support.ends import make_trial, responder

pytestmark = pytest.mark.busy

TOLD = {TIMING_RULES: MISLEADING}


def rows_of(path: Path, protocol: str, client: str, knobs: dict[str, str], **more: Any) -> tuple[Any, Any]:
    """The rows of a trial of five requests after two for warming up, and the requester's last line."""
    with responder(protocol, knobs=knobs) as (_, ready):
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
            protocol=protocol,
            client=client,
            operation="timestamp",
            record=str(path),
            load=Load(requests=5, **more),
            warmup=Warmup(requests=2, at_least_s=0.0),
            knobs=knobs,
        )
        *_, last = make_trial(trial)
    return list(read_record(path)) if path.exists() else [], last


# A client of each style; of all others the wrapper sees no more than of these.
CLIENTS = [("tcp", "socket"), ("websocket", "aiohttp")]


@pytest.mark.parametrize(("protocol", "client"), CLIENTS)
def test_a_requester_that_is_told_of_them_records_what_each_says(tmp_path: Path, protocol: str, client: str) -> None:
    rows, done = rows_of(tmp_path / "record", protocol, client, TOLD)
    assert (done["type"], done["rows"], done["requests"]) == ("done", 7 * (1 + len(RULES)), 5)
    assert Counter(KINDS[row.kind] for row in rows) == {"request": 7, "misleading": 7 * len(RULES)}
    of_rule = {
        rule.name: [row for row in rows if KINDS[row.kind] == "misleading" and row.sequence == number]
        for number, rule in enumerate(RULES, start=1)
    }
    true = {row.sequence: row for row in rows if KINDS[row.kind] == "request"}
    for name, said in of_rule.items():
        for row in said:
            took, took_truly = row.received_ns - row.sent_ns, true[row.parent].received_ns - true[row.parent].sent_ns
            if name == "stopped-at-enqueue":
                assert 0 <= took < took_truly
            if name.startswith(("one-stamp", "thousand")) and row.parent not in (1, 3):
                assert took > took_truly


@pytest.mark.parametrize(("protocol", "client"), CLIENTS)
def test_no_other_requester_records_any(tmp_path: Path, protocol: str, client: str) -> None:
    rows, done = rows_of(tmp_path / "record", protocol, client, {})
    assert done["rows"] == 7
    assert {KINDS[row.kind] for row in rows} == {"request"}


def test_a_requester_refuses_them_where_they_have_no_meaning(tmp_path: Path) -> None:
    rows, last = rows_of(tmp_path / "record", "tcp", "socket", TOLD, rate_per_s=50.0)
    assert (rows, last["type"], last["kind"]) == ([], "failed", "trial")
    assert "timing_rules: misleading" in last["message"]
