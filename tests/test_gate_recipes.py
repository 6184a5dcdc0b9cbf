"""The action, workflows and GitLab job of docs/how-to/gate.md do what they say, step by step, without a hosted runner."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION, GATE, COMMENT = "action.yml", ".github/workflows/gate.yml", ".github/workflows/gate-comment.yml"
GITLAB = ".ci/gitlab-gate.yml"
OURS = ROOT / "experiments" / "own"
ENVIRONMENT = {"EXPERIMENT": "gate.yaml", "BASE": "HEAD^1", "LIMIT": "5%", "BUDGET": "1m", "UNDECIDED": "pass"}
MARKER = "<!-- orch gate own-orders -->"


def read(name: str) -> dict[Any, Any]:
    *_, document = yaml.safe_load_all((ROOT / name).read_text(encoding="utf-8"))
    return document


def steps(name: str) -> list[dict[str, Any]]:
    document = read(name)
    return document["runs"]["steps"] if name == ACTION else next(iter(document["jobs"].values()))["steps"]


def script(name: str, step: str) -> str:
    return next(each["run"] for each in steps(name) if each.get("name") == step)


def scripts() -> list[tuple[str, str]]:
    job = read(GITLAB)["orch gate"]
    named = [(step["name"], step["run"]) for name in (ACTION, COMMENT) for step in steps(name) if "run" in step]
    return [*named, ("gitlab", "\n".join((*job["before_script"], *job["script"])))]


def test_code_of_a_pull_request_never_runs_with_a_token_that_may_write() -> None:
    assert read(GATE)["permissions"] == {"contents": "read"}
    assert read(GATE)[True] == "pull_request"  # `on`, in YAML 1.1
    assert read(COMMENT)["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert all("uses" not in step for step in steps(COMMENT))
    for name in (ACTION, GATE, COMMENT, GITLAB):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "secrets." not in text
        assert "pull_request_target" not in text
    assert read(COMMENT)[True]["workflow_run"]["workflows"] == [read(GATE)["name"]]


def test_no_input_is_part_of_a_script() -> None:
    assert [name for name, text in scripts() if "${{" in text or "$[[" in text] == []


def test_what_the_action_needs_is_given() -> None:
    (ours,) = [step for step in steps(GATE) if step.get("uses") == "./"]
    inputs = read(ACTION)["inputs"]
    assert set(ours["with"]) <= set(inputs)
    assert (ROOT / ours["with"]["experiment"]).is_file()
    assert [name for name, each in inputs.items() if each.get("required")] == ["experiment"]
    checkout = next(step for step in steps(GATE) if "checkout" in step["uses"])
    assert checkout["with"]["fetch-depth"] == 2, "HEAD^1 is there"


def test_the_gitlab_job_names_its_inputs() -> None:
    text = (ROOT / GITLAB).read_text(encoding="utf-8")
    head = next(yaml.safe_load_all(text))
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text)) == set(head["spec"]["inputs"])
    job = read(GITLAB)["orch gate"]
    assert job["artifacts"]["when"] == "always"
    assert job["allow_failure"] == {"exit_codes": 8}


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not here")
@pytest.mark.parametrize(("name", "text"), scripts(), ids=lambda each: each.split("\n")[0][:20])
def test_scripts_are_clean(name: str, text: str) -> None:
    done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.stdout == "", name


def bash(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=folder,
        env={
            **os.environ,
            "PATH": path,
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


FAKE_ORCH = """import sys, pathlib, json
pathlib.Path("arguments.json").write_text(json.dumps(sys.argv[1:]))
pathlib.Path("reports").mkdir()
pathlib.Path("reports/a.html").touch()
if {code} in (0, 1, 8): pathlib.Path(sys.argv[-1]).write_text("<!-- orch gate own-orders -->")
sys.exit({code})
"""


@pytest.mark.parametrize("code", [0, 1, 3, 8])
def test_the_gate_ends_as_orch_does_and_leaves_what_it_wrote(tmp_path: Path, code: int) -> None:
    program(tmp_path / "action" / ".venv" / "bin" / "orch", FAKE_ORCH.format(code=code))
    done = bash(
        script(ACTION, "gate"), tmp_path, ORCH=str(tmp_path / "action"), **ENVIRONMENT | {"EXPERIMENT": "a $(b).yaml"}
    )
    assert done.returncode == code
    words = json.loads((tmp_path / "arguments.json").read_text())
    assert words[:4] == ["gate", "a $(b).yaml", "--base", "HEAD^1"]
    assert (tmp_path / "orch-gate-a $(b)" / "reports" / "a.html").exists()
    assert (tmp_path / "outputs").read_text() == "folder=orch-gate-a $(b)\n"
    assert (tmp_path / "summary.md").exists() == (code != 3)


# Answers as GitHub's API does, with the real jq, and keeps what is written.
FAKE_GH = """import json, os, subprocess, sys
words = sys.argv[1:]
path = next(word for word in words if word.startswith("repos/"))
answers = json.loads(os.environ["ANSWERS"])
if "--jq" in words:
    jq = ["jq", "-r", words[words.index("--jq") + 1]]
    sys.exit(subprocess.run(jq, input=json.dumps(answers[path]), text=True).returncode)
body = next(word for word in words if word.startswith("body=@")).removeprefix("body=@")
with open("written.jsonl", "a") as file:
    file.write(json.dumps([words[words.index("--method") + 1], path, open(body).read()]) + "\\n")
"""
PULLS = [{"number": 6, "head": {"sha": "old"}}, {"number": 7, "head": {"sha": "abc"}}]


def comment(folder: Path, texts: Sequence[str], comments: list[Mapping[str, Any]], commit: str = "abc") -> Any:
    """Run the step with these texts of gates, and return its exit code and what it wrote."""
    program(folder / "bin" / "gh", FAKE_GH)
    for number, text in enumerate(texts):
        (folder / "found" / f"orch-gate-{number}").mkdir(parents=True)
        (folder / "found" / f"orch-gate-{number}" / "comment.md").write_text(text)
    answers = json.dumps({"repos/we/shop/pulls": PULLS, "repos/we/shop/issues/7/comments": comments})
    done = bash(
        script(COMMENT, "comment"), folder, ANSWERS=answers, GH_REPO="we/shop", COMMIT=commit, BRANCH="they:branch"
    )
    written = folder / "written.jsonl"
    return done.returncode, [json.loads(line) for line in written.read_text().splitlines()] if written.exists() else []


def by(login: str, text: str, number: int = 41) -> Mapping[str, Any]:
    return {"id": number, "user": {"login": login}, "body": text}


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not here")
@pytest.mark.parametrize(
    ("comments", "method", "path"),
    [
        ([], "POST", "issues/7/comments"),
        ([by("github-actions[bot]", f"{MARKER}\nslower")], "PATCH", "issues/comments/41"),
        ([by("somebody", f"{MARKER}\nslower")], "POST", "issues/7/comments"),
        ([by("github-actions[bot]", "<!-- orch gate other -->")], "POST", "issues/7/comments"),
        ([by("github-actions[bot]", MARKER, 8), by("github-actions[bot]", MARKER, 9)], "PATCH", "issues/comments/8"),
    ],
)
def test_a_comment_is_written_once_and_replaced_then(tmp_path: Path, comments, method, path) -> None:
    text = f"{MARKER}\nnot slower"
    assert comment(tmp_path, [text], comments) == (0, [[method, f"repos/we/shop/{path}", text]])


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not here")
def test_each_experiment_has_a_comment_of_its_own(tmp_path: Path) -> None:
    texts = [f"{MARKER}\nnot slower", "<!-- orch gate own-stock -->\nslower"]
    comments = [by("github-actions[bot]", texts[1])]
    assert comment(tmp_path, texts, comments) == (
        0,
        [
            ["POST", "repos/we/shop/issues/7/comments", texts[0]],
            ["PATCH", "repos/we/shop/issues/comments/41", texts[1]],
        ],
    )


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not here")
@pytest.mark.parametrize(
    ("texts", "commit", "code"), [([], "abc", 0), ([f"{MARKER}\nx"], "of a newer push", 0), (["no marker"], "abc", 1)]
)
def test_without_a_result_of_this_commit_nothing_is_written(tmp_path: Path, texts, commit, code) -> None:
    assert comment(tmp_path, texts, [], commit) == (code, [])


REAL_ORCH = "from orchestrator.cli.main import main\nmain()\n"


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.busy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("sleep", "budget", "code"), [("", "1m", 0), ("import time; time.sleep(0.01); ", "5m", 1)])
def test_the_example_service_is_judged(tmp_path: Path, sleep: str, budget: str, code: int) -> None:
    """With --undecided pass an equal one passes; one that is 10 ms slower fails, with a comment and JUnit."""
    shutil.copytree(OURS, tmp_path, dirs_exist_ok=True)
    experiment = yaml.safe_load((OURS / "orders.yaml").read_text())
    experiment |= {"stacks": experiment["stacks"][:1], "load": {"requests": 100}}
    (tmp_path / "gate.yaml").write_text(yaml.safe_dump(experiment))
    (tmp_path / "bin").mkdir()
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "base"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    service = tmp_path / "shop_rest.py"
    text = service.read_text()
    line = "    if (order := order_of(SHOP, number)) is None:\n"
    assert line in text
    service.write_text(text.replace(line, f"    {sleep}pass\n{line}"))
    subprocess.run([*git, "commit", "-qam", "head"], cwd=tmp_path, check=True)
    program(tmp_path / "action" / ".venv" / "bin" / "orch", REAL_ORCH)
    done = bash(
        script(ACTION, "gate"),
        tmp_path,
        ORCH=str(tmp_path / "action"),
        PYTHONPATH=str(ROOT),
        **ENVIRONMENT | {"BUDGET": budget},
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert (tmp_path / "orch-gate-gate" / "comment.md").read_text().startswith(MARKER)
    assert ("<failure" in (tmp_path / "orch-gate-gate" / "junit.xml").read_text()) == bool(code)
