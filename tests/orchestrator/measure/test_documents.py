"""A run with the user's own JSON: who is given its schema, and that it travels as the plan says."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.experiment.plan.own import json_documents
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from tests.orchestrator.measure.test_run import Lab
from tests.support.hosts import DistantHost, FakeDeployment, FakeFleet

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
EXPERIMENT = """\
name: own
question: Which?
stacks: [rest, {protocol: [STACKS], document: [typed, value]}]
compare_by: [stack, document]
operations: [add, {echo: {json: rows.json}}]
exclude: [{operation: add, document: value}]
load: {concurrency: 1, requests: 20}
warmup: {requests: 5, at_least: 0s}
repeats: 1
seed: 1
"""
ROWS = [{"id": n, "name": f"row {n}", "part": n / 7} for n in range(200)]


def written(folder: Path, stacks: str) -> Path:
    each = ", ".join(f"{{protocol: {name}, document: [typed, value]}}" for name in stacks.split())
    (folder / "rows.json").write_text(json.dumps(ROWS))
    path = folder / "own.yaml"
    path.write_text(EXPERIMENT.replace("{protocol: [STACKS], document: [typed, value]}", each))
    return path


def test_both_ends_are_given_the_schema_that_lies_on_their_own_host(tmp_path: Path) -> None:
    plan = make_plan(written(tmp_path, "grpc"))
    lab = Lab(tmp_path)
    ends = [
        DistantHost(folder=tmp_path / name, time=lab.time, diary=lab.diary, name=name)
        for name in ("asking", "answering")
    ]
    lab.deployment = FakeDeployment(fleet=FakeFleet((ends[0],), ends[1]), diary=lab.diary)
    lab.run(plan)
    settings = {"asking": [], "answering": []}
    for host in ends:
        for process in host.processes:
            line = (
                process.serve if "responder" in process.role else process.trial if process.role == "requester" else {}
            )
            if line.get("protocol") in ("rest", "grpc"):
                settings[host.name].append((line["protocol"], line["knobs"], line["schema"]))
                schema = line["schema"]
                if schema:
                    content = Path(schema["path"])
                    assert content.parent == host.folder
                    assert hashlib.sha256(content.read_bytes()).hexdigest() == schema["sha256"]
    assert len(settings["asking"]) == len(settings["answering"]) == 2 * len(plan.cells)
    for parts in settings.values():
        kinds = [(protocol, knobs.get("document"), bool(schema)) for protocol, knobs, schema in parts]
        # Each cell once in the smoke test and once measured: both of rest, the sum and the typed document, the value.
        assert sorted(kinds, key=str) == sorted(
            [("rest", None, False)] * 4
            + [("grpc", None, False)] * 2
            + [("grpc", None, True)] * 2
            + [("grpc", "value", False)] * 2,
            key=str,
        )


@pytest.mark.alone
@pytest.mark.busy
def test_a_real_run_carries_it_both_ways_and_says_so(tmp_path: Path) -> None:
    written(tmp_path, "grpc http+protobuf")
    done = subprocess.run(
        [*ORCH, "run", "own.yaml", "--share-machine"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    run = RunFolder.open("latest", root=tmp_path / "results")
    summary = summarise(run)
    parts = {cell.id: cell for cell in summary.cells if "__echo-rows__" in cell.id}
    assert {cell.counts.failed for cell in parts.values()} == {0}
    done_lines = {trial.cell: trial.requesters[0].done for trial in run.manifest().trials}
    sizes = {name: (done_lines[name].body_bytes_sent or 0) / done_lines[name].requests for name in parts}
    of_value = {sizes.pop(name) for name in parts if "__value__" in name}
    of_typed = {size for name, size in sizes.items() if not name.startswith("rest")}
    assert len(of_typed) == len(of_value) == 1, "gRPC and HTTP carry the same bytes"
    assert 2 * min(of_typed) < min(of_value)
    checked = {check.cell: check.verdict for check in summary.checks if check.name == "codec size"}
    assert {checked[name] for name in parts} == {"pass"}
    assert json_documents.sentence(summary.plan) == (
        "Its own JSON: rows.json travels as a typed message over grpc, http+protobuf"
        " and as google.protobuf.Value over grpc, http+protobuf."
    )
    assert sorted(path.suffix for path in (run.path / "payloads").iterdir()) == [".json", ".pb", ".proto"]
