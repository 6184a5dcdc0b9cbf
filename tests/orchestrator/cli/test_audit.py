"""`orch audit`: how its findings are laid out, and the document that scripts read."""

import io
import json
from pathlib import Path

import pytest

from orchestrator.cli import audit
from orchestrator.cli.console import console
from orchestrator.errors import UsageError

AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


@pytest.fixture(autouse=True)
def out(monkeypatch):
    """Standard output on a terminal of 80 columns."""
    monkeypatch.setattr(console, "as_json", False)
    monkeypatch.setattr(console, "out", io.StringIO())
    monkeypatch.setenv("COLUMNS", "80")
    return console.out


@pytest.mark.parametrize("file", sorted(AUDITS.glob("*.yaml")), ids=lambda path: path.stem)
def test_arithmetic_is_laid_out_for_a_terminal(file, out):
    audit.command(file, figures=True)
    arithmetic = [line for line in out.getvalue().splitlines() if line.startswith("     ")]
    assert arithmetic
    assert max(map(len, arithmetic)) < 80


def test_a_claim_is_named_once_above_all_that_is_said_of_it(out):
    audit.command(AUDITS / "flask-grpc-placements.yaml")
    lines = out.getvalue().splitlines()
    at = lines.index("grpc-add-cross-region: the published figures")
    assert lines[at + 1] == "  !! impossible (below the ping)"
    assert "min 0.394 ms / ping 35.594 ms = 0.0111" in lines[at + 3]
    assert lines.count("grpc-add-cross-region: the published figures") == 1
    assert lines[-1].split()[1] == "impossible,"


def test_the_document_has_what_scripts_need(out):
    audit.command(AUDITS / "grpc-rest-database.yaml", as_json=True)
    document = json.loads(out.getvalue())
    assert document["schema_version"] == 2
    assert all({"claim", "verdict", "rule", "arithmetic"} <= claim.keys() for claim in document["claims"])
    verdicts = {claim["verdict"] for claim in document["claims"]}
    assert verdicts <= {"supported", "contradicted", "impossible", "undetermined"}


def test_a_page_is_written_beside_what_is_printed(tmp_path, out):
    audit.command(AUDITS / "keep-alive.yaml", html=tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text().startswith("<!DOCTYPE html>")
    assert "undetermined" in out.getvalue()


def test_a_file_is_needed():
    with pytest.raises(UsageError, match="name a file"):
        audit.command()
