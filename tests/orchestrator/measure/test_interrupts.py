from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from orchestrator.errors import Interrupted
from orchestrator.measure.interrupts import Interrupts, OutOfTime, without_terminal

_PROGRAM = "import os, signal\nfrom orchestrator.measure.interrupts import Interrupts\nwith Interrupts() as i:\n"


def ended(*lines: str) -> subprocess.CompletedProcess[str]:
    """How a program ends that does this under Interrupts, its handlers being those of a new process."""
    code = _PROGRAM + "".join(f"    {line}\n" for line in lines)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_signal_while_waiting_raises_at_once():
    heard_late = []

    def wait(interrupts: Interrupts) -> None:
        with interrupts.waiting():
            os.kill(os.getpid(), signal.SIGINT)
            heard_late.append(True)

    with Interrupts() as interrupts, pytest.raises(Interrupted, match="Ctrl-C"):
        wait(interrupts)
    assert heard_late == []


@pytest.mark.parametrize(
    ("number", "words"), [(signal.SIGTERM, "SIGTERM; finished blocks are kept"), (signal.SIGHUP, "terminal was closed")]
)
def test_a_signal_amid_other_work_waits_for_the_next_checkpoint(number, words):
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        with pytest.raises(Interrupted, match=words):
            interrupts.checkpoint()
        with pytest.raises(Interrupted), interrupts.waiting():
            pytest.fail("waiting began although a signal had come")


def test_the_handlers_of_before_come_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before


def test_the_second_signal_ends_the_process_whatever_it_does():
    done = ended("os.kill(os.getpid(), 2)", "os.kill(os.getpid(), 2)", "print('survived')")
    assert (done.returncode, done.stdout) == (130, "")


@pytest.mark.parametrize(
    "numbers", [(1, 1), (1, 1, 15), (2, 1), (15, 1, 1)], ids=["twice", "then SIGTERM", "after Ctrl-C", "after SIGTERM"]
)
def test_a_closed_terminal_never_cuts_a_run_that_ends_in_order(numbers):
    sent = [f"os.kill(os.getpid(), {number})" for number in numbers]
    assert ended(*sent, "print('took it down')").stdout == "took it down\n"


def test_under_nohup_a_closed_terminal_is_nothing():
    code = f"import signal\nsignal.signal(1, signal.SIG_IGN)\n{_PROGRAM}    os.kill(os.getpid(), 1); print(i.received)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "None\n"


@contextmanager
def allowed(interrupts: Interrupts, seconds: float) -> Iterator[None]:
    interrupts.allow(seconds)
    with interrupts.waiting():
        yield


def test_the_end_of_the_time_interrupts_what_only_waits():
    near, far = os.pipe()
    waits = select.poll()  # select() takes no descriptor above 1023
    waits.register(near, select.POLLIN)
    with Interrupts() as interrupts, pytest.raises(OutOfTime), allowed(interrupts, 0.05):
        waits.poll(60_000)
    os.close(near)
    os.close(far)


def test_the_end_of_the_time_waits_for_what_must_not_be_cut():
    with Interrupts() as interrupts:
        interrupts.allow(0.0)
        time.sleep(0.2)
        with pytest.raises(OutOfTime), interrupts.waiting():
            pytest.fail("it began although the time was over")
        interrupts.allow(None)
        with interrupts.waiting():
            pass


def test_a_teardown_goes_on_without_its_terminal():
    before = signal.getsignal(signal.SIGHUP)
    with without_terminal():
        os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == before
