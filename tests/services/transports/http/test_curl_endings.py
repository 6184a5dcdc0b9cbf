"""`pycurl-multi` where requests end badly: the statuses of the contract, and no crash of the process.

Each test has a process of its own (`tests.support.curl_endings`), as libcurl and pycurl can take theirs with them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.curl_endings import CASES, IN_FLIGHT

pytestmark = pytest.mark.busy

PATIENCE_S = 100
TLS_CLOSED = {"handshakes": {"ok": 5}, "refused_handshakes": {"refused": 5 + IN_FLIGHT}}
ENDINGS = {
    **TLS_CLOSED,
    "no_handshakes": {"refused": 5},
    "closed_within_replies": {"closed": 10},
    "timeouts_within_replies": {"timeout": 10},
    "nobody_there": {"refused": 5},
    "responder_dies": {"ok": 2 * IN_FLIGHT, "closed": 4 * IN_FLIGHT},
    "connection_each": {"ok": 120},
    "shared_connections_die": {"gone": 18},
    "cancelled_under_way": {"cancelled": 60},
    "left_under_way": {"refused": 5 + IN_FLIGHT},
}


def endings(*cases: str, loop: str = "uvloop") -> dict[str, dict[str, int]]:
    """What the process wrote; it must have ended well, and said nothing besides."""
    command = [sys.executable, "-m", "tests.support.curl_endings", "--loop", loop, *cases]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=Path(__file__).parents[4], check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return dict(map(json.loads, ended.stdout.splitlines()))


def test_a_tls_connection_that_this_end_closes_ends_no_process() -> None:
    assert endings(*TLS_CLOSED) == TLS_CLOSED


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_every_bad_ending_has_its_status_and_ends_no_process(loop: str) -> None:
    assert ENDINGS.keys() == CASES.keys()
    assert endings(loop=loop) == ENDINGS
