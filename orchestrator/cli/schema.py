"""Print the JSON Schema of experiment files, so that editors complete and check them.

`experiments/schema.json` is this; the first line of a file names it: `# yaml-language-server: $schema=schema.json`.
"""

from __future__ import annotations

import json

from orchestrator.cli.console import console


def command() -> None:
    """Print it; it is JSON either way."""
    from orchestrator.experiment.json_schema import json_schema

    console.result(json.dumps(json_schema(), indent=2, ensure_ascii=False))
