"""Which run folders were made here. A folder from elsewhere is only read, whatever it says of itself.

`.orch/made/<run-id>`, beside `results/`, holds the device and inode of the folder and the journal's first chain value: a
copy, an unpacked archive or a folder that was put in its place is another folder. Losing the note costs nothing but
`--resume` and `teardown` of that run.
"""

from __future__ import annotations

import json
from pathlib import Path

from orchestrator.results.documents import write_json
from orchestrator.strict_json import parse_json

_MADE = Path(".orch") / "made"


def note(root: Path, folder: Path, chain: str) -> None:
    """Note that this process made `folder` under `root`; MissingError when the disk is full."""
    write_json(_place(root, folder), _identity(folder, chain))


def is_ours(root: Path, folder: Path, chain: str) -> bool:
    """Whether `folder` is the one that was noted, and its journal begins as it did."""
    try:
        noted = parse_json(_place(root, folder).read_text(encoding="utf-8"))
        return bool(noted == json.loads(json.dumps(_identity(folder, chain))))
    except (OSError, ValueError):
        return False


def forget(root: Path, folder: Path) -> None:
    """Remove the note of a folder that is gone."""
    _place(root, folder).unlink(missing_ok=True)


def _place(root: Path, folder: Path) -> Path:
    return root.parent / _MADE / f"{folder.resolve().name}.json"


def _identity(folder: Path, chain: str) -> dict[str, object]:
    status = folder.stat()
    return {"device": status.st_dev, "inode": status.st_ino, "chain": chain}
