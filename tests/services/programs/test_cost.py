"""What both ends count of themselves: CPU time and memory of the measured phase alone, against a known amount of work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.python.contract.lines import Load, Warmup
from services.python.contract.responder_lines import Serve
from tests.support.ends import program, trial_of

pytestmark = pytest.mark.busy

MIB = 2**20
WARM, MEASURED = 150, 50
EACH_MS, EACH_MIB = 4.0, 64


def test_the_measured_phase_is_counted_and_the_warm_up_is_not(tmp_path: Path):
    env = {**os.environ, "COSTLY_MS": str(EACH_MS), "COSTLY_MIB": str(EACH_MIB)}
    with (
        program("tests.support.costly_responder", env=env) as responder,
        program("services.python.programs.request") as requester,
    ):
        responder.send(Serve(protocol="tcp", identity="nonce").to_json())
        load, warmup = Load(requests=MEASURED), Warmup(requests=WARM, at_least_s=0.0)
        port, record = responder.read()["port"], tmp_path / "record"
        requester.send(trial_of("tcp", "socket", port, record, load=load, warmup=warmup, hold=True).to_json())
        while (line := requester.read())["type"] != "warm":
            pass
        assert line["requests"] == WARM
        warm, idle = responder.stats(), responder.stats()
        requester.send("measure")
        while (done := requester.read())["type"] != "done":
            pass
        end = responder.stats()
    worked_s = MEASURED * EACH_MS / 1e3
    measured_s = end["cpu_s"] - idle["cpu_s"]
    assert worked_s <= measured_s < 2.5 * worked_s  # the warm-up alone was three times that
    assert warm["cpu_s"] > WARM * EACH_MS / 1e3
    assert end["answered"] - idle["answered"] == MEASURED
    assert done["requests"] == MEASURED
    if end["memory_since"] == "phase":
        assert idle["memory_bytes"] < warm["memory_bytes"] - EACH_MIB // 2 * MIB  # nothing was answered between the two
        assert end["memory_bytes"] > idle["memory_bytes"] + EACH_MIB // 2 * MIB
    assert 0 < done["cpu_s"] < worked_s + 5
    assert done["memory_bytes"] > 5 * MIB
    if (counted := end["host"]["cgroup_cpu_us"]) is not None:
        assert (counted - idle["host"]["cgroup_cpu_us"]) / 1e6 > 0.9 * measured_s
