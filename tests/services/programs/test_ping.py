"""The ICMP floor: by whichever way this host allows, and by the system's `ping`."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from services.python.contract.lines import STATUSES
from services.python.contract.ping_lines import Ping
from services.python.load.record import read_record
from services.python.probes.clock import Clock
from services.python.programs import ping as ping_module
from services.python.programs.ping import Unavailable, parse_ping, ping_by_best_means
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
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(Unavailable, match=r"icmp-datagram: Operation not permitted; icmp-raw: .*no `ping` program"):
        ping_by_best_means(Ping(address="127.0.0.1", record=""), Clock())


def test_a_host_without_icmp_sockets_uses_the_systems_ping(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    fake = tmp_path / "ping"
    fake.write_text("#!/bin/sh\necho '64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=0.25 ms'\n")
    fake.chmod(0o755)
    monkeypatch.setattr(ping_module, "ping_by_socket", _refuse)
    monkeypatch.setattr(shutil, "which", lambda name: str(fake))
    method, echoes = ping_by_best_means(Ping(address="127.0.0.1", record="", count=3), Clock())
    assert method == "system-ping"
    assert [(echo.sequence, echo.answered) for echo in echoes] == [(1, False), (2, True), (3, False)]


def test_reads_what_iputils_bsd_and_busybox_print():
    iputils = "64 bytes from ::1: icmp_seq=1 ttl=64 time=0.045 ms\n64 bytes from ::1: icmp_seq=3 ttl=64 time=12 ms\n"
    bsd = "64 bytes from 127.0.0.1: icmp_seq=0 ttl=64 time=0.045 ms\nRequest timeout for icmp_seq 1\n"
    busybox = "64 bytes from 127.0.0.1: seq=0 ttl=64 time=0.050 ms\n64 bytes from 127.0.0.1: seq=1 ttl=64 time=0.1 ms\n"
    assert parse_ping(iputils) == {1: 0.045, 3: 12.0}
    assert parse_ping(bsd) == {1: 0.045}
    assert parse_ping(busybox) == {1: 0.05, 2: 0.1}
