"""The page of an audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.audit import AuditFile, examine
from orchestrator.audit.model import read
from orchestrator.report.verb_pages import render_audit_page

AUDITS = sorted((Path(__file__).parents[3] / "experiments" / "audits").glob("*.yaml"))


@pytest.mark.parametrize("path", AUDITS, ids=lambda p: p.stem)
def test_every_assessment_and_every_row_is_on_the_page(path: Path) -> None:
    file = read(path)
    result = examine(file)
    page = render_audit_page(file, result)
    assert page.count('<div class="result">') == len(result.assessments)
    assert all(f'<th scope="row">{row.name}</th>' in page for row in file.results)
    assert "http://" not in page
    assert "https://" not in page


def test_what_a_file_says_is_escaped() -> None:
    file = AuditFile.model_validate({"title": "<script>alert(1)</script>", "claims": [{"text": "<img src=x>"}]})
    page = render_audit_page(file, examine(file))
    assert "<script>alert" not in page
    assert "<img" not in page
