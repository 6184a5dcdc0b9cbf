"""Readers that go away: a pipe, a terminal. What a verb does, and its exit status, do not depend on them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.busy

ROOT = Path(__file__).parents[3]
ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
YAML = """\
name: piped
question: Who reads this?
stacks: [tcp]
operations: [{echo: {bytes: 64 B}}]
load: {duration: DURATION}
repeats: 2
"""


def write(folder: Path, duration: str) -> None:
    (folder / "piped.yaml").write_text(YAML.replace("DURATION", duration))


@pytest.mark.slow
@pytest.mark.parametrize("words", [["plan", "piped.yaml"], ["--help"]], ids=" ".join)
def test_a_reader_that_is_gone_is_no_regression_and_no_traceback(tmp_path, words):
    write(tmp_path, "1s")
    near, far = os.pipe()
    os.close(near)
    process = subprocess.Popen(
        [*ORCH, *words], cwd=tmp_path, env=ENVIRONMENT, stdout=far, stderr=subprocess.PIPE, text=True
    )
    os.close(far)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("words", [["--json"], []])
def test_a_terminal_that_knows_ascii_alone_gets_escapes(tmp_path, words):
    (tmp_path / "piped.yaml").write_text(YAML.replace("DURATION", "1s").replace("Who reads this?", "µs or \U0001f600?"))
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*ORCH, "plan", "piped.yaml", *words], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"\\xb5s" in done.stdout or json.loads(done.stdout)["question"] == "µs or \U0001f600?"


def test_an_error_keeps_its_status_when_nobody_reads(tmp_path):
    near, far = os.pipe()
    os.close(near)
    done = subprocess.run(
        [*ORCH, "plan", "none.yaml"], cwd=tmp_path, env=ENVIRONMENT, stdout=far, stderr=far, check=False
    )
    os.close(far)
    assert done.returncode == 2


@pytest.mark.slow
def test_a_run_whose_terminal_is_closed_ends_in_order_and_leaves_a_receipt(tmp_path):
    """A real terminal: its closing sends SIGHUP to the session, and every later write to it fails."""
    write(tmp_path, "60s")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*ORCH, "run", "piped.yaml", "--share-machine"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_own_terminal,
    )
    os.close(slave)
    deadline = time.monotonic() + 90.0
    said = b""
    while b"measured" not in said:  # the live line of the first trial
        assert time.monotonic() < deadline, said
        said += os.read(master, 65536)
    os.close(master)
    assert process.wait(60) == 130
    (run,) = (tmp_path / "results").iterdir()
    assert '"left": []' in (run / "receipt.json").read_text()
    assert '"interrupted"' in (run / "manifest.json").read_text()


def _own_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_sigterm_ends_a_verb_with_the_status_of_an_interrupt(tmp_path):
    program = (
        "import os, signal, sys; from orchestrator.cli import main; from orchestrator.cli.experiments import planning\n"
        "def command(): os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n"
        "planning.plan = command; sys.argv = ['orch', 'plan']; main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "SIGTERM" in done.stderr
