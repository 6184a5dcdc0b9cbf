from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from orchestrator.errors import Interrupted
from orchestrator.measure.interrupts import Interrupts


def test_a_signal_while_waiting_raises_at_once():
    heard_late = []

    def wait(interrupts: Interrupts) -> None:
        with interrupts.waiting():
            os.kill(os.getpid(), signal.SIGINT)
            heard_late.append(True)

    with Interrupts() as interrupts, pytest.raises(Interrupted, match="Ctrl-C"):
        wait(interrupts)
    assert heard_late == []


def test_a_signal_amid_other_work_waits_for_the_next_checkpoint():
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted, match="SIGTERM"):
            interrupts.checkpoint()
        with pytest.raises(Interrupted), interrupts.waiting():
            pytest.fail("waiting began although a signal had come")


def test_without_a_signal_nothing_happens():
    with Interrupts() as interrupts:
        interrupts.checkpoint()
        with interrupts.waiting():
            pass
    assert interrupts.received is None


def test_the_handlers_of_before_come_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_the_second_signal_ends_the_process_whatever_it_does():
    code = (
        "import os, signal\nfrom orchestrator.measure.interrupts import Interrupts\n"
        "with Interrupts():\n    os.kill(os.getpid(), 2)\n    os.kill(os.getpid(), 2)\n    print('survived')"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (130, "")
