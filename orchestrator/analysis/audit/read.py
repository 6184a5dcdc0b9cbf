"""Reads a description of published figures, with every problem at its place in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orchestrator.analysis.audit.model import KINDS, AuditFile, MisplacedError
from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import ExperimentError, Problem


def read(path: Path) -> AuditFile:
    """The file's figures and claims; ExperimentError (exit 2) names each problem as file:line:column."""
    root = tree.read(path)
    try:
        return AuditFile.model_validate(root.plain())
    except ValidationError as error:
        problems = []
        for detail in error.errors(include_url=False):
            cause = detail.get("ctx", {}).get("error")
            at = cause.path if isinstance(cause, MisplacedError) else detail["loc"]
            steps = [step for step in at if step not in KINDS]
            _, mark = root.find(steps)
            where = "" if isinstance(cause, MisplacedError) else ".".join(str(step) for step in steps)
            said = detail["msg"].removeprefix("Value error, ")
            problems.append(Problem(mark, f"{where}: {said}" if where else said))
        raise ExperimentError(problems) from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema of audit files, for editors; `experiments/audits/schema.json` is this."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Published figures for orch audit",
        **AuditFile.model_json_schema(),
    }


def json_schema_text() -> str:
    """The schema as it stands in the file."""
    return json.dumps(json_schema(), indent=2) + "\n"
