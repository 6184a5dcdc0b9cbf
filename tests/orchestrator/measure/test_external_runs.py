"""Real runs against a responder that this test starts by hand: it is asked, and left as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.experiment.plan.planning import make_plan
from orchestrator.measure import run as measure
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise
from orchestrator.workspace import Workspace
from services.python.contract.lines import Load
from tests.support.ends import Program, responder
from tests.support.hosts import Told
from tests.support.wire import free_port, misbehaving

pytestmark = [pytest.mark.alone, pytest.mark.busy]

ORCH = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]
PATIENCE_S = 90.0
COMPLETED = (0, 5)  # on a busy machine a check of the numbers may fail; what is tested here is the way to them


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def experiment(*stacks: str, repeats: int = 3, load: str = "requests: 60") -> Path:
    path = Path("mine.yaml")
    path.write_text(
        "name: mine\nquestion: Is mine as quick?\noperations: add\nwarmup: {requests: 5, at_least: 0s}\n"
        f"load: {{{load}}}\ntimeout: 2s\nrepeats: {repeats}\nstacks: [{', '.join(stacks)}]\n"
    )
    return path


def at(port: int, more: str = "") -> str:
    return f"{{protocol: json, external: {{address: 'localhost:{port}'{more}}}}}"


LAUNCHED = "{protocol: json, responder: asgi}"


def orch(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ORCH, *arguments], text=True, capture_output=True, timeout=PATIENCE_S, check=False)


def answered(program: Program) -> int:
    program.send("stats")
    return int(program.read()["answered"])


def verdicts(run: RunFolder, stack: str) -> dict[str, str]:
    return {c.name: c.verdict for c in summarise(run).checks if c.cell and c.cell.startswith(stack)}


def test_one_started_by_hand_and_one_of_ours_are_measured_and_compared(folder):
    with responder("json", "by hand") as (given, ready):
        done = orch("run", str(experiment(at(ready["port"]), LAUNCHED)), "--json")
        assert orch("teardown").returncode == 0
        asked = answered(given)  # it lives, and was neither ended nor told anything
    assert done.returncode in COMPLETED, done.stderr
    assert f"about 195 requests go to localhost:{ready['port']} (127.0.0.1), which runs already" in done.stderr
    run = RunFolder.open("latest", root=folder / "results", even_empty=True)
    manifest = run.manifest()
    stacks = {cell["id"]: cell["stack"] for cell in manifest.plan["cells"]}
    assert all(trial.outcome == "ok" for trial in manifest.trials)
    mine = [trial for trial in manifest.trials if "external" in stacks[trial.cell]]
    assert {part.done.identity for trial in mine for part in trial.requesters} == {"by hand"}
    assert [(t.ready, t.stats_before, t.stats) for t in mine] == [(None, None, None)] * 3
    assert asked == 3 * (65 + 2) + 2  # in each trial the check's two, and the smoke test's; nothing else was asked
    floors = [cell for baseline in manifest.baselines for cell in baseline.cells]
    assert floors
    assert not any("external" in stacks[cell] for cell in floors)
    summary = summarise(run)
    assert [c.reference_label for c in summary.comparisons if c.statistic == "median"] == ["json (external)"]
    said = verdicts(run, "json-external")
    assert said["reply"] == "pass"
    for check in ("completeness", "connections", "responder's core"):
        assert said[check] == "cannot tell", check
        assert verdicts(run, "json-asgi")[check] == "pass", check
    for again in (orch("runs", "check", "--json"), orch("report", "latest")):
        assert again.returncode in COMPLETED, again.stderr
    page = next((folder / "reports").rglob("*.html")).read_text()
    assert f"external:{ready['port']}, called itself" in page
    assert "orch cannot start its own responder there" in page


def measured(stacks: Sequence[str], listener: Told, **changes) -> tuple[RunFolder, measure.Result]:
    plan = make_plan(experiment(*stacks, repeats=2))
    plan = replace(plan, cells=tuple(replace(cell, **changes) for cell in plan.cells))
    result = measure.start(plan, Workspace(), command=["orch", "run"], listener=listener)
    return RunFolder(result.folder), result


def failures(run: RunFolder) -> dict[str, set[tuple[str, str]]]:
    """Of each responder, where and how its trials failed."""
    found: dict[str, set[tuple[str, str]]] = {}
    for trial in run.manifest().trials:
        of = found.setdefault(trial.cell.split("-")[1], set())
        if trial.failure is not None:
            of.add((trial.failure.stage, trial.failure.kind))
    return found


def test_an_address_where_nobody_answers_is_a_failed_cell_and_the_others_go_on():
    told = Told()
    port = free_port()
    run, _ = measured([at(port), LAUNCHED], told)
    assert failures(run) == {"external": {("smoke", "refused")}, "asgi": set()}
    assert any("json (external)" in text and str(port) in text for text in told.warnings)


def test_an_address_where_another_protocol_answers_is_a_failed_cell_and_the_others_go_on():
    with misbehaving(b"220 mail.example ESMTP\r\n", then_close=True) as port:
        run, _ = measured([at(port), LAUNCHED], Told())
    assert failures(run) == {"external": {("smoke", "undecodable")}, "asgi": set()}


class Killing(Told):
    """Ends the given responder when a trial of it is first heard to measure."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def live(self, text: str) -> None:
        if "external" in text and ": measured " in text:
            self._program.process.send_signal(signal.SIGKILL)


def test_one_that_dies_amid_a_trial_is_a_failed_cell_and_the_others_go_on():
    with responder("json", "by hand") as (given, ready):
        load = Load(duration_s=2.5)
        run, _ = measured([at(ready["port"]), LAUNCHED], Killing(given), load=load, timeout_s=1.0)
    found = failures(run)
    assert found["asgi"] == set()
    assert {kind for _, kind in found["external"]} <= {"refused", "closed"}
    assert found["external"]


def test_one_that_does_not_answer_identity_is_refused_unless_that_is_declared():
    told = Told()
    with responder("json", "") as (_, ready):
        run, _ = measured([at(ready["port"]), LAUNCHED], told)
        assert failures(run) == {"external": {("smoke", "wrong-reply")}, "asgi": set()}
        assert any("does not say who it is" in text for text in told.warnings)
        run, _ = measured([at(ready["port"], ", identity: none")], Told())
    assert failures(run) == {"external": set()}
    assert verdicts(run, "json-external")["reply"] == "cannot tell"


def test_a_run_that_was_cut_is_resumed_and_tells_that_another_answers_at_the_address(folder):
    path = experiment(at(port := free_port()), load="duration: 1s")
    with responder("json", "the first", port=port):
        process = subprocess.Popen([*ORCH, "run", str(path)], stderr=subprocess.DEVNULL)
        try:
            wait_for_a_trial(folder)
        finally:
            process.kill()
            process.wait()
    with responder("json", "the second", port=port) as (given, _):
        done = orch("run", "--resume")
        assert answered(given)
    assert done.returncode in COMPLETED, done.stderr
    run = RunFolder.open("latest", root=folder / "results", even_empty=True)
    assert run.manifest().state == "complete"
    (told,) = [check for check in summarise(run).checks if check.name == "reply" and check.verdict == "warn"]
    assert sorted(told.evidence["identities"]) == ["the first", "the second"]


def wait_for_a_trial(folder: Path) -> None:
    """Until the run's journal has the first block."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        journals = list((folder / "results").glob("*/journal.jsonl"))
        if journals and '"block-end"' in journals[0].read_text():
            return
        time.sleep(0.05)
    pytest.fail("the run did not get that far")
