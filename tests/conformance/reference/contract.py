"""What `protos/` holds as data: the schemas of all lines, the version, the statuses."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PROTOS = ROOT / "protos"


@cache
def schema(name: str) -> dict[str, Any]:
    return json.loads((PROTOS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


LONGEST_LINE = 2**20  # bytes, without its end
VERSION: int = schema("serve")["properties"]["contract"]["const"]
STATUSES: list[str] = [
    status["name"] for status in json.loads((PROTOS / "statuses.json").read_text(encoding="utf-8"))["statuses"]
]
STATUS = {name: index for index, name in enumerate(STATUSES)}
OF_TRIAL = {"trial", "host", "fault", "unavailable"}  # what a `failed` line may name beside a status


def parse(text: str | bytes) -> Any:
    """One JSON value; ValueError also for a key that occurs twice and for a number that is not finite."""
    return json.loads(text, object_pairs_hook=_once, parse_constant=_not_finite)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for key in fields if sum(key == other for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return fields


def _not_finite(text: str) -> float:
    raise ValueError(f"{text} is not finite")


def refusal(name: str, line: Any) -> str | None:
    """Why a line is not of this schema, naming the key; None for one that is."""
    if not isinstance(line, dict):
        return "no object"
    described = schema(name)
    return _refusal(line, described, described.get("$defs", {}), "")


def _refusal(value: Any, rule: dict[str, Any], definitions: dict[str, Any], at: str) -> str | None:
    """The part of JSON Schema that the contract uses, and that a whole number has no point."""
    if "$ref" in rule:
        return _refusal(value, definitions[rule["$ref"].rpartition("/")[2]], definitions, at)
    if "anyOf" in rule:
        reasons = [_refusal(value, one, definitions, at) for one in rule["anyOf"]]
        return None if None in reasons else reasons[0]
    if "const" in rule and (value != rule["const"] or type(value) is not type(rule["const"])):
        return f"{at}: {value!r} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{at}: {value!r} is none of {', '.join(map(repr, rule['enum']))}"
    kind = rule.get("type")
    if kind is not None and not _is(value, kind):
        return f"{at}: {value!r} is no {kind}"
    if ("minimum" in rule and value < rule["minimum"]) or ("maximum" in rule and value > rule["maximum"]):
        return f"{at}: {value!r} is out of range"
    if isinstance(value, list) and "items" in rule:
        return next((why for one in value if (why := _refusal(one, rule["items"], definitions, at))), None)
    return _refusal_of_fields(value, rule, definitions, at) if isinstance(value, dict) else None


def _refusal_of_fields(
    fields: dict[str, Any], rule: dict[str, Any], definitions: dict[str, Any], at: str
) -> str | None:
    known, others = rule.get("properties", {}), rule.get("additionalProperties", True)
    for key in rule.get("required", ()):
        if key not in fields:
            return f"the key {at}.{key} is missing"
    for key, value in fields.items():
        inner = known.get(key, others)
        if inner is False:
            return f"the key {at}.{key} is not known"
        if inner is not True and (why := _refusal(value, inner, definitions, f"{at}.{key}")):
            return why
    return None


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "null": type(None), "object": dict, "array": list}[kind])


def read_line(name: str, text: str | bytes) -> dict[str, Any]:
    """A line of this schema; ValueError with one sentence otherwise. Another version is refused before anything else."""
    if len(text) > LONGEST_LINE + 1:  # with its end
        raise ValueError("the line has more than 1 MiB")
    line = parse(text)
    if isinstance(line, dict) and "contract" in schema(name)["properties"]:
        said = line.get("contract")
        if type(said) is int and said != VERSION:
            raise ValueError(f"this program speaks contract {VERSION}; the orchestrator speaks {said}")
    if (why := refusal(name, line)) is not None:
        raise ValueError(why)
    return line


def with_defaults(name: str, line: dict[str, Any]) -> dict[str, Any]:
    """The line with every key that it leaves out and the schema gives a default for, in its parts as well."""
    described = schema(name)
    return _filled(line, described, described.get("$defs", {}))


def _filled(fields: dict[str, Any], rule: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    filled = dict(fields)
    for key, inner in rule["properties"].items():
        if "$ref" in inner:
            filled[key] = _filled(fields.get(key, {}), definitions[inner["$ref"].rpartition("/")[2]], definitions)
        elif "default" in inner:
            filled.setdefault(key, inner["default"])
            part = next((way["$ref"] for way in inner.get("anyOf", ()) if "$ref" in way), None)
            if part is not None and filled[key] is not None:
                filled[key] = _filled(filled[key], definitions[part.rpartition("/")[2]], definitions)
        if "$ref" in inner.get("items", {}) and isinstance(filled.get(key), list):
            of = definitions[inner["items"]["$ref"].rpartition("/")[2]]
            filled[key] = [_filled(one, of, definitions) for one in filled[key]]
    return filled
