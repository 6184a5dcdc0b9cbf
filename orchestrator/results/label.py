"""The label on a run folder that orch made here: `made-by-orch.json`, which `orch import` does not copy.

`resume` and `teardown` act on labelled folders only, and `delete` wants the path of any other one.
"""

from __future__ import annotations

from pathlib import Path

from orchestrator.results.documents import write_json
from orchestrator.strict_json import read_own_json

NAME = "made-by-orch.json"


def put(folder: Path) -> None:
    """Label a new run folder. MissingError when the disk is full."""
    write_json(folder / NAME, _label(folder))


def is_labelled(folder: Path) -> bool:
    """Whether orch made this folder, under this name."""
    try:
        return bool(read_own_json(folder / NAME) == _label(folder))
    except (OSError, ValueError):
        return False


def _label(folder: Path) -> dict[str, str]:
    return {"made_by": "orch", "run": folder.resolve().name}
