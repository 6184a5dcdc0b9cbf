"""Variables of a file that calls name as `${NAME}`: as if they were in the environment."""

from __future__ import annotations

import os
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from orchestrator.cli.main import set_variables
from tests.support.called import Called, orch
from tests.support.own_services import Shop
from tests.support.own_trials import serving

OWN = """\
name: secret
question: Is a secret kept?
services: {{shop: {{url: "http://127.0.0.1:{port}"}}}}
stacks: {{service: shop, call: {{http: GET /what, headers: {{x-id: "${{ORCH_TEST_TOKEN}}"}}}}}}
"""


def called(folder: Path, secrets: str | bytes, *words: str, port: int = 1, **environment: str) -> Called:
    (folder / "own.yaml").write_text(OWN.format(port=port))
    (folder / "of.env").write_bytes(secrets.encode() if isinstance(secrets, str) else secrets)
    return orch("--secrets", "of.env", "plan", *words, "own.yaml", cwd=folder, **environment)


@pytest.mark.busy
def test_a_variable_of_a_file_is_sent_and_hidden(tmp_path: Path) -> None:
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Shop)) as port:
        done = called(tmp_path, "\ufeff# mine\n\nexport ORCH_TEST_TOKEN='s3 =cret'\n", "--try", port=port)
    assert done.returncode == 0, done.stderr
    assert '"x": "***"' in done.stdout
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.name != "of.env"]
    assert "s3 =cret" not in "".join([done.stdout, done.stderr, *written])
    assert "ORCH_TEST_TOKEN" not in os.environ


def test_the_environment_comes_before_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORCH_TEST_TOKEN", "here")
    (tmp_path / "of.env").write_text("ORCH_TEST_TOKEN=there\n")
    set_variables(tmp_path / "of.env")
    assert os.environ["ORCH_TEST_TOKEN"] == "here"


@pytest.mark.parametrize(
    ("secrets", "reason"),
    [
        ("A=1\nORCH_TEST_TOKEN s3cret\n", "of.env:2 is no variable"),
        ("A=s3cret\0\n", "of.env:1 is no variable"),
        (b"A=\xff", "of.env cannot be read: 'utf-8' codec"),
        ("A=s3cret", "the environment has no ORCH_TEST_TOKEN"),
    ],
)
def test_what_a_file_lacks_is_told_without_a_value(tmp_path: Path, secrets: str | bytes, reason: str) -> None:
    done = called(tmp_path, secrets, "--check")
    assert (done.returncode, reason in done.stderr, "s3cret" in done.stderr) == (2, True, False), done.stderr
