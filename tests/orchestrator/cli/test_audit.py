"""`orch audit`: how its findings are laid out, and the document that scripts read."""

import io
import json
from pathlib import Path

import pytest
import typer

from orchestrator.cli.console import console
from orchestrator.cli.results import audit
from orchestrator.errors import UsageError

AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


@pytest.fixture(autouse=True)
def out(monkeypatch):
    """Standard output on a terminal of 80 columns."""
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setenv("COLUMNS", "80")
    return console.out


def test_the_document_has_what_scripts_need(out):
    audit.audit(AUDITS / "grpc-rest-database.yaml", as_json=True)
    document = json.loads(out.getvalue())
    assert document["schema_version"] == 2
    assert all({"claim", "verdict", "rule", "arithmetic"} <= claim.keys() for claim in document["claims"])
    verdicts = {claim["verdict"] for claim in document["claims"]}
    assert verdicts <= {"supported", "contradicted", "impossible", "undetermined"}


def test_a_page_is_written_beside_what_is_printed(tmp_path, out):
    audit.audit(AUDITS / "keep-alive.yaml", html=tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text().startswith("<!DOCTYPE html>")
    assert "undetermined" in out.getvalue()


def test_the_exit_code_tells_whether_something_is_contradicted():
    audit.audit(AUDITS / "keep-alive.yaml", exit_code=True)
    audit.audit(AUDITS / "six-protocols-article.yaml")
    with pytest.raises(typer.Exit) as exit_:
        audit.audit(AUDITS / "six-protocols-article.yaml", exit_code=True)
    assert exit_.value.exit_code == 1


def test_a_file_is_needed():
    with pytest.raises(UsageError, match="name a file"):
        audit.audit()


HOSTILE = "\\e[2J\\e]0;owned\\a\\u202egnp\\x9b31m"


def test_control_sequences_in_a_file_are_refused_where_they_stand(tmp_path):
    file = tmp_path / "hostile.yaml"
    row = f'{{name: "{HOSTILE}", mean: 5, max: 1, missing: "{HOSTILE}"}}'
    file.write_text(f'title: "{HOSTILE}"\nresults: [{row}]\nclaims: [{{text: "{HOSTILE}"}}]\n')
    with pytest.raises(UsageError, match=r"(?s)1:8: .* U\+001B.*2:18: .*2:81: .*3:17: ") as error:
        audit.audit(file, figures=True)
    assert [c for c in error.value.message if not c.isprintable() and c != "\n"] == []
