"""The certificates of a run: who is given what, who may read it, and that this machine keeps no key."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.certificates import Certificates
from orchestrator.measure import teardown
from orchestrator.measure.trial import unlike_told
from orchestrator.results.folder import RunFolder
from orchestrator.workspace import Workspace
from services.python.contract.requester_lines import Negotiated
from tests.orchestrator.measure.test_run import Lab
from tests.orchestrator.measure.test_trial import ASK
from tests.support.hosts import DistantHost, FakeDeployment, FakeFleet, FakeProcess, Line, good_requester

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
EXPERIMENT = """\
name: secured
question: What does TLS cost?
stacks: tcp
tls: [none, tls1.3]
operations: add
load: {concurrency: 1, requests: 20}
warmup: {requests: 5, at_least: 0s}
repeats: 1
seed: 1
"""
KEY = b"PRIVATE KEY"


def written(folder: Path) -> Path:
    path = folder / "secured.yaml"
    path.write_text(EXPERIMENT)
    return path


def telling(version: str) -> Callable[[FakeProcess], Iterator[Line]]:
    """A requester that says what was negotiated."""

    def talk(process: FakeProcess) -> Iterator[Line]:
        for line in good_requester(process):
            is_done = isinstance(line, dict) and line["type"] == "done" and process.trial["tls"]
            yield {**line, "tls": {"version": version, "handshakes": 3, "resumed": 0}} if is_done else line

    return talk


def two_ends(lab: Lab, version: str = "TLSv1.3") -> list[DistantHost]:
    ends = [
        DistantHost(
            folder=lab.folder / name,
            time=lab.time,
            diary=lab.diary,
            name=name,
            requester=lambda _number: telling(version),
        )
        for name in ("asking", "answering")
    ]
    lab.deployment = FakeDeployment(fleet=FakeFleet((ends[0],), ends[1]), diary=lab.diary)
    return ends


def holding_keys(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and KEY in path.read_bytes()]


def test_each_end_is_given_what_it_needs_and_no_key_stays_here(tmp_path: Path) -> None:
    plan = make_plan(written(tmp_path))
    lab = Lab(tmp_path)
    ends = two_ends(lab)
    assert lab.run(plan).failed_trials == 0
    told: dict[str, list[Any]] = {"responder": [], "requester": []}
    for host in ends:
        for process in host.processes:
            if process.role.startswith("responder"):
                told["responder"].append((host.name, process.serve["knobs"], process.serve["tls"]))
            elif process.role == "requester":
                told["requester"].append((host.name, process.trial["knobs"], process.trial["tls"]))
    for found in told.values():
        for _, given, tls in found:
            assert (tls is None) == (given == {})
        assert {given.get("tls") for _, given, _ in found} == {None, "tls1.3"}
    key = next(tls["key"] for _, _, tls in told["responder"] if tls)
    assert Path(key).parent == ends[1].folder
    assert {tls["path"] for _, _, tls in told["requester"] if tls} == {str(ends[0].folder / "tls-authority.pem")}
    assert holding_keys(tmp_path) == [Path(key)]  # on the host, and gone with it


def test_teardown_removes_the_keys_that_a_killed_orch_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plan, workspace = make_plan(written(tmp_path)), Workspace(tmp_path)
    folder = RunFolder.create(plan, command=["orch", "run"], root=workspace.results)
    folder.release()
    left = workspace.private / folder.id / "tls-local.key"
    left.parent.mkdir(parents=True)
    left.write_bytes(KEY)
    teardown.end(workspace, folder.id)
    assert not left.exists()


@pytest.mark.alone
@pytest.mark.busy
def test_a_real_run_leaves_no_key_and_keeps_what_was_negotiated(tmp_path: Path) -> None:
    written(tmp_path)
    done = subprocess.run(
        [*ORCH, "run", "secured.yaml", "--share-machine"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    assert holding_keys(tmp_path) == []
    assert not list((tmp_path / ".orch" / "private").iterdir())
    trials = RunFolder.open("latest", root=tmp_path / "results").manifest().trials
    told = {trial.cell: trial.requesters[0].done.tls for trial in trials}
    plain, secured = (told[f"tcp-threads-socket__add__local__reuse{what}__c1"] for what in ("", "__tls1.3"))
    assert plain is None
    assert (secured.version, secured.handshakes, secured.resumed) == ("TLSv1.3", 3, 0)


def test_a_cell_whose_connections_were_not_what_it_has_fails_and_others_go_on(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    two_ends(lab, "TLSv1.2")
    result = lab.run(make_plan(written(tmp_path)))
    assert (result.trials, result.failed_trials) == (2, 1)
    failed = next(trial.failure for trial in lab.runs.manifest().trials if trial.failure)
    assert (failed.stage, failed.kind) == ("smoke", "tls")


@pytest.mark.parametrize(
    ("told", "knobs", "reason"),
    [
        ({"version": "TLSv1.3", "handshakes": 9, "resumed": 0}, {}, None),
        ({}, {}, None),
        ({"version": "TLSv1.3, TLSv1.2"}, {}, "TLSv1.3, TLSv1.2 was negotiated"),
        ({"handshakes": 9, "resumed": 1}, {}, "1 of 9 handshakes resumed a session, and none was to"),
        ({"handshakes": 9, "resumed": 8}, {"session": "resumed"}, None),
        ({"handshakes": 9, "resumed": 3}, {"session": "resumed"}, "only 3 of 9 handshakes resumed"),
        (None, {}, "the requester says nothing of it"),
    ],
)
def test_what_was_negotiated_is_held_against_the_cell(
    told: dict[str, Any] | None, knobs: dict[str, str], reason: str | None
) -> None:
    ask = replace(ASK, knobs={"tls": "tls1.3", **knobs}, certificates=Certificates())
    found = unlike_told(None if told is None else Negotiated(**told), ask)
    assert (found is None) if reason is None else (reason in str(found))
