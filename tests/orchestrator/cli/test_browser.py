"""`--open` and `orch serve`."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import webbrowser
from pathlib import Path

import pytest

from orchestrator.cli import browser
from orchestrator.cli.console import console
from orchestrator.cli.machine.serve import listen
from orchestrator.cli.results import report
from orchestrator.errors import MissingError
from tests.support.past import a_past_run
from tests.support.runs import a_run, write_run


@pytest.fixture(autouse=True)
def opened(out, monkeypatch):
    """The addresses that a browser was told."""
    told = []
    monkeypatch.setattr(webbrowser, "open", lambda address: told.append(address) or True)
    return told


@pytest.mark.slow
def test_the_report_is_opened_and_its_path_printed(opened):
    write_run(a_run(), Path("results/one"))
    report.report(["one"], opens=True)
    (address,) = opened
    printed = console.out.getvalue().splitlines()[0]
    assert address == Path(printed).resolve().as_uri()


@pytest.mark.slow
def test_nothing_is_opened_unless_asked(opened):
    write_run(a_run(), Path("results/one"))
    report.report(["one"])
    assert opened == []


@pytest.mark.parametrize("failure", [OSError("no such program"), webbrowser.Error("could not locate"), None])
def test_a_browser_that_cannot_be_started_is_a_warning(monkeypatch, failure):
    def fails(address):
        if failure is not None:
            raise failure
        return False

    monkeypatch.setattr(webbrowser, "open", fails)
    browser.show(Path("reports/x.html"))
    assert "warning:" in console.err.getvalue()
    assert "the report is in reports/x.html" in console.err.getvalue()


def test_a_run_without_a_report_says_that_there_is_none_to_open(opened):
    browser.show(None)
    assert opened == []
    assert "there is no report to open" in console.err.getvalue()


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
