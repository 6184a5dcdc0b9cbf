"""`orch serve`: its address, its end, and where it listens."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from orchestrator.cli.machine.serve import listen
from orchestrator.errors import MissingError
from tests.support.past import a_past_run

ROOT = Path(__file__).parents[3]
PROGRAM = "from orchestrator.cli.main import main; main()"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_answers_there_and_ends_in_order(tmp_path, number):
    a_past_run(tmp_path / "results" / "one")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        with urllib.request.urlopen(address) as answer:
            assert b"/runs/one" in answer.read()
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert out == ""
    assert "Traceback" not in err


def test_a_port_in_use_cannot_be_taken_twice():
    with listen("127.0.0.1", 0) as taken, pytest.raises(MissingError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("host", ["203.0.113.7", "not a host", "x" * 300])
def test_only_addresses_of_this_machine_can_be_listened_on(host):
    with pytest.raises(MissingError, match="cannot listen"):
        listen(host, 0)


def test_an_address_of_ipv6_can_be_listened_on():
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with listen("::1", 0) as bound:
        assert bound.getsockname()[0] == "::1"
