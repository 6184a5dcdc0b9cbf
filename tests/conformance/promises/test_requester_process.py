"""What `protos/process.md` promises of a requester's process: what it reads, what it prints, how it ends."""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.bad_lines import CASES, OTHER_VERSION, spoilt
from tests.conformance.kit import TRIAL_LINES, Asking, Implementation, Trial, validated
from tests.conformance.reference.contract import VERSION
from tests.conformance.reference.record import rows_of
from tests.conformance.reference.server import Asked, Reply, Silence

pytestmark = pytest.mark.busy


@pytest.fixture
def requester(ends: Implementation, request_protocol: str, tmp_path: Path) -> Asking:
    """The default client of the first protocol."""
    return Asking(ends, request_protocol, ends.default_clients(request_protocol)[0], tmp_path)


def refused(trial: Trial, kind: str) -> str:
    """The one line with which a trial failed before it began; its message."""
    assert trial.types == ["failed"]
    assert trial.failed["kind"] == kind, trial.failed
    assert trial.said.splitlines() == [f"request: {trial.failed['message']}"]
    return trial.failed["message"]


def test_the_smoke_test_stops_after_the_check(requester: Asking):
    trial, server = requester.made(load={"requests": 0})
    assert trial.types == ["checked", "done"]
    assert (trial.done["rows"], trial.done["requests"], trial.done["warmup_requests"]) == (0, 0, 0)
    assert len(server.operations) == 1


@pytest.mark.parametrize(("case", "named"), CASES)
def test_a_line_that_is_no_trial_is_refused(requester: Asking, case: str, named: str):
    line = spoilt(case, requester.line(), "seed")
    assert named.format(number="seed") in refused(requester.ends.request(line), "trial")


def test_another_version_is_refused_by_name(ends: Implementation, request_protocol: str):
    for kind in ("trial", "what another version has"):
        line = {"type": kind, "contract": OTHER_VERSION, "what": "another", "record": ""}
        words = refused(ends.request(line), "trial")
        assert f"{OTHER_VERSION}" in words
        assert f"{VERSION}" in words.replace(str(OTHER_VERSION), "")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"protocol": "smoke-signals"}, id="protocol"),
        pytest.param({"client": "nobody"}, id="client"),
        pytest.param({"operation": "subtract"}, id="operation"),
        pytest.param({"payload": {"kind": "bytes", "size": 3}}, id="payload"),
        pytest.param({"load": {}}, id="a-load-without-end"),
        pytest.param({"load": {"requests": 1, "concurrency": 0}}, id="no-concurrency"),
        pytest.param({"load": {"requests": 1, "rate_per_s": 0}}, id="no-rate"),
    ],
)
def test_what_there_is_not_cannot_be_asked(requester: Asking, changes: dict[str, Any]):
    trial, server = requester.made(**changes)
    refused(trial, "trial")
    assert server.operations == []


def test_a_file_that_is_not_the_one_it_should_be_is_refused(requester: Asking):
    other = requester.folder / "other.json"
    other.write_text("{}")
    payload = {"kind": "json", "path": str(other), "sha256": "0" * 64}
    refused(requester.made(operation="echo", payload=payload)[0], "trial")


def test_another_responder_is_refused(requester: Asking):
    trial, server = requester.made(identity="somebody else")
    assert "somebody else" in refused(trial, "wrong-reply")
    assert server.operations == []


@pytest.mark.parametrize("name", ["", "n" * 201], ids=["no name", "a name without end"])
def test_a_responder_that_nobody_knows_must_say_who_it_is(requester: Asking, name: str):
    with requester.server(identity=name) as server:
        line = requester.line(target={"host": "127.0.0.1", "port": server.port})
        assert len(refused(requester.ends.request(line), "wrong-reply")) < 1_000
    assert server.operations == []


def test_a_trial_that_names_no_target_is_refused(requester: Asking):
    line = requester.line()
    del line["target"]
    refused(requester.ends.request(line), "trial")


def test_nobody_there_is_refused(requester: Asking):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        refused(requester.ends.request(requester.line(unused.getsockname()[1])), "refused")


def test_a_wrong_reply_to_the_check_ends_it(requester: Asking):
    trial, server = requester.made(lambda number, asked: Reply({"sum": 1}))
    refused(trial, "wrong-reply")
    assert len(server.operations) == 1


def test_a_record_that_cannot_be_written_is_the_hosts_fault(requester: Asking):
    trial, _ = requester.made(record=str(requester.folder / "no such folder" / "record"))
    assert trial.failed["kind"] == "host"


ENDINGS = {
    "closed-stdin": lambda program: program.close_stdin(),
    "SIGTERM": lambda program: program.signal(signal.SIGTERM),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_it_ends_early_and_the_rows_that_were_verified_stay(requester: Asking, ending: str):
    """Those of the warm-up at least: a reply may wait to be verified until the phase is over."""
    reached = threading.Event()

    def silent_at_last(number: int, asked: Asked) -> Silence | None:
        if number < 7:
            return None
        reached.set()
        return Silence()

    with requester.server(silent_at_last) as server, requester.ends.start("request") as program:
        program.send(requester.line(server.port, timeout_s=600.0))
        assert reached.wait(requester.ends.patience_s), program.said
        ENDINGS[ending](program)
        printed = [validated(line, *TRIAL_LINES) for line in program.rest()]
        program.status()
    assert "done" not in [line["type"] for line in printed]
    sequences = [row.sequence for row in rows_of(requester.record)]
    assert sequences == [1, 2, 3, 4, 5][: len(sequences)]
    assert len(sequences) >= 3  # of the warm-up


def test_it_measures_once_it_may(requester: Asking):
    with requester.server() as server, requester.ends.start("request") as program:
        program.send(requester.line(server.port, hold=True))
        while (line := program.line("checked", "start", "progress", "warm"))["type"] != "warm":
            pass
        time.sleep(0.3)
        asked, held_ns = len(server.operations), time.monotonic_ns()
        program.send("measure")
        done = program.line("progress", "done")
        assert program.status() == 0, program.said
    assert line == {"type": "warm", "requests": 3}
    assert asked == 1 + 3  # the check's and the warm-up's
    assert done["type"] == "done"
    assert done["requests"] == 10
    assert done["begin_ns"] >= held_ns  # both processes have the clock of the one host


def test_it_measures_from_the_moment_that_it_is_told(requester: Asking):
    with requester.server() as server, requester.ends.start("request") as program:
        program.send(requester.line(server.port, hold=True))
        while program.line("checked", "start", "progress", "warm")["type"] != "warm":
            pass
        program.send("measure tomorrow")  # unknown, so named on stderr and passed over
        at_ns = time.time_ns() + 400_000_000
        program.send(f"measure {at_ns}")
        done = program.line("progress", "done")
        assert program.status() == 0, program.said
    assert done["type"] == "done"
    assert done["requests"] == 10
    begun_ns = done["anchor"]["wall_ns"] + done["begin_ns"] - done["anchor"]["monotonic_ns"]
    assert begun_ns > at_ns - 10_000_000  # the wall clock may be slewed


def test_progress_comes_at_most_once_a_second(requester: Asking):
    def slow(number: int, asked: Asked) -> Reply:
        return Reply({}, after_s=0.01)

    begun_s = time.monotonic()
    trial, _ = requester.made(slow, load={"duration_s": 2.5})
    took_s = time.monotonic() - begun_s
    told = [line for line in trial.lines if line["type"] == "progress"]
    assert len(told) <= took_s + 1
    assert [line["phase"] for line in told] == sorted((line["phase"] for line in told), reverse=True)
    measured = [line["requests"] for line in told if line["phase"] == "measured"]
    assert measured == sorted(measured)
    assert all(count <= trial.done["requests"] for count in measured)
