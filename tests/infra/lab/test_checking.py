"""What a machine lacks is said before anything is made, each with what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from deployments import call_provider
from orchlab import checking


def test_each_missing_program_names_its_package(tmp_path: Path) -> None:
    lacks = checking.lacking_programs(lambda name: name not in ("ip", "ping"), tmp_path / "sshd")
    assert [lack["hint"] for lack in lacks] == [
        "apt-get install iproute2",
        "apt-get install iputils-ping",
        "apt-get install openssh-server (it need not run)",
    ]


def test_an_ordinary_user_is_told_to_use_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (lack,) = checking.missing()
    assert lack == {"what": "the lab makes namespaces, which needs root", "hint": "run the same command with sudo"}


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/usr/bin/setpriv").exists(), reason="needs root, to stop being root")
def test_nothing_is_made_for_an_ordinary_user(infra: Path) -> None:
    program = [sys.executable, "-ES", str(infra / "lab" / "provider.py")]
    drop = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    python = ["/usr/bin/python3", *program[1:]] if Path("/usr/bin/python3").exists() else program
    done = subprocess.run(
        [*drop, *python, "network-up", "--run-id", "tuser"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines() == [
        "error: the lab makes namespaces, which needs root",
        "hint: run the same command with sudo",
    ]
    assert not Path("/var/lib/orch-lab/tuser").exists()


def test_check_answers_in_json(infra: Path) -> None:
    done = call_provider(infra / "lab", "check")
    answer = json.loads(done.stdout)
    assert answer["ok"] is (done.returncode == 0)
    assert answer["ok"] is (answer["missing"] == [])
