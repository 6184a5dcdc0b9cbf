"""A summary with other findings than its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.findings.summary import RunSummary


def with_findings(summary: RunSummary, **findings: Any) -> RunSummary:
    """Return the summary with these findings, by the question's name."""
    return replace(summary, findings={**summary.findings, **findings})
