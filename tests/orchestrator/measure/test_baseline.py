from __future__ import annotations

import pytest

from orchestrator.measure.baselines import pings_for
from services.python.contract.ping_lines import PingDone


@pytest.mark.parametrize(
    ("method", "min_ms", "pings"),
    [
        ("icmp-datagram", 0.02, 500),
        ("icmp-raw", 10.0, 100),
        ("icmp-raw", 70.0, 20),
        ("system-ping", 0.02, 20),
    ],
)
def test_a_look_pings_for_about_a_second_and_often_enough_for_a_minimum(method, min_ms, pings):
    assert pings_for(PingDone(method=method, sent=3, received=3, min_ms=min_ms, avg_ms=min_ms)) == pings
