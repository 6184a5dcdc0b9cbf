"""`orch serve` as a process: the address that it prints, how it ends, and where it cannot listen."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from orchestrator.errors import MissingError, UsageError
from orchestrator.web import listening
from tests.support.past import a_past_run

ROOT = Path(__file__).parents[3]
PROGRAM = "from orchestrator.cli.main import main; main()"


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "serve", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_one_address_answers_there_and_ends_in_order(tmp_path, number):
    a_past_run(tmp_path / "results" / "one")
    process = started(tmp_path, "--port", "0")
    try:
        address = process.stdout.readline().strip()
        found = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/\?token=[\w-]{43}", address)
        assert found, address
        with urllib.request.urlopen(address) as answer:
            assert answer.status == 200
            assert b"/runs/one" in answer.read()
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 19
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert out == ""
    assert "Traceback" not in err


def test_a_port_in_use_and_addresses_of_other_machines_are_said():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(MissingError, match="in use"):
            listening.listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(UsageError, match="not an address of this machine"):
        listening.listen("203.0.113.7", 0)
    for wrong in ("not a host", "x" * 300, "é\u0000"):
        with pytest.raises(UsageError, match="no address"):
            listening.listen(wrong, 0)


def test_the_names_that_are_answered_follow_the_address():
    with listening.listen("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        names = listening.names("127.0.0.1", bound, ["bench.example"])
        assert listening.is_loopback(bound)
        for host in ("localhost", "127.0.0.1", "[::1]", "BENCH.example"):
            assert names.has(f"{host}:{port}")
        assert names.has("bench.example")  # of a proxy
        for host in (f"127.0.0.1:{port + 1}", "localhost", f"10.0.0.1:{port}", f"evil.example:{port}"):
            assert not names.has(host)
        with pytest.raises(UsageError, match="no host name"):
            listening.names("127.0.0.1", bound, ["a b"])
    with listening.listen("0.0.0.0", 0) as bound:  # noqa: S104 - closed at once
        port = bound.getsockname()[1]
        names = listening.names("0.0.0.0", bound, [])  # noqa: S104
        assert not listening.is_loopback(bound)
        assert names.has(f"192.0.2.1:{port}")
        assert not names.has(f"evil.example:{port}")
