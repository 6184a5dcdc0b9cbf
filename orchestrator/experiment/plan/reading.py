"""Reads a stored plan by its types; its digest, which its name or a run's journal has, says that it is unchanged."""

from __future__ import annotations

from typing import Any

from orchestrator.experiment.plan.plan import SCHEMA_VERSION, Plan
from orchestrator.shapes import decode


def read_plan(raw: Any) -> Plan:
    """Return the plan in a JSON document; ValueError when it is of another version, or names the value of another type."""
    plan: Plan = decode(Plan, raw)
    if plan.schema_version != SCHEMA_VERSION:
        raise ValueError(f"schema_version: {plan.schema_version}; this version of orch reads {SCHEMA_VERSION}")
    return plan
