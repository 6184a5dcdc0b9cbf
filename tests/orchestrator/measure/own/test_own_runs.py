"""The shipped example for real: four kinds of calls to two services that orch starts, and one that runs already."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.measure.own.sampling import tried
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from tests.support.hosts import Told
from tests.support.wire import free_port

pytestmark = [pytest.mark.alone, pytest.mark.busy]

SHOP = Path(__file__).parents[4] / "experiments" / "own"
GO = Path(__file__).parents[4] / "services" / "go"
FEW = ("load.requests=60", "repeats=2", "warmup={requests: 20, at_least: 0s}")
RUNNING = """\
name: running
question: Are replies the same?
services: {{web: {{url: "http://localhost:{port}"}}, grpc: {{address: "localhost:{other}"}}}}
stacks:
  - {{name: rest, service: web, call: {{http: "GET /v1/orders/{{id}}", headers: {{a: "${{SHOP_TOKEN}}"}}}}}}
  - {{name: lost, service: web, call: {{http: "GET /lost?t=${{SHOP_TOKEN}}"}}}}
  - name: items
    service: web
    call: {{http: "GET /v1/orders/1", expect: {{values: {{"$.items[0].article": plate}}}}}}
data: orders.jsonl
same: {{id: id}}
"""


def measured(path: Path, console: Told, *overrides: str) -> RunFolder:
    plan = make_plan(path, (*FEW, *overrides))
    return RunFolder(measure.start(plan, Workspace(), command=["orch", "run"], listener=console).folder)


def test_the_shipped_example_is_measured_with_floors_and_counted_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    console = Told()
    run = measured(SHOP / "orders.yaml", console)
    trials = run.manifest().trials
    assert len(trials) == 8
    assert [t.failure for t in trials if t.failure is not None] == []
    assert all(t.stats is not None and t.stats.cpu_s and t.stats.memory_bytes for t in trials)
    assert {cell for baseline in run.manifest().baselines for cell in baseline.cells} == {t.cell for t in trials}
    said = {check.cell: check.verdict for check in summarise(run).checks if check.name == "reply" and check.cell}
    assert set(said.values()) == {"pass"}
    assert run.manifest().differences == ()


@pytest.mark.skipif(not (GO / "build" / "request").exists(), reason="`make native` builds the compiled requester")
def test_the_compiled_requester_measures_the_shipped_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHOP, tmp_path / "own", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path / "own")
    text = Path("orders.yaml").read_text()
    websocket, data = text.index("  - name: websocket"), text.index("data:")
    Path("orders.yaml").write_text(
        (text[:websocket] + text[data:])
        .replace("    service: web\n", "    service: web\n    client: go-net-http\n")
        .replace("    service: grpc\n", "    service: grpc\n    client: grpc-go\n")
    )
    console = Told()
    run = measured(Path("orders.yaml"), console)
    assert [stack.client for stack in run.plan().stacks] == ["go-net-http", "grpc-go", "go-net-http"]
    trials = run.manifest().trials
    assert [trial.failure for trial in trials] == [None] * 6
    said = {check.cell: check.verdict for check in summarise(run).checks if check.name == "reply" and check.cell}
    assert set(said.values()) == {"pass"}
    assert not [text for text in console.warnings if "differently" in text]


def test_services_that_run_are_asked_differences_told_and_secrets_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_TOKEN", "s3cret")
    port, console = free_port(), Told()
    Path("own.yaml").write_text(RUNNING.format(port=port, other=free_port()))
    Path("orders.jsonl").write_text('{"id": 1}\n{"id": 2}\n')
    service = subprocess.Popen([sys.executable, "shop_rest.py", "--port", str(port)], cwd=SHOP)
    try:
        replies = {}
        for _ in range(100):  # until it answers
            replies = dict(tried(make_plan(Path("own.yaml"))))
            if not getattr(replies["rest"], "failure", "refused").startswith("refused"):
                break
        run = measured(Path("own.yaml"), console)
        assert service.poll() is None
    finally:
        service.kill()
        service.wait()
    assert '"customer":"customer 1"' in getattr(replies["rest"], "reply", "")
    assert "a: ***" in getattr(replies["rest"], "request", "")
    assert "HTTP 404" in getattr(replies["lost"], "failure", "")
    failed = {(t.cell.split("-")[1], t.failure.stage) for t in run.manifest().trials if t.failure is not None}
    assert failed == {("lost", "smoke")}
    assert "not the same work: rest answers id with 2, items with 1 (row 2)" in console.warnings
    said = {c.cell.split("-")[1]: c.verdict for c in summarise(run).checks if c.name == "reply" and c.cell}
    assert (said["rest"], said["items"]) == ("cannot tell", "pass")
    texts = [path for path in run.path.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]
    assert texts == []
