"""Examines figures that others published: supported, contradicted, impossible, or undetermined from what is given."""

from __future__ import annotations

from orchestrator.analysis.audit.examine import AuditResult, examine
from orchestrator.analysis.audit.model import AuditFile

__all__ = ["AuditFile", "AuditResult", "examine"]
