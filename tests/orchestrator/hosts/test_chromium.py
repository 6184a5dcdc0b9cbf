"""This machine: whether it is busy, and its browser."""

from __future__ import annotations

import os

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


HZ = os.sysconf("SC_CLK_TCK")


def proc(folder, *, seconds, used=0.0, steal=0.0, waiting=0.0, cpus=2, pressure=True):
    """Counters after so many seconds in which so many CPUs were used and stolen."""
    total = seconds * cpus * HZ
    user, stolen = used * seconds * HZ, steal * seconds * HZ
    columns = [user, 0, 0, total - user - stolen, 0, 0, 0, stolen, 0, 0]
    of_each = "".join(f"cpu{number} 0 0 0 0\n" for number in range(cpus))
    folder.joinpath("stat").write_text(f"cpu  {' '.join(str(round(c)) for c in columns)}\n{of_each}intr 5\n")
    folder.joinpath("loadavg").write_text("3.10 2.00 1.00 1/100 5\n")
    if pressure:
        folder.joinpath("pressure").mkdir(exist_ok=True)
        total_us = round(waiting * seconds * 1e6)
        folder.joinpath("pressure/cpu").write_text(f"some avg10=0.00 avg60=0.00 avg300=0.00 total={total_us}\n")


def looked(folder, **second):
    """Two readings, a second apart, in which happened what is said."""
    proc(folder, seconds=0, **{k: v for k, v in second.items() if k in ("cpus", "pressure")})
    return look(folder, lambda seconds: proc(folder, seconds=seconds, **second))


@pytest.mark.parametrize(
    ("second", "sign"),
    [
        ({"used": 1.5}, "other programs used 1.50 of 2 CPUs"),
        ({"steal": 0.5}, "the hypervisor took 0.50 of 2 CPUs away"),
        ({"waiting": 0.8}, "something waited for a CPU for 80 % of the time"),
        ({"used": 3.0, "cpus": 8}, "other programs used 3.00 of 8 CPUs"),
    ],
)
def test_a_busy_machine_is_named_with_what_it_means_and_what_to_do(tmp_path, second, sign):
    now = looked(tmp_path, **second)
    assert now.signs() == [sign]
    assert now.warning().startswith(f"this machine is busy right now: {sign}. That means: ")
    assert "What to do: end what else runs here" in now.warning()


def test_without_pressure_the_ticks_are_enough(tmp_path):
    now = looked(tmp_path, used=1.0, pressure=False)
    assert now.waiting is None
    assert len(now.signs()) == 1


def test_a_system_without_counters_is_judged_by_its_load_alone(tmp_path):
    tmp_path.joinpath("loadavg").write_text("64.00 1.00 1.00 1/1 1\n")
    slept = []
    now = look(tmp_path, slept.append)
    assert slept == []
    assert now.used is None
    assert [sign.split(" is ")[0] for sign in now.signs()] == ["the load of the last minute"]
