"""This machine: whether it is busy, and its browser."""

from __future__ import annotations

import pytest

from orchestrator.errors import MissingError
from orchestrator.hosts import chromium
from orchestrator.hosts.busy import look


def program(folder, text):
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_it_has_a_profile_of_its_own_that_is_gone_afterwards_and_no_network(tmp_path):
    options = chromium.browse(program(tmp_path, "printf '%s\\n' \"$@\""), "file:///x.html").splitlines()
    assert {"--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"} <= set(options)
    assert options[-1] == "file:///x.html"
    (profile,) = (each.removeprefix("--user-data-dir=") for each in options if each.startswith("--user-data-dir="))
    assert not (tmp_path / profile).exists()


@pytest.mark.parametrize(("text", "why"), [("exit 3", "ended with status 3"), ("sleep 60", "did not end within")])
def test_one_that_fails_or_does_not_end_is_an_error(tmp_path, monkeypatch, text, why):
    monkeypatch.setattr(chromium, "_PATIENCE_S", 0.5)
    with pytest.raises(MissingError, match=why):
        chromium.browse(program(tmp_path, text), "file:///x.html")


@pytest.mark.parametrize(
    ("of_400", "sign"),
    [
        ({"user": 40}, ""),
        ({"user": 200}, "other programs used"),
        ({"user": 40, "steal": 40}, "the hypervisor took"),
        ({"user": 200, "steal": 100}, "the hypervisor took"),
    ],
)
def test_a_busy_machine_is_named(tmp_path, monkeypatch, of_400, sign):
    monkeypatch.setattr("os.cpu_count", lambda: 2)

    def reading(of_400):
        user, steal = of_400.get("user", 0), of_400.get("steal", 0)
        (tmp_path / "stat").write_text(
            f"cpu  {user} 0 0 {sum(of_400.values()) and 400 - user - steal} 0 0 0 {steal} 0 0\n"
        )

    reading({})
    now = look(tmp_path / "stat", lambda _: reading(of_400))
    assert now.sign().startswith(sign)
    assert bool(now.sign()) == bool(now.warning()) == bool(sign)


def test_a_system_without_counters_is_not_waited_for(tmp_path):
    slept = []
    assert look(tmp_path / "stat", slept.append).used is None
    assert slept == []
