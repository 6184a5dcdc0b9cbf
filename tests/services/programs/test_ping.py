"""The ICMP floor: by whichever way this host allows."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from services.python.contract.lines import STATUSES
from services.python.contract.ping_lines import Ping
from services.python.load.record import read_record
from services.python.probes.clock import Clock
from services.python.programs import ping as ping_module
from services.python.programs.ping import Unavailable, ping_by_best_means
from tests.support.ends import program


def test_an_echo_that_nobody_answers_is_a_timeout(tmp_path: Path):
    # TEST-NET-2 (RFC 5737) is nobody's; without a route the answer is the same.
    asked = Ping(address="198.51.100.1", count=2, timeout_s=0.05, record=str(tmp_path / "record"))
    with program("services.python.programs.ping") as pinging:
        pinging.send(asked.to_json())
        done = pinging.read()
    if done["type"] == "failed":
        assert done["kind"] == "unavailable"
        return
    assert (done["sent"], done["received"], done["min_ms"]) == (2, 0, None)
    assert [STATUSES[row.status] for row in read_record(tmp_path / "record")] == ["timeout", "timeout"]


def _refuse(*arguments: object) -> socket.socket:
    raise PermissionError(1, "Operation not permitted")


def test_without_any_way_it_says_what_was_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ping_module, "ping_by_socket", _refuse)
    with pytest.raises(Unavailable, match=r"icmp-datagram: Operation not permitted; icmp-raw: Operation not permitted"):
        ping_by_best_means(Ping(address="127.0.0.1", record=""), Clock())
