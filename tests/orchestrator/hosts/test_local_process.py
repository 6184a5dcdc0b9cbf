from __future__ import annotations

import subprocess
import sys
import time

import pytest

from orchestrator.hosts.base import ContractBroken
from orchestrator.hosts.local.process import LAST_WORDS, LocalProcess, dies_with_parent
from orchestrator.hosts.processes import started_at

pytestmark = pytest.mark.busy


@pytest.fixture
def python():
    """Start a few lines of Python as a process of the contract."""
    started: list[LocalProcess] = []

    def start(code: str) -> LocalProcess:
        started.append(LocalProcess([sys.executable, "-c", code]))
        return started[-1]

    yield start
    for process in started:
        process.end(grace_s=0.1)


def gone(pid: int, start: str | None) -> bool:
    deadline = time.monotonic() + 10.0
    while started_at(pid) == start and time.monotonic() < deadline:
        time.sleep(0.02)
    return started_at(pid) != start


def test_lines_go_in_and_come_out(python):
    process = python("import sys\nfor line in sys.stdin: print('got', line.strip(), flush=True)")
    process.send("one")
    process.send("zwö")
    assert process.read(30.0) == "got one"
    assert process.read(30.0) == "got zwö"


def test_a_line_that_does_not_come_is_a_timeout_and_the_process_lives_on(python):
    process = python("import sys\nsys.stdin.readline(); print('late', flush=True); sys.stdin.read()")
    with pytest.raises(TimeoutError, match=r"within 0\.05 s"):
        process.read(0.05)
    process.send("")
    assert process.read(30.0) == "late"


def test_last_words_are_the_tail_of_stderr_however_much_is_said(python):
    process = python("import sys\nfor n in range(200_000): print('word', n, file=sys.stderr)\nprint('done')")
    assert process.read(60.0) == "done"
    process.end()
    assert process.last_words().endswith("word 199999")
    assert len(process.last_words()) <= LAST_WORDS


def test_end_closes_stdin_first_and_gives_the_status(python):
    process = python(
        "import sys, signal\nsignal.signal(15, signal.SIG_IGN)\nprint('up', flush=True)\nsys.stdin.read()\nsys.exit(7)"
    )
    process.read(30.0)
    assert process.end() == 7
    assert process.end() == 7


def test_what_a_process_started_ends_with_it(python):
    process = python(
        "import subprocess, sys, signal\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); "
        "print(1, flush=True); time.sleep(600)'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()"
    )
    child = int(process.read(30.0) or "")
    start = started_at(child)
    process.end()
    assert gone(child, start)


@pytest.mark.skipif(not dies_with_parent(), reason="this system has no `setpriv --pdeathsig`")
def test_a_process_that_hears_nothing_still_dies_with_its_parent():
    deaf = "import time; print('up', flush=True); time.sleep(600)"
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys\nfrom orchestrator.hosts.local.process import LocalProcess\n"
            f"p = LocalProcess([sys.executable, '-c', {deaf!r}])\np.read(30.0)\nprint(p.pid, flush=True)\nsys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    child = int(parent.stdout.readline())
    start = started_at(child)
    parent.kill()
    parent.communicate()
    assert gone(child, start)


def test_a_process_id_is_told_apart_by_when_it_started():
    assert started_at(2**22 + 1) is None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        first = started_at(process.pid)
        assert first == started_at(process.pid) is not None
        process.kill()
    assert started_at(process.pid) is None


def test_a_line_beyond_the_limit_ends_the_process_and_is_not_kept(python):
    process = python("import os\nwhile True: os.write(1, b'x' * 65536)")
    with pytest.raises(ContractBroken, match="longer than 1 MiB on stdout"):
        process.read(60.0)
    with pytest.raises(ContractBroken):
        process.read(60.0)
    assert process.end() == -9


def test_a_stopped_process_is_woken_so_that_it_can_end(python):
    process = python(
        "import os, signal, sys\nsignal.signal(15, lambda *_: sys.exit(9))\nprint('up', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSTOP)\nsignal.pause()"
    )
    process.read(30.0)
    assert process.end() == 9


def test_what_a_process_left_in_a_session_of_its_own_ends_with_it(python):
    process = python(
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\nprint(child.pid, flush=True)"
    )
    child = int(process.read(30.0) or "")
    start = started_at(child)
    assert start is not None
    process.end()
    assert started_at(child) != start
