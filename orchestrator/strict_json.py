"""JSON from elsewhere (a file, a process, another machine), refused where it holds what orch never writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from orchestrator.files import UnreadableFile, read_file

MOST_BYTES = 1 << 26
_INT64 = 1 << 63


def parse_json(text: bytes | str) -> Any:
    """A JSON document that a later step can trust in shape.

    ValueError when it is none, or holds what we never write: a number that is not finite or beyond 64 bits, text with a
    lone surrogate, or a key twice in one object (people would read one value and orch the other).
    """
    try:
        document = json.loads(
            text, parse_int=_integer, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()  # ValueError for 1e999 and lone surrogates
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return document


def parse_own_json(text: bytes) -> Any:
    """A document that this orch wrote, and that a digest over it shows to be unchanged, without a look at each value.

    ValueError for what is no JSON, or holds a number that is not finite. Nothing else that is unusual is refused: a text
    that may be somebody else's is for `parse_json`.
    """
    return from_json(text, allow_inf_nan=False)


def read_json(path: Path, most_bytes: int = MOST_BYTES) -> Any:
    """The JSON document in a regular file.

    FileNotFoundError when there is none; ValueError as `parse_json`, and when it cannot be read or is larger than that.
    """
    try:
        return parse_json(read_file(path, most_bytes))
    except UnreadableFile as error:
        raise ValueError(f"it {error}") from error


def read_own_json(path: Path) -> Any:
    """Return a document of orch's own from a file; OSError when it cannot be read, ValueError as `parse_own_json`."""
    return parse_own_json(path.read_bytes())


def _integer(text: str) -> int:
    number = int(text)
    if not -_INT64 <= number < 2 * _INT64:
        raise ValueError("a number needs more than 64 bits")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {key[:60]!r} occurs twice")
    return document
