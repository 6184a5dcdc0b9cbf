"""What becomes of the programs of every language where the other end, the host or whoever started them goes wrong."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance.kit import IDENTITY, Implementation
from tests.conformance.reference.server import Asked, Server, Silence
from tests.conformance.reference.wire import WIRES
from tests.languages.bad_input import PATIENCE_S, answer, ended, failed, serve, start, text_of, trial

pytestmark = [pytest.mark.slow, pytest.mark.busy]


def test_a_responder_that_dies_amid_the_trial_ends_it(language: Implementation, tmp_path: Path) -> None:
    answering = Implementation.named("python", PATIENCE_S)
    with answering.respond("tcp") as responder:
        line = trial(language, responder.ready["port"], tmp_path / "record", load={"duration_s": 600})
        program = start(language, "request")
        threading.Timer(1.0, lambda: responder.signal(signal.SIGKILL)).start()
        came = ended(program, text_of(line))
    failed(came, "refused")


RECORDS: dict[str, tuple[Callable[[Path], Path], tuple[str, ...]]] = {
    "in a folder that is not there": (lambda folder: folder / "none" / "record", ("none/record",)),
    "a folder": (lambda folder: folder, ()),
    "below a file": (lambda folder: Path(__file__) / "record", ()),
    "a pipe": (lambda folder: _made(folder / "pipe", os.mkfifo), ("no regular file",)),
    "a device": (lambda folder: Path("/dev/null"), ("no regular file",)),
    "in a folder of the system": (lambda folder: Path("/proc/record"), ("/proc/record",)),
    "with a zero in it": (lambda folder: Path("a\0b"), ()),
}


def _made(path: Path, make: Callable[[Path], object]) -> Path:
    make(path)
    return path


@pytest.mark.parametrize("case", RECORDS)
def test_a_requester_refuses_a_record_that_cannot_be_written(
    language: Implementation, case: str, tmp_path: Path
) -> None:
    where, named = RECORDS[case]
    place = where(tmp_path)
    stood = os.path.lexists(str(place).replace("\0", ""))
    with Server(WIRES["tcp"], IDENTITY) as server:
        came = answer(language, "request", text_of(trial(language, server.port, place)))
    failed(came, "host", *named)
    assert came.types == ["checked", "failed"]
    assert os.path.lexists(str(place).replace("\0", "")) == stood, "what was there was taken away"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="mounting a file system takes root")
@pytest.mark.parametrize("options", ["size=64k", "ro"], ids=["full", "read-only"])
def test_a_requester_refuses_a_disk_that_is(language: Implementation, options: str, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    inside = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o {options} orch "{disk}" && exec "$@"', "sh"]
    with Server(WIRES["tcp"], IDENTITY) as server:
        line = trial(language, server.port, disk / "record", load={"requests": 100_000})
        came = answer(language, "request", text_of(line), before=inside)
    failed(came, "host", "space" if options != "ro" else "ead-only file system")


ENDINGS = {"SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}


@pytest.mark.parametrize("phase", ["warm-up", "measured"])
@pytest.mark.parametrize("ending", [*ENDINGS, "stdin", "stdout"])
def test_a_requester_that_is_ended_says_so(language: Implementation, ending: str, phase: str, tmp_path: Path) -> None:
    reached = threading.Event()

    def slow(number: int, asked: Asked) -> Silence | None:
        if number < 7:
            return None
        reached.set()
        return Silence()

    with Server(WIRES["tcp"], IDENTITY, slow) as server:
        warmup = {"requests": 3 if phase == "measured" else 100, "at_least_s": 0}
        timeout_s = 1.0 if ending == "stdout" else 600.0  # it finds out when it has something to say
        line = trial(language, server.port, tmp_path / "record", warmup=warmup, timeout_s=timeout_s)
        program = start(language, "request")
        program.stdin.write(text_of(line))
        program.stdin.flush()
        assert reached.wait(PATIENCE_S)
        if ending in ENDINGS:
            program.send_signal(ENDINGS[ending])
        elif ending == "stdin":
            program.stdin.close()
        else:
            program.stdout.close()
        came = ended(program)
    assert "done" not in came.types
    assert came.noise == []
    if ending in ENDINGS:
        assert (came.status, came.said) == (-ENDINGS[ending], [])
    elif ending == "stdin":
        assert (came.status, came.said) == (1, ["request: stdin was closed before the work was done"])
    else:
        assert (came.status, came.said) == (1, [])


def test_a_responder_whose_lines_nobody_reads_ends(language: Implementation) -> None:
    program = start(language, "respond")
    program.stdin.write(text_of(serve(language)))
    program.stdin.flush()
    assert b'"ready"' in program.stdout.readline()
    program.stdout.close()
    came = ended(program, b"stats\n")
    assert (came.status, came.said) == (1, [])


def test_a_requester_without_descriptors_tells_so(language: Implementation, tmp_path: Path) -> None:
    with Server(WIRES["tcp"], IDENTITY) as server:
        load = {"requests": 1_000, "concurrency": 200}
        line = trial(language, server.port, tmp_path / "record", load=load)
        came = answer(language, "request", text_of(line), limits={resource.RLIMIT_NOFILE: 64})
    failed(came, "exhausted", "opening", "connections")
    assert came.names("open files") or came.names("EMFILE"), came.words


def identity_of(port: int) -> bytes | None:
    """What a responder of `tcp` says who it is; None where it closes the connection instead."""
    length = len(IDENTITY.encode())
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as one, one.makefile("rb") as came:
            one.sendall(struct.pack("!IB", 0, 0))
            told = came.read(5 + length)
    except ConnectionError:
        return None
    return told[5:] if told[:5] == struct.pack("!IB", length, 0) else None


def test_a_responder_without_descriptors_goes_on(language: Implementation) -> None:
    program = start(language, "respond", limits={resource.RLIMIT_NOFILE: 64})
    program.stdin.write(text_of(serve(language)))
    program.stdin.flush()
    port = json.loads(program.stdout.readline())["port"]
    many = [socket.create_connection(("127.0.0.1", port), PATIENCE_S) for _ in range(100)]
    time.sleep(0.5)
    for connection in many:
        connection.close()
    deadline_s = time.monotonic() + PATIENCE_S
    while (came := identity_of(port)) is None and time.monotonic() < deadline_s:
        time.sleep(0.1)  # what was closed on this side may not be closed yet on the other
    assert came == IDENTITY.encode()
    program.stdin.close()
    assert ended(program).status == 0
