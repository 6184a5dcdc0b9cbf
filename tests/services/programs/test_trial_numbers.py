"""A trial whose numbers make no sense is refused before anything is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Target, Trial
from tests.support.ends import program, responder


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"timeout_s": 1e308}, "timeout_s"),
        ({"load": Load(duration_s=1e308)}, "load.duration_s"),
        ({"load": Load(requests=-1)}, "load.requests"),
        ({"payload": Payload(kind="bytes", size=-1), "operation": "echo"}, "payload.size"),
        ({"start_at_unix_ns": 10**400}, "start_at_unix_ns"),
        ({"seed": 1 << 53}, "seed"),
        ({"record": "/tmp/a\0b"}, "null"),
    ],
)
def test_a_trial_of_numbers_that_make_no_sense_is_refused_in_one_sentence(tmp_path: Path, change: Any, words: str):
    with responder("tcp") as (_, ready), program("services.python.programs.request") as requester:
        trial = Trial(
            target=Target(host="127.0.0.1", port=ready["port"], identity="nonce"),
            protocol="tcp",
            client="socket",
            operation="timestamp",
            record=str(tmp_path / "record"),
            load=Load(requests=10),
        )
        requester.send(replace(trial, **change).to_json())
        _, lines, stderr = requester.ended_by_itself()
    kind = "host" if "record" in change else "trial"  # no file can be made there
    assert (lines[-1]["type"], lines[-1]["kind"]) == ("failed", kind)
    assert words in lines[-1]["message"]
    assert "Traceback" not in stderr
