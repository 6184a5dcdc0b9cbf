"""Print the JSON Schema of experiment files, so that editors complete and check them.

`experiments/schema.json` is this; the first line of a file names it: `# yaml-language-server: $schema=schema.json`.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from orchestrator.cli.console import console


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Changes nothing: a schema is JSON either way.")] = False,
) -> None:
    """Print it."""
    from orchestrator.experiment.model.json_schema import json_schema

    del as_json
    console.document(json.dumps(json_schema(), indent=2, ensure_ascii=False))
