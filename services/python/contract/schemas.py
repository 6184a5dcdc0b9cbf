"""`python -m services.python.contract.schemas`: writes `protos/schemas/` and `protos/statuses.json` from the lines' types.

The JSON Schemas (2020-12) say to any language what `strict.decode` accepts here. One thing JSON Schema cannot say: a whole
number is written without a point (`1`, not `1.0`).
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from services.python.contract.description import Description
from services.python.contract.lines import STATUS_MEANINGS, VERSION, Trial
from services.python.contract.manifest import Manifest
from services.python.contract.ping_lines import Ping, PingDone
from services.python.contract.requester_lines import Checked, Done, Failed, Progress, Start, Turn, Warm
from services.python.contract.responder_lines import Own, Ready, Serve, Stats
from services.python.contract.strict import Between, Line, Part, hints_of, is_required

PROTOS = Path(__file__).resolve().parents[3] / "protos"

# The file of each line below `protos/schemas/`, without its ending.
LINES: Final[Mapping[str, type[Line]]] = {
    "serve": Serve,
    "own": Own,
    "ready": Ready,
    "stats": Stats,
    "trial": Trial,
    "checked": Checked,
    "start": Start,
    "warm": Warm,
    "turn": Turn,
    "progress": Progress,
    "done": Done,
    "failed": Failed,
    "ping": Ping,
    "ping-done": PingDone,
    "describe": Description,
}

# What a language's folder says of itself is no line, but read as strictly.
_FILES: Final[Mapping[str, type[Part]]] = {"manifest": Manifest}

_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a line, of a manifest, or of what a language counts of its source."""
    parts: dict[str, Any] = {}
    line = _object({**LINES, **_FILES}[name], parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:orch:contract:{VERSION}:{name}",
        "title": name,
        **line,
        **({"$defs": dict(sorted(parts.items()))} if parts else {}),
    }


def statuses() -> dict[str, Any]:
    """How a request can end; the index stands in the record."""
    entries = enumerate(STATUS_MEANINGS.items())
    return {
        "contract": VERSION,
        "statuses": [{"index": index, "name": name, "meaning": meaning} for index, (name, meaning) in entries],
    }


def documents() -> dict[Path, str]:
    """Every file that `write` makes, by its path below `protos/`."""
    made = {Path("schemas") / f"{name}.json": schema(name) for name in (*LINES, *_FILES)}
    made[Path("statuses.json")] = statuses()
    return {path: json.dumps(document, indent=2) + "\n" for path, document in made.items()}


def write(folder: Path = PROTOS) -> None:
    """Write all of them anew."""
    for path, text in documents().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def _object(cls: type[Any], parts: dict[str, Any]) -> dict[str, Any]:
    hints = hints_of(cls)
    properties = {}
    for field in fields(cls):
        properties[field.name] = _of(hints[field.name], parts)
        if field.default is not MISSING and "const" not in properties[field.name]:
            properties[field.name] |= {"default": field.default}
    return {
        "description": " ".join((cls.__doc__ or "").split()),
        "type": "object",
        "properties": properties,
        "required": [f.name for f in fields(cls) if is_required(f, hints[f.name])],
        "additionalProperties": False,
    }


def _of(hint: Any, parts: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if origin is Annotated:
        return _of(arguments[0], parts) | _limits(arguments[1:])
    if origin is Literal:
        return {"const": arguments[0]} if len(arguments) == 1 else {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(argument, parts) for argument in arguments]}
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], parts)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], parts)}
    if is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in parts:
            parts[hint.__name__] = _object(hint, parts)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"{hint!r} has no place in a line")


def _limits(metadata: tuple[Any, ...]) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    for limit in metadata:
        if isinstance(limit, Between):
            bounds |= {"minimum": limit.least} if limit.least is not None else {}
            bounds |= {"maximum": limit.most} if limit.most is not None else {}
    return bounds


if __name__ == "__main__":
    write()
