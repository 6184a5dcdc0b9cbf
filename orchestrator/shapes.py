"""Plain data from elsewhere as our dataclasses, refused where its shape is another one.

For documents that orch itself writes: plans, journals, manifests. They hold what lines do not (tuples, any JSON value,
lists of tens of thousands of trials), and pydantic reads them in compiled code. Lines of the process contract have a
decoder of their own, `services.python.contract.strict`: the end programs must not pay for the import of pydantic. It reads
such a line within a document, too, so that there is one definition of what a line may hold.
"""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from functools import cache, partial
from typing import Any, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

from services.python.contract.strict import Part
from services.python.contract.strict import decode as decode_part


def decode(kind: Any, raw: Any) -> Any:
    """Plain data as `kind`, a dataclass; ValueError says where a key is unknown, missing, or of another type."""
    try:
        return _adapter(kind).validate_python(raw)
    except ValidationError as error:
        raise _refused(kind, error) from error


def decode_json(kind: Any, raw: Any, text: str | None = None) -> Any:
    """Plain data as JSON has it (lists, no tuples) as `kind`, to the letter: no text counts as a number, nor 1 as true.

    `text` is the same written as JSON, by whoever has it already. ValueError as `decode`.
    """
    try:
        written = json.dumps(raw, ensure_ascii=False, allow_nan=False) if text is None else text
        return _adapter(kind).validate_json(written, strict=True)
    except ValidationError as error:
        raise _refused(kind, error) from error


def _refused(kind: Any, error: ValidationError) -> ValueError:
    first, more = error.errors(include_url=False, include_input=False)[0], error.error_count() - 1
    place = ".".join(str(part) for part in first["loc"]) or kind.__name__
    others = f" (and {more} more)" if more else ""
    return ValueError(f"{place}: {first['msg'].removeprefix('Value error, ')}{others}")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    _forbid_unknown_keys(kind)
    return TypeAdapter(kind)


def _forbid_unknown_keys(kind: Any) -> None:
    """Let a dataclass, and all that its fields hold, refuse keys it does not have: data of one schema version has none."""
    for part in get_args(kind):
        _forbid_unknown_keys(part)
    if isinstance(kind, type) and issubclass(kind, Part):
        kind.__get_pydantic_core_schema__ = classmethod(_strictly)  # type: ignore[attr-defined]
    elif is_dataclass(kind) and isinstance(kind, type) and "__pydantic_config__" not in vars(kind):
        kind.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
        for hint in get_type_hints(kind, include_extras=True).values():
            _forbid_unknown_keys(hint)


def _strictly(kind: type[Part], *_handlers: Any) -> CoreSchema:
    return core_schema.no_info_plain_validator_function(partial(decode_part, kind))
