"""Files of a run folder: paths that stay inside it, digests, and JSON that is written whole or sealed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orchestrator import disk
from orchestrator.errors import KEPT, InvalidMeasurement
from orchestrator.files import sha256_of
from orchestrator.strict_json import read_json


@contextmanager
def whole_file(path: Path, staging: Path | None = None) -> Iterator[Path]:
    """`disk.whole_file` for a file of a run: MissingError for what the disk refuses."""
    with disk.writing(path, disk.RESUME, kept=KEPT), disk.whole_file(path, staging=staging) as partial:
        yield partial


def to_line(document: Any) -> bytes:
    """A document as compact JSON, without a newline."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document, whole or not at all; the same document gives the same bytes."""
    with whole_file(path) as partial:
        partial.write_bytes((json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its own SHA-256 as `seal`: for what is read again and that no journal speaks of."""
    return {**document, "seal": _seal(_compact(document))}


def read_sealed(path: Path) -> tuple[dict[str, Any], str]:
    """Return a document that was sealed, and the same as compact JSON; OSError, or ValueError when it is not as written."""
    return unsealed(read_json(path))


def unsealed(document: Any) -> tuple[dict[str, Any], str]:
    """Return a sealed document without its seal, and the same as compact JSON; ValueError where they do not match."""
    if not isinstance(document, dict):
        raise ValueError("it is not a JSON object")
    claimed = document.get("seal")
    plain = {key: value for key, value in document.items() if key != "seal"}
    text = _compact(plain)
    if claimed != _seal(text):
        raise ValueError("its digest is another one")
    return plain, text


def _compact(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


ALTERED = "truncated or altered: its SHA-256 is not the one that was written down"


class Damaged(InvalidMeasurement):
    """A file of a run folder is missing, or not as it was written; `reason` says it without the path."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path}: {reason}",
            hint="bring it back from a copy; the run's other files can still be read with pandas.read_parquet",
        )
        self.reason = reason


def inside(folder: Path, relative: str) -> Path:
    """Return `folder / relative`; InvalidMeasurement when that leads out of the folder, by `..` or by a link."""
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InvalidMeasurement(
            f"{folder}: {relative[:200]!r} leads out of the run folder", hint="bring the run back from a copy"
        )
    return path


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; InvalidMeasurement when it is missing or cannot be read."""
    try:
        return sha256_of(path)
    except FileNotFoundError as error:
        raise Damaged(path, "the file is missing") from error
    except OSError as error:
        raise Damaged(path, f"cannot be read: {error.strerror}") from error


def name_in_id(name: str) -> str:
    """Return an experiment's name as the ids of its runs have it."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "run"
