"""Runs that are started and stopped from the page."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from orchestrator.errors import UsageError
from orchestrator.experiment import make_plan
from orchestrator.experiment.plan import store
from orchestrator.hosts.busy import MachineNow
from orchestrator.hosts.processes import known
from orchestrator.results.folder import RunFolder
from orchestrator.web import experiments, jobs, posted, progress
from orchestrator.web.jobs import Jobs
from orchestrator.web.progress import Reader
from orchestrator.workspace import Workspace
from tests.support.growing import TOKEN, Growing, app_of, until

EXPERIMENT = """\
name: tiny
question: Does it start?
provider: local
stacks: [tcp]
operations: [{echo: {bytes: 64 B}}]
load: {requests: 20}
warmup: {requests: 5, at_least: 0s}
repeats: 2
seed: 1
"""
REFUSING = (sys.executable, "-c", "import sys; print('run x is measuring on this machine'); sys.exit(3)")
WAITING = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(progress, "LEAST_BETWEEN_LOOKS_S", 0.0)
    quiet = MachineNow(cpus=2, used=0.0, steal=0.0, waiting=0.0, load=0.0)
    monkeypatch.setattr(experiments, "look", lambda: quiet)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "tiny.yaml").write_text(EXPERIMENT)
    return Workspace(tmp_path)


@pytest.fixture
def client(workspace: Workspace) -> TestClient:
    app = app_of(workspace)
    found = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    found.headers["authorization"] = f"Bearer {TOKEN}"
    found.headers["x-orch-form"] = app.state.context.form_token
    return found


@pytest.fixture
def jobs_of(workspace: Workspace, monkeypatch):
    """Jobs whose `orch` is another program, ended with the test."""
    made = Jobs(workspace)

    def of(program: tuple[str, ...]) -> Jobs:
        monkeypatch.setattr(jobs, "ORCH", program)
        return made

    yield of
    for job in made.every():
        job.process.kill()
        until(lambda job=job: job.exit_code is not None, "it ends")


def digest(workspace: Workspace, name: str = "tiny.yaml") -> str:
    return experiments.plan_of(workspace, experiment=name).digest()


def test_the_page_lists_experiments_and_shows_what_one_would_do(client):
    text = client.get("/start").text
    assert '<a href="/start?experiment=tiny.yaml">tiny.yaml</a>' in text
    text = client.get("/start", params={"experiment": "tiny.yaml"}).text
    for said in (
        "Does it start?",
        "2 trials of 1 cell",
        "this machine",
        "nothing",
        "orch run ",
        "<button>Start this run",
    ):
        assert said in text
    assert " style=" not in text


def test_a_saved_plan_is_listed_with_its_overrides_and_shown(client, workspace):
    plan = make_plan(workspace.root / "experiments" / "tiny.yaml", ["repeats=3"])
    store.save(plan, workspace.plans)
    assert "repeats=3" in client.get("/start").text
    text = client.get("/start", params={"plan": plan.id}).text
    assert "3 trials of 1 cell" in text
    assert plan.digest() in text


def test_a_saved_plan_whose_experiment_has_changed_is_refused(client, workspace):
    plan = make_plan(workspace.root / "experiments" / "tiny.yaml")
    store.save(plan, workspace.plans)
    (workspace.root / "experiments" / "tiny.yaml").write_text(EXPERIMENT.replace("20", "30"))
    answer = client.get("/start", params={"plan": plan.id})
    assert answer.status_code == 400
    assert "is stale" in answer.text


def test_a_plan_of_a_file_elsewhere_is_not_offered(client, workspace, tmp_path):
    (tmp_path / "elsewhere.yaml").write_text(EXPERIMENT)
    plan = make_plan(tmp_path / "elsewhere.yaml")
    store.save(plan, workspace.plans)
    assert plan.id not in client.get("/start").text
    answer = client.get("/start", params={"plan": plan.id})
    assert answer.status_code == 400
    assert "which is not in experiments/ here" in answer.text


@pytest.mark.parametrize(
    "name", ["../tiny.yaml", "/etc/passwd", "..", "link.yaml", "nothing.yaml", "\0", "a" * 500, "<script>.yaml"]
)
def test_a_name_that_is_no_experiment_of_the_workspace_is_refused(client, workspace, tmp_path, name):
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    (workspace.root / "experiments" / "link.yaml").symlink_to(tmp_path / "tiny.yaml")
    answer = client.get("/start", params={"experiment": name})
    assert answer.status_code == 400
    assert "there is no experiment" in answer.text
    assert "<script>" not in answer.text.replace('<script src="', "")
    refused = client.post("/api/jobs", json={"experiment": name, "digest": "x"})
    assert refused.status_code == 400


def test_a_wrong_experiment_is_told_as_in_the_terminal(client, workspace):
    (workspace.root / "experiments" / "wrong.yaml").write_text("name: wrong\nstacks: [nothing]\n")
    answer = client.get("/start", params={"experiment": "wrong.yaml"})
    assert answer.status_code == 400
    assert "question" in answer.text


def test_only_the_plan_that_was_shown_is_started(client, workspace, monkeypatch):
    monkeypatch.setattr(jobs, "ORCH", WAITING)
    shown = digest(workspace)
    (workspace.root / "experiments" / "tiny.yaml").write_text(EXPERIMENT.replace("20", "30"))
    for given in (shown, "", "x"):
        answer = client.post("/api/jobs", json={"experiment": "tiny.yaml", "digest": given})
        assert answer.status_code == 409
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_what_costs_money_or_makes_hosts_elsewhere_is_never_started(client, workspace, monkeypatch):
    monkeypatch.setenv("ORCH_CONTROLLER_CIDR", "198.51.100.7/32")
    monkeypatch.setattr(jobs, "ORCH", WAITING)
    text = EXPERIMENT.replace("provider: local", "provider: gcp\nmachine: f1-micro\nlimits: {cost: 5 USD}")
    (workspace.root / "experiments" / "cloud.yaml").write_text(text)
    shown = client.get("/start", params={"experiment": "cloud.yaml"}).text
    assert "It costs money." in shown
    assert "Start this run" not in shown
    answer = client.post("/api/jobs", json={"experiment": "cloud.yaml", "digest": digest(workspace, "cloud.yaml")})
    assert answer.status_code == 403
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_what_orch_says_instead_of_running_is_shown(client, workspace, monkeypatch):
    monkeypatch.setattr(jobs, "ORCH", REFUSING)
    answer = client.post("/start", data={"experiment": "tiny.yaml", "digest": digest(workspace)})
    assert answer.status_code == 303
    place = answer.headers["location"]

    def said() -> bool:
        return "ended with exit code 3" in client.get(place).text

    until(said, "it is told that it ended")
    assert "run x is measuring on this machine" in client.get(place).text
    assert client.get("/api/jobs").json()["jobs"][0]["exit_code"] == 3


def test_one_run_at_a_time_is_started(jobs_of, workspace):
    made, plan = jobs_of(WAITING), experiments.plan_of(workspace, experiment="tiny.yaml")
    first = made.start(plan)
    with pytest.raises(UsageError, match="still in progress; one at a time"):
        made.start(plan)
    assert os.getsid(first.process.pid) == first.process.pid != os.getsid(0)


def test_a_run_that_was_started_outlives_who_started_it(jobs_of, workspace):
    made = jobs_of(WAITING)
    job = made.start(experiments.plan_of(workspace, experiment="tiny.yaml"))
    made.close()
    assert known(job.process.pid) == job.identity
    job.process.kill()
    until(lambda: job.exit_code is not None, "it ends")


def test_the_run_of_a_job_is_known_by_its_process(jobs_of, workspace):
    made, plan = jobs_of(WAITING), experiments.plan_of(workspace, experiment="tiny.yaml")
    other = Growing(workspace.root).measuring()
    job = made.start(plan)
    own = Growing(workspace.root, plan)
    own.session(job.process.pid)
    found = made.job(job.id)
    assert (found.run, found.trouble) == (own.id, "")
    assert found.run != other.id


def test_a_run_of_another_plan_than_was_shown_is_stopped(jobs_of, workspace):
    made = jobs_of(WAITING)
    job = made.start(experiments.plan_of(workspace, experiment="tiny.yaml"))
    Growing(workspace.root).session(job.process.pid)
    assert "The experiment changed" in made.job(job.id).trouble
    until(lambda: job.exit_code is not None, "it was told to stop")


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere a priority is the whole process's, and the page keeps its own"
)
def test_a_run_has_the_priority_of_before_the_page_lowered_its_own(jobs_of, workspace):
    before = os.nice(0)
    made = jobs_of((sys.executable, "-c", "import os; print(os.nice(0))"))
    plan = experiments.plan_of(workspace, experiment="tiny.yaml")
    started = []

    def of_the_page() -> None:
        os.nice(3)  # this thread's alone
        started.append(made.start(plan))

    page = threading.Thread(target=of_the_page)
    page.start()
    page.join()
    until(lambda: started[0].exit_code is not None, "it ends")
    assert int(jobs.last_words(started[0])) == before


def test_an_experiment_that_changes_while_it_is_started_is_refused_before_anything_runs(jobs_of, workspace):
    made, plan = jobs_of(jobs.ORCH), experiments.plan_of(workspace, experiment="tiny.yaml")
    file = workspace.root / "experiments" / "tiny.yaml"
    file.write_text(file.read_text().replace("seed: 1", "seed: 2"))
    job = made.start(plan)
    until(lambda: job.exit_code is not None, "it ends")
    assert job.exit_code == UsageError.exit_code
    assert "nothing was started" in jobs.last_words(job)
    assert not workspace.results.exists()


def test_what_a_job_says_is_kept_up_to_a_size_and_harmless(jobs_of, workspace):
    loud = "print('x' * 100_000); print('\\u202eevil\\x1b[31m<b>')"
    made = jobs_of((sys.executable, "-c", loud))
    job = made.start(experiments.plan_of(workspace, experiment="tiny.yaml"))
    until(lambda: job.exit_code is not None, "it ends")
    words = jobs.last_words(job)
    assert "evil" in words
    assert "\u202e" not in words
    assert "\x1b" not in words
    assert len(words) <= 16 << 10
    assert job.log.stat().st_mode & 0o077 == 0


class Ours:
    """A process that stands for a run's orch, and writes down each signal."""

    def __init__(self, folder: Path) -> None:
        self.heard = folder / "heard"
        code = (
            "import signal, sys, time\n"
            f"signal.signal(signal.SIGINT, lambda *_: open({str(self.heard)!r}, 'a').write('SIGINT\\n'))\n"
            "print('ready', flush=True)\n"
            "while True: time.sleep(0.05)\n"
        )
        self.process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def signals(self) -> list[str]:
        return self.heard.read_text().split() if self.heard.exists() else []


@pytest.fixture
def ours(tmp_path: Path):
    made = Ours(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate()


def test_a_run_is_told_to_stop_once_however_often_that_is_asked(client, workspace, ours):
    run = Growing(workspace.root)
    run.session(ours.process.pid)
    first = client.post(f"/api/jobs/{run.id}/stop")
    assert first.status_code == 202
    assert first.json()["message"].startswith("The run was told to stop;")
    until(ours.signals, "it was told")
    again = client.post(f"/live/{run.id}/stop")
    assert (again.status_code, again.headers["location"]) == (303, f"/live/{run.id}")
    fresh, reader = Jobs(workspace), Reader(RunFolder(run.folder.path))
    assert "already" in fresh.stop(run.id, reader.look(), reader.process())  # also after a new start of the page
    assert ours.signals() == ["SIGINT"]
    assert ours.process.poll() is None


def test_a_run_that_ends_already_is_not_told_again(client, workspace, ours):
    run = Growing(workspace.root)
    run.session(ours.process.pid)
    run.end("interrupted")
    answer = client.post(f"/api/jobs/{run.id}/stop")
    assert answer.json()["message"].startswith("The run ends by itself")
    assert ours.signals() == []


def test_a_run_that_nobody_works_on_cannot_be_stopped(client, workspace):
    run = Growing(workspace.root)
    run.end()
    run.let_go()
    answer = client.post(f"/api/jobs/{run.id}/stop")
    assert answer.status_code == 409


def test_a_process_that_only_has_the_number_gets_no_signal(client, workspace, ours):
    run = Growing(workspace.root)
    run.folder.append({"event": "session", "pid": ours.process.pid, "started": "12@then"})
    answer = client.post(f"/api/jobs/{run.id}/stop")
    assert answer.status_code == 409
    assert ours.signals() == []


def test_a_folder_that_was_not_made_here_stops_no_process(client, workspace, ours):
    run = Growing(workspace.root)
    run.session(ours.process.pid)
    copy = workspace.results / f"{run.id}-copy"
    copy.mkdir()
    for name in ("journal.jsonl", "plan.json"):
        (copy / name).write_bytes((run.folder.path / name).read_bytes())
    answer = client.post(f"/api/jobs/{copy.name}/stop")
    assert answer.status_code == 409
    assert ours.signals() == []


@pytest.mark.parametrize("name", ["..", "nothing", "%2e%2e%2fx"])
def test_what_is_no_run_cannot_be_stopped(client, name):
    assert client.post(f"/api/jobs/{name}/stop").status_code in (404, 405)


def test_without_our_form_nothing_is_started_or_stopped(workspace, ours):
    app = app_of(workspace)
    client = TestClient(app, base_url="http://127.0.0.1")
    run = Growing(workspace.root)
    run.session(ours.process.pid)
    for headers in ({}, {"x-orch-form": "wrong"}, {"origin": "http://evil.example"}):
        for path in (f"/live/{run.id}/stop", f"/api/jobs/{run.id}/stop", "/start", "/api/jobs"):
            answer = client.post(path, data={"experiment": "tiny.yaml", "form_token": "wrong"}, headers=headers)
            assert answer.status_code in (401, 403)
    assert ours.signals() == []
    assert client.get("/api/jobs").json() == {"jobs": []}


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"x" * (posted.MOST_BYTES + 1), "application/x-www-form-urlencoded", 413),
        (b"a=1&a=2", "application/x-www-form-urlencoded", 400),
        (b"a=1&b", "application/x-www-form-urlencoded", 400),
        (b"a=%ff", "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"f%d=1" % number for number in range(40)), "application/x-www-form-urlencoded", 400),
        (b"{", "application/json", 400),
        (b'{"a": 1}', "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"a": "1", "a": "2"}', "application/json", 400),
        (b"a=1", "text/plain", 415),
        (b"--x--", "multipart/form-data; boundary=x", 415),
    ],
)
def test_a_body_that_is_no_form_is_refused(client, content, kind, status):
    answer = client.post("/api/jobs", content=content, headers={"content-type": kind})
    assert answer.status_code == status


def test_old_logs_are_forgotten(jobs_of, workspace, monkeypatch):
    monkeypatch.setattr(jobs, "_MOST_LOGS", 2)
    made, plan = jobs_of(REFUSING), experiments.plan_of(workspace, experiment="tiny.yaml")
    for _ in range(5):
        job = made.start(plan)
        until(lambda job=job: job.exit_code is not None, "it ends")
    assert len(list(workspace.jobs.glob("*.log"))) <= 3
