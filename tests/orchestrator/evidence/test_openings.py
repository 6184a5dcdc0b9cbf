"""What a client library says of opening connections, held against what cannot be."""

from __future__ import annotations

import pytest

from services.python.contract.requester_lines import Opening
from services.python.contract.strict import decode
from tests.support.drafts import Draft
from tests.support.judged import of
from tests.support.made_up import HERE, WEST
from tests.support.runs import a_run


@pytest.mark.parametrize(
    ("place", "connection", "opening", "words"),
    [
        (WEST, "per-request", {"connect_s": 0.0301, "tls_s": 0.031}, None),
        (
            WEST,
            "per-request",
            {"connect_s": 0.0301, "tls_s": 0.02},
            "TLS's handshakes took 20 ms (median), less than the",
        ),
        (WEST, "reuse", {"connect_s": 0.0}, "less than the TCP_INFO min_rtt of 30 ms: impossible."),
        (
            WEST,
            "per-request",
            {"connect_s": 0.1},
            "TCP's handshakes took 100 ms (median), longer than the requests that",
        ),
        (WEST, "reuse", {"connect_s": 0.1}, None),  # before the requests
        (HERE, "per-request", {"connect_s": 60e-6, "tls_s": 150e-6}, None),
    ],
)
def test_handshakes_that_cannot_be_are_found(
    place, connection: str, opening: dict[str, float], words: str | None
) -> None:
    def spoil(draft: Draft) -> None:
        draft.done["opening"] = {"connections": 1000, **opening}

    found = of(a_run(spoil=spoil, placements=[place], connection=connection, blocks=2), "floor")[0]
    if words is None:
        assert found.verdict == "pass"
    else:
        assert found.verdict == "warn"
        assert words in found.explanation
        assert "latencies are not affected" in found.action


@pytest.mark.parametrize("took", [-1.0, float("nan"), float("inf"), 1e308])
def test_times_that_no_clock_gives_are_refused(took: float) -> None:
    with pytest.raises(ValueError, match="connect_s"):
        decode(Opening, {"connections": 1, "connect_s": took})
