"""Examines figures that others published: supported, contradicted, impossible, or undetermined from what is given."""

from __future__ import annotations

from orchestrator.audit.examine import AuditResult, examine
from orchestrator.audit.model import AuditFile

__all__ = ["AuditFile", "AuditResult", "examine"]
