"""A folder with a manifest is all that a further language takes: it is listed, planned and run, by its own command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.catalogue import read
from orchestrator.catalogue.read import SERVICES, protocols
from orchestrator.clock import SYSTEM
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.base import Pair
from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure.interrupts import Interrupts
from orchestrator.measure.target import Ask
from orchestrator.measure.trial import Bench
from services.python.contract.lines import Load

# A shell starts it; it answers and asks as the programs of this checkout do, under names of its own.
START = """\
#!/bin/sh
# $1: the interpreter, $2: the role. The environment that it was given has `services`.
exec env ECHO_STARTED="$2" "$1" "$(dirname "$0")/program.py" "$2"
"""
PROGRAM = """\
import os, sys
from dataclasses import replace
from importlib import import_module

from services.python.protocols import tcp

said = tcp.PROTOCOL
tcp.PROTOCOL = replace(
    said,
    responders=tuple(replace(r, name=f"echo-{r.name}", packages=()) for r in said.responders),
    clients=tuple(replace(c, name=f"echo-{c.name}") for c in said.clients),
)
role = sys.argv.pop(1)
assert os.environ["ECHO_STARTED"] == role
sys.stderr.write(f"echo speaks: {role}\\n")
import_module(f"services.python.programs.{role}").main()
"""


@pytest.fixture
def with_echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of services with what this checkout has, and `echo` beside it."""
    folder = tmp_path / "services"
    (folder / "echo").mkdir(parents=True)
    for there in SERVICES.glob("*/manifest.json"):
        (folder / there.parent.name).symlink_to(there.parent)
    raw = json.loads((SERVICES / "python" / "manifest.json").read_text(encoding="utf-8"))
    tcp = next(protocol for protocol in raw["protocols"] if protocol["name"] == "tcp")
    for end in (*tcp["responders"], *tcp["clients"]):
        end["name"] = f"echo-{end['name']}"
    tcp |= {"sequential": "echo-socket", "concurrent": "echo-uvloop"}
    start = ["sh", "{folder}/start.sh", "{python}"]
    raw |= {"language": "echo", "title": "Echo", "precedence": 9, "protocols": [tcp]}
    raw["roles"] = {role: {"argv": [*start, role]} for role in ("respond", "request")}
    (folder / "echo" / "manifest.json").write_text(json.dumps(raw), encoding="utf-8")
    (folder / "echo" / "start.sh").write_text(START, encoding="utf-8")
    (folder / "echo" / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setattr(read, "SERVICES", folder)
    return folder


@pytest.mark.slow
def test_a_further_language_is_planned_and_measured(with_echo: Path, tmp_path: Path) -> None:
    assert protocols()["tcp"].responder().language.name == "python", "the defaults stay what they were"
    path = tmp_path / "x.yaml"
    path.write_text(
        "name: x\nquestion: Which?\nstacks: [tcp, {protocol: tcp, responder: echo-threads, client: echo-socket}]\n"
        "operations: timestamp\n"
    )
    plan = make_plan(path)
    assert [stack.id for stack in plan.stacks] == ["tcp-threads-socket", "tcp-echo-threads-echo-socket"]
    assert plan.resolved[plan.stacks[0].id]["parts"]["language"] == "Python"
    assert plan.resolved[plan.stacks[1].id]["parts"]["language"] == "Echo"
    started: list[dict[str, object]] = []
    host = LocalHost(tmp_path / "host", note=started.append)
    bench = Bench(clock=SYSTEM, interrupts=Interrupts(), on_progress=lambda line: None)
    stack = plan.stacks[1]
    ask = Ask(
        protocol=stack.protocol,
        responder=stack.responder,
        client=stack.client,
        operation="timestamp",
        load=Load(requests=20),
    )
    try:
        outcome = bench.make(ask, Pair((host,), host), "echo")
    finally:
        host.end_all()
    assert outcome.failure is None
    assert outcome.ready is not None
    assert outcome.ready.implementation == "echo-threads"
    assert [part.done.requests for part in outcome.parts] == [20]
    assert len(started) == 2


def test_what_the_catalogue_does_not_have_fails_the_trial_by_name(with_echo: Path, tmp_path: Path) -> None:
    host = LocalHost(tmp_path / "host", note=lambda event: None)
    bench = Bench(clock=SYSTEM, interrupts=Interrupts(), on_progress=lambda line: None)
    ask = Ask(protocol="tcp", responder="gone", client="socket", operation="timestamp", load=Load(requests=1))
    failure = bench.make(ask, Pair((host,), host), "x").failure
    assert failure is not None
    assert (failure.stage, failure.kind) == ("start", "unknown")
    assert "'gone'" in failure.message
