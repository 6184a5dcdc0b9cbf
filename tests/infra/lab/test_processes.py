"""A process is a pid and when it started; nothing else is ever ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest
from orchlab import processes


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def test_ending_waits_until_the_process_is_gone(sleeper: subprocess.Popen[bytes]) -> None:
    handle = processes.handle(sleeper.pid)
    assert processes.is_alive(handle)
    processes.end(handle)
    assert not processes.is_alive(handle)
    assert sleeper.wait() == -signal.SIGKILL
    processes.end(handle)


@pytest.mark.parametrize("change", [{"start_ticks": 1}, {"boot_id": "another boot"}])
def test_a_pid_that_was_used_again_is_left_alone(sleeper: subprocess.Popen[bytes], change: dict[str, object]) -> None:
    stranger = replace(processes.handle(sleeper.pid), **change)  # type: ignore[arg-type]
    assert not processes.is_alive(stranger)
    processes.end(stranger)
    assert sleeper.poll() is None


def test_a_record_gives_the_handle_back() -> None:
    handle = processes.handle(os.getpid())
    assert processes.from_record(handle.to_dict()) == handle
    assert processes.from_record(None) is None
    assert not processes.is_alive(None)
