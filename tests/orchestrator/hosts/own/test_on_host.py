"""What orch runs on a machine of one's own, here on this one: the folder of a run, and the machine's lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts.local import machine_lock
from orchestrator.hosts.own import on_host

PROGRAM = Path(on_host.__file__)
HELD = f"o{os.getpid()}"  # sweeps of the tests beside this one end holders of `o1`


def start(verb: str, **arguments: Any) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM.read_text(), verb, json.dumps(arguments)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def test_a_look_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none" / "yet"
    seen = on_host.look(str(folder))
    assert (seen["system"], seen["folder"], seen["can_write"]) == ("Linux", str(folder), True)
    assert seen["cpus"] == sorted(os.sched_getaffinity(0))
    assert not folder.parent.exists()


def test_the_folder_goes_with_what_runs_out_of_it_and_what_was_made_above_it(tmp_path: Path) -> None:
    root = tmp_path / "cache" / "orch" / "orch-o1-a"
    (tmp_path / "cache").mkdir()
    for _ in range(2):
        on_host.make(str(root), "o1")
    assert on_host.status(str(root)) == {"is_there": True}
    left = subprocess.Popen(["/bin/sleep", "600"], cwd=root, start_new_session=True)
    reaper = threading.Thread(target=left.wait)
    reaper.start()
    assert on_host.sweep(str(root), "o1") == {"removed": True, "left": None}
    reaper.join()
    assert left.returncode == -9
    assert list(tmp_path.iterdir()) == [tmp_path / "cache"]
    assert list((tmp_path / "cache").iterdir()) == []
    assert on_host.sweep(str(root), "o1") == {"removed": False, "left": None}


def test_a_folder_that_orch_did_not_make_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    answer = on_host.sweep(str(tmp_path), "o1")
    assert not answer["removed"]
    assert "left alone" in answer["left"]
    assert (tmp_path / "precious").exists()


def test_the_machine_is_held_against_other_runs_and_an_orch_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = str(tmp_path / "lock")
    monkeypatch.setenv(machine_lock.VARIABLE, lock)
    first = start("hold", lock=lock, run=HELD, controller="laptop:/x", ttl_s=60)
    assert said(first) == {"held": True}
    other = start("hold", lock=lock, run="o2", controller="elsewhere:/y", ttl_s=60)
    answer = said(other)
    assert (answer["held"], answer["by"]["run"], answer["by"]["folder"]) == (False, HELD, "laptop:/x")
    with pytest.raises(MissingError, match=f"run {HELD}"), machine_lock.machine("local"):
        pass
    same = start("hold", lock=lock, run=HELD, controller="laptop:/x", ttl_s=60)
    assert said(same) == {"held": True}
    for process in (same, first, other):
        process.communicate(timeout=30)
    with machine_lock.machine("local"):
        third = start("hold", lock=lock, run="o3", controller="z", ttl_s=60)
        assert not said(third)["held"]
        third.communicate(timeout=30)


def test_a_holder_that_lost_its_run_is_ended_by_the_sweep_of_that_run_alone(tmp_path: Path) -> None:
    holder = start("hold", lock=str(tmp_path / "lock"), run="o1", controller="x", ttl_s=600)
    assert said(holder) == {"held": True}
    on_host.sweep(str(tmp_path / "none"), "o2")
    assert holder.poll() is None
    reaper = threading.Thread(target=holder.wait)
    reaper.start()
    assert on_host.sweep(str(tmp_path / "none"), "o1") == {"removed": False, "left": None}
    reaper.join()
    assert holder.returncode == -9
