"""The page of `orch audit --html`: the assessments of an audit in the report's own style, readable without JavaScript."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.report.page import render_page, write_page

if TYPE_CHECKING:
    from orchestrator.audit import AuditFile, AuditResult


def render_audit_page(file: AuditFile, result: AuditResult) -> str:
    """The page as text; the same assessments give the same bytes."""
    return render_page("audit.html", charts=False, title=f"Audit: {result.title}", file=file, result=result)


def write_audit_page(file: AuditFile, result: AuditResult, path: Path) -> Path:
    """Write the page, whole or not at all; UsageError when the place cannot be written to."""
    return write_page(render_audit_page(file, result), path)
