"""The summary of a run, read back from the JSON that it was stored as."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from orchestrator.analysis.summary import SCHEMA_VERSION, RunSummary
from orchestrator.errors import UsageError
from orchestrator.questions import registry
from orchestrator.shapes import decode_json
from orchestrator.strict_json import parse_json


def summary_of(raw: Any, text: str | None = None) -> RunSummary:
    """Return the summary in what `summary.json` holds, without its seal; `text` is the same as JSON, where it is at hand.

    UsageError names another version; ValueError a key that is missing, unknown, or of another type.
    """
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if type(version) is not int:
        raise ValueError("not the summary of a run: it has no schema_version")
    if version != SCHEMA_VERSION:
        raise UsageError(
            f"a summary of version {version}; this orch reads version {SCHEMA_VERSION}",
            hint="`orch report RUN` makes it anew from the samples",
        )
    summary: RunSummary = decode_json(RunSummary, raw, text)
    return replace(summary, findings=registry.decoded(summary.findings))


def summary_of_json(text: str | bytes) -> RunSummary:
    """Return what `RunSummary.to_json` gave; errors as `summary_of`, and ValueError for what is no JSON."""
    return summary_of(parse_json(text))
