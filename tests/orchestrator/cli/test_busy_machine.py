"""`orch doctor`, `plan` and `run` on a busy machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.cli.console import console
from orchestrator.cli.experiments import planning, running
from orchestrator.cli.machine import doctor
from orchestrator.hosts.busy import MachineNow

BUSY = MachineNow(cpus=2, used=1.5, steal=0.5)
QUIET = MachineNow(cpus=2, used=0.05, steal=0.0)
EXPERIMENT = "name: example\nquestion: Which?\nstacks: [rest, grpc]\noperations: timestamp\nrepeats: 2\n"
SIGN = "other programs used 1.50 of 2 CPUs"


@pytest.fixture(autouse=True)
def streams(out):
    Path("example.yaml").write_text(EXPERIMENT)
    return console


@pytest.fixture(params=[BUSY, QUIET], ids=["busy", "quiet"])
def now(request, monkeypatch):
    monkeypatch.setattr("orchestrator.hosts.busy.look", lambda: request.param)
    monkeypatch.setattr("orchestrator.hosts.probes.look", lambda: request.param)
    return request.param


def test_doctor_warns_and_does_not_fail(now, streams):
    doctor.doctor(provider="local")
    shown = streams.out.getvalue()
    assert (SIGN in shown) == (now is BUSY)
    assert ("the answer may be `not resolved`" in shown) == (now is BUSY)
    assert "provider local: can be used here" in shown


def test_plan_warns_in_text_and_json(now, streams):
    planning.plan([Path("example.yaml")])
    assert (f"warning: this machine is busy right now: the hypervisor took 0.50 of 2 CPUs away, and {SIGN}"
            in streams.out.getvalue()) == (now is BUSY)  # fmt: skip
    streams.out.said()
    planning.plan([Path("example.yaml")], as_json=True)
    document = json.loads(streams.out.getvalue())["machine_now"]
    assert (document["used"], bool(document["warning"])) == (now.used, now is BUSY)


def test_run_warns_before_it_measures(now, streams, monkeypatch):
    began = []
    monkeypatch.setattr("orchestrator.measure.run.start", lambda *_, **__: began.append(streams.err.getvalue()))
    running._start("example.yaml", [], keep=False, share=False, referee=None)
    (said_before,) = began
    assert (SIGN in said_before) == (now is BUSY)


def test_hosts_elsewhere_are_not_this_machine(streams, monkeypatch):
    def never():
        raise AssertionError("this machine does not measure")

    monkeypatch.setattr("orchestrator.hosts.busy.look", never)
    monkeypatch.setattr("orchestrator.measure.run.start", lambda *_, **__: None)
    Path("example.yaml").write_text(EXPERIMENT + "provider: gcp\nmachine: e2-micro\n")
    running._start("example.yaml", [], keep=False, share=False, referee=None)
    assert streams.err.getvalue() == ""
