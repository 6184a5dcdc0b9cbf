"""Runs with programs that were built: what is recorded of them, and what is refused when they are not the same any more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.catalogue import building, builds, read
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import require_programs
from orchestrator.hosts.local.host import LocalHost
from orchestrator.measure.run import _conditions
from orchestrator.measure.smoke import programs_record, refuse_changes
from orchestrator.results.folder import RunFolder, verify
from orchestrator.summarise import summarise
from tests.support.hosts import FakeFleet
from tests.support.tiny_language import ORCH, ROOT, STACK, TOOL, tiny, write_tiny

EXPERIMENT = f"""\
name: tiny
question: Does it run?
stacks: [tcp, {STACK}]
operations: add
load: {{concurrency: 1, requests: 50}}
warmup: {{requests: 5, at_least: 0s}}
repeats: 2
seed: 1
"""
COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "services"
    write_tiny(folder, needs=[TOOL])
    monkeypatch.setattr(read, "SERVICES", folder)
    assert building.build(tiny(folder), folder, say=lambda said: None).kind == "built"
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    return folder


def test_what_was_built_is_recorded_with_what_hosts_run_it_with(services: Path, tmp_path: Path) -> None:
    plan = make_plan(tmp_path / "tiny.yaml")
    host = LocalHost(tmp_path / "host", note=lambda event: None)
    built = require_programs(plan)
    records = programs_record(plan, built, FakeFleet((host,), host))
    assert records.keys() == {"tiny"}
    record = records["tiny"]
    assert (record.title, record.toolchain, record.contract) == ("Tiny", {"sh": "7.1"}, 2)
    assert record.source == builds.source_digest(tiny(services), services / "tiny")
    assert record.artifacts.keys() == {"build/respond", "build/request"}
    assert record.runtimes == {"local": {"sh": "7.1"}}
    now = _conditions({}, records)
    refuse_changes("x", now, now)
    refuse_changes("x", {}, now)
    other = _conditions({}, {"tiny": replace(record, source="f" * 64)})
    with pytest.raises(UsageError, match=r"run x cannot be resumed: programs of Tiny changed: source: f+, now "):
        refuse_changes("x", other, now)


def orch(services: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ORCH, str(services), *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.timeout(400)
def test_a_run_of_built_programs_is_recorded_reported_compared_and_verified(services: Path, tmp_path: Path) -> None:
    done = orch(services, tmp_path, "run", "tiny.yaml")
    assert done.returncode in COMPLETED, done.stderr
    (folder,) = (RunFolder(path) for path in (tmp_path / "results").iterdir())
    stored = json.loads((folder.path / "manifest.json").read_text())["programs"]["tiny"]
    assert stored["toolchain"] == stored["runtimes"]["local"] == {"sh": "7.1"}
    assert stored["source"] == builds.source_digest(tiny(services), services / "tiny")
    program = services / "tiny" / "build" / "respond"
    assert stored["artifacts"]["build/respond"] == builds.artifact(program).sha256
    assert all(trial.outcome == "ok" for trial in folder.manifest().trials)
    verify(folder)
    condition = {each.title: each.value for each in summarise(folder).conditions}["Programs in Tiny"]
    assert condition == f"built with sh 7.1, of source {stored['source'][:12]}; run by sh 7.1"
    (page,) = (tmp_path / "reports").glob("*.html")
    assert f"of source {stored['source'][:12]}" in page.read_text()

    source = services / "tiny" / "source" / "respond"
    source.write_text(f"{source.read_text()}# another\n")
    assert orch(services, tmp_path, "setup", "build", "tiny").returncode == 0
    done = orch(services, tmp_path, "run", "tiny.yaml")
    assert done.returncode in COMPLETED, done.stderr
    one, two = sorted(path.name for path in (tmp_path / "results").iterdir())
    compared = orch(services, tmp_path, "compare", two, one)
    assert compared.returncode == 0, compared.stderr
    assert "what was built differs (Programs in Tiny: built with sh 7.1, of source " in compared.stdout
