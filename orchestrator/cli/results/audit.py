"""The verb `audit`: published figures against what is possible and what is measured here."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from orchestrator import quantities
from orchestrator.audit.assessment import ACCUSING, SEVERITY, Assessment
from orchestrator.audit.examine import examine
from orchestrator.audit.model import json_schema, read
from orchestrator.cli.console import console, plain
from orchestrator.cli.shared_options import AsJson
from orchestrator.errors import UsageError

_INDENT = "     "
_MARKS = {
    "supported": ("ok", "green"),
    "contradicted": ("NO", "yellow"),
    "impossible": ("!!", "red"),
    "undetermined": ("??", "dim"),
}


def audit(
    file: Annotated[Path | None, typer.Argument(help="A description of published figures (YAML).")] = None,
    figures: Annotated[bool, typer.Option(help="Show every figure that was examined, sound ones too.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of such a file instead.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit 1 where something is contradicted or impossible.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine published figures, claim by claim: supported, contradicted, impossible, or undetermined."""
    if schema:
        console.document(json_schema())
        return
    if file is None:
        raise UsageError("name a file with published figures", hint="examples are under experiments/audits/")
    console.as_json = as_json
    result = examine(read(file))
    console.emit(result.to_dict())
    console.result(console.style(result.title, "bold"))
    shown = [f for f in result.assessments if f in result.claims or figures or f.verdict != "supported"]
    for assessment, before in zip(shown, [None, *shown], strict=False):
        _print(assessment, before)
    console.result()
    console.result(", ".join(f"{result.count(verdict)} {verdict}" for verdict in SEVERITY))
    if exit_code and any(result.count(verdict) for verdict in ACCUSING):
        raise typer.Exit(1)


def _print(assessment: Assessment, before: Assessment | None) -> None:
    """A claim once, below it each rule's verdict on it, and its arithmetic a part to a line."""
    if before is None or before.claim != assessment.claim:
        console.result()
        console.result(plain(assessment.claim))
    mark, style = _MARKS[assessment.verdict]
    console.result(f"  {console.style(mark, style)} {assessment.verdict} ({assessment.rule})")
    width = max(60, shutil.get_terminal_size().columns - 1)
    for part in (*assessment.parts, *_in_defence(assessment)):
        # Names of rows hold hyphens, and stay whole.
        for line in textwrap.wrap(
            quantities.unbroken(plain(part)),
            width,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT + "  ",
            break_on_hyphens=False,
        ):
            console.result(line.replace("\u00a0", " "))


def _in_defence(assessment: Assessment) -> list[str]:
    """How far the figures might be off without an accusation, and what would refute it."""
    lines = [f"tolerance: {assessment.tolerance}"] if assessment.tolerance else []
    return [*lines, f"honest if: {assessment.honest_explanation}"] if assessment.honest_explanation else lines
