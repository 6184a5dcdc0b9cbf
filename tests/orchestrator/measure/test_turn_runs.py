"""A real run in turns: of a service that polls, and of one whose requests are slower than planned."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from orchestrator.checks.ends.cpu_time import MOST_IDLE
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.results.turn_times import REST_S
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told

pytestmark = [pytest.mark.alone, pytest.mark.busy]

SERVICE = Path(__file__).parents[3] / "benchmarks" / "harness" / "work_service.py"
EXPERIMENT = """\
name: turns
question: Who polls, and who is slow?
services:
  quiet: {start: "{python} work_service.py --address {address} --port {port} --rounds 100", folder: .}
  poller: {start: "{python} work_service.py --address {address} --port {port} --rounds 100 --poll 0.3", folder: .}
  slow: {start: "{python} work_service.py --address {address} --port {port} --rounds 100 --sleep-ms 4", folder: .}
stacks:
  - {name: quiet, service: quiet, call: {http: "GET /", expect: {status: 200}}}
  - {name: poller, service: poller, call: {http: "GET /", expect: {status: 200}}}
  - {name: slow, service: slow, call: {http: "GET /", expect: {status: 200}}}
load: {duration: 200ms}
warmup: {requests: 20, at_least: 0s}
repeats: 3
"""


def test_a_poller_is_named_slow_requests_get_longer_turns_and_floors_take_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(SERVICE, tmp_path)
    (tmp_path / "turns.yaml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)
    plan = make_plan(Path("turns.yaml"))
    run = RunFolder(measure.start(plan, Workspace(), command=["orch", "run"], listener=Told()).folder)
    manifest, quiet, poller, slow = run.manifest(), *(cell.id for cell in plan.cells)

    used = {cell: [t.rest_cpu_s or 0.0 for t in manifest.trials if t.cell == cell] for cell in (quiet, poller)}
    assert max(used[quiet]) < MOST_IDLE * REST_S < min(used[poller])
    assert {c.cell for c in summarise(run).checks if c.name == "CPU time" and "idle" in c.explanation} >= {poller}

    lengths = {t.cell: None if t.fitted_turns is None else t.fitted_turns.length_s for t in manifest.trials}
    assert lengths[quiet] is None
    assert (lengths[slow] or 0.0) >= 0.08

    looks = {(baseline.kind, baseline.moment) for baseline in manifest.baselines}
    assert looks == {("ping", "before"), ("tcp", "during"), ("ping", "after")}
    assert {cell for baseline in manifest.baselines for cell in baseline.cells} == {quiet, poller, slow}
