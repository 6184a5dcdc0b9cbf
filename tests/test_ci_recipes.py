"""The recipes of docs/how-to/services-and-ci.md do what they say, against two small services of this test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.compared import xml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/how-to/services-and-ci.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([^`]+)`:\n\n```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
EXPERIMENT, GITHUB, GITLAB = "ci/orch.yaml", ".github/workflows/orch.yml", ".gitlab-ci.yml"
PATIENCE_S = 240.0
SETS_UP = "make -C orch setup"  # what a test cannot do without a network

# A service of somebody's own, which speaks what docs/how-to/services-and-ci.md asks of it, as slowly as it is told.
SERVICE = """#!{python}
import json, socketserver, sys, time

class One(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True
    def handle(self):
        while head := self.rfile.readline():
            length = 0
            while (line := self.rfile.readline()) not in (b"\\r\\n", b""):
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            asked = json.loads(self.rfile.read(length) or b"{{}}")
            time.sleep({delay_s})
            body = json.dumps({{"sum": asked["a"] + asked["b"]}}).encode()
            head = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n"
            self.wfile.write(head % len(body) + body)

class Service(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

with Service(("127.0.0.1", int(sys.argv[1])), One) as service:
    service.serve_forever()
"""


def read(name: str) -> Any:
    return yaml.safe_load(FILES[name])


def github_steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = read(GITHUB)["jobs"]["compare"]["steps"]
    return steps


def test_the_page_has_the_files_that_it_speaks_of() -> None:
    assert set(FILES) == {EXPERIMENT, GITHUB, GITLAB}


def test_the_workflow_may_read_and_nothing_else_and_ends_by_itself() -> None:
    workflow = read(GITHUB)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in FILES[GITHUB]
    assert 0 < workflow["jobs"]["compare"]["timeout-minutes"] <= 60
    checkouts = [step for step in github_steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert {step["with"]["path"] for step in checkouts} == {"head/base", "head", "orch"}
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_actions_are_pinned_as_in_the_workflow_of_this_project() -> None:
    ours = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)", FILES[GITHUB])
    assert uses
    assert [use for use in uses if use not in ours] == []


def test_what_is_compared_is_measured_in_one_run_base_first() -> None:
    experiment = read(EXPERIMENT)
    assert [stack["service"] for stack in experiment["stacks"]] == ["base", "head"]
    commands = "\n".join((*(step.get("run", "") for step in github_steps()), *read(GITLAB)["orch"]["script"]))
    assert commands.count("orch run ") == 2  # one in each recipe


def test_both_recipes_leave_their_files_when_the_gate_fails() -> None:
    assert [step.get("if") for step in github_steps()[-2:]] == ["always()", "always()"]
    artifacts = read(GITLAB)["orch"]["artifacts"]
    assert artifacts["when"] == "always"
    assert artifacts["reports"] == {"junit": "junit.xml"}


def write_service(place: Path, delay_s: float) -> None:
    place.mkdir(parents=True, exist_ok=True)
    service = place / "serve"
    service.write_text(SERVICE.format(python=sys.executable, delay_s=delay_s))
    service.chmod(0o755)


def write_experiment(place: Path) -> None:
    """The page's experiment with few requests."""
    few = read(EXPERIMENT) | {
        "load": {"concurrency": 1, "requests": 30},
        "warmup": {"requests": 5, "at_least": "0s"},
        "repeats": 5,
    }
    path = place / EXPERIMENT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(few))


def write_orch(place: Path) -> None:
    """What setting orch up leaves, for the orch that is tested."""
    program = place / "orch/.venv/bin/orch"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from orchestrator.cli.main import main; main()" "$@"\n')
    program.chmod(0o755)


class Runner:
    """Runs commands one after the other, as a job does; what they leave running ends with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.summary = folder / "step-summary.md"
        # Everything that the job starts is of this process's group.
        self.job = subprocess.Popen(["sleep", str(2 * PATIENCE_S)], process_group=0)

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        output = self.folder / "output"
        with output.open("w") as said:  # a file: services that go on would hold a pipe open
            done = subprocess.run(
                ["bash", "--norc", "-e", "-c", command],
                cwd=self.folder,
                env={**os.environ, "GITHUB_STEP_SUMMARY": str(self.summary), "PYTHONPATH": str(ROOT), **environment},
                process_group=self.job.pid,
                stdout=said,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                check=False,
                timeout=PATIENCE_S,
            )
        return subprocess.CompletedProcess(command, done.returncode, output.read_text(errors="replace"))

    def end(self) -> None:
        os.killpg(self.job.pid, signal.SIGKILL)
        self.job.wait()


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    job = Runner(tmp_path)
    write_orch(tmp_path)
    yield job
    job.end()


def cases(folder: Path) -> list[set[str]]:
    return [{child.tag for child in case} for case in xml((folder / "junit.xml").read_text()).iter("testcase")]


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("base_s", "head_s", "code"), [(0.004, 0.012, 1), (0.012, 0.004, 0)])
def test_the_steps_for_github_pass_and_fail_as_the_page_says(runner: Runner, base_s, head_s, code) -> None:
    write_service(runner.folder / "head" / "base", base_s)
    write_service(runner.folder / "head", head_s)
    write_experiment(runner.folder / "head")
    failed: list[tuple[str, int, str]] = []
    for step in (step for step in github_steps() if "run" in step and step["run"] != SETS_UP):
        if failed and step.get("if") != "always()":
            continue
        done = runner.run(step["run"])
        if done.returncode:
            failed.append((step["name"], done.returncode, done.stdout))
    assert [found[:2] for found in failed] == ([("compare", code)] if code else []), failed
    assert cases(runner.folder) == [{"failure"} if code else {"system-out"}]
    assert runner.summary.read_text().startswith("**Slower:** " if code else "**Not slower:** ")
    assert list(runner.folder.glob("reports/*.html"))


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.timeout(600)
def test_the_script_for_gitlab_fails_where_head_is_slower(runner: Runner) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]

    def commit(name: str, delay_s: float) -> str:
        write_service(runner.folder, delay_s)
        subprocess.run([*git, "add", "serve", "ci"], cwd=runner.folder, check=True)
        subprocess.run([*git, "commit", "-qm", name], cwd=runner.folder, check=True)
        shown = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=runner.folder, check=True, capture_output=True, text=True
        )
        return shown.stdout.strip()

    write_experiment(runner.folder)
    subprocess.run([*git, "init", "-q"], cwd=runner.folder, check=True)
    base = commit("base", 0.004)
    commit("head", 0.012)
    script = "\n".join(read(GITLAB)["orch"]["script"])  # a job's script is one of its shell
    done = runner.run(script, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == 1, done.stdout
    assert cases(runner.folder) == [{"failure"}]
    assert (runner.folder / "summary.md").read_text().startswith("**Slower:** ")


def test_the_sets_up_step_is_a_target_of_the_makefile() -> None:
    commands = [step.get("run") for step in github_steps()]
    assert SETS_UP in commands
    assert SETS_UP in read(GITLAB)["orch"]["before_script"]
    assert re.search(r"^setup:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
