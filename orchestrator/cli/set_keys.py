"""The keys that `--set` takes, with the values that are words: `set_keys.json`, which shells complete from.

It is written from the model of an experiment by `python -m orchestrator.cli.set_keys`, as the model takes longer to import
than somebody who types should wait. `N` stands for the number of a list's item.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("set_keys.json")
_DEEPEST = 4  # steps of a key; mixes within operations go on for ever


def read() -> dict[str, list[str]]:
    """Each key in dotted form, with its words: `{"load.arrivals": ["poisson", "uniform"], ...}`."""
    known: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return known


def from_schema(schema: Mapping[str, Any]) -> dict[str, list[str]]:
    """The keys of the JSON Schema of experiments, in its order, those with a value that is neither list nor mapping."""
    found: dict[str, list[str]] = {}
    for key, values in _walk(schema, (), schema.get("$defs", {})):
        known = found.setdefault(".".join(key), [])
        known.extend(value for value in values if value not in known)
    return found


def text() -> str:
    """What the file holds: a key on each line."""
    from orchestrator.experiment.model.json_schema import json_schema

    lines = (f"  {json.dumps(key)}: {json.dumps(words)}" for key, words in from_schema(json_schema()).items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _walk(
    schema: Mapping[str, Any], key: tuple[str, ...], definitions: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
    """Each key from `key` on that has a plain value, with its words, as often as the schema has alternatives.

    Where a list may stand, the keys of its items are those of a mapping; a list of plain values has one key.
    """
    every = list(_alternatives(schema, definitions))
    lists = [option["items"] for option in every if isinstance(option.get("items"), Mapping)]
    for option in every:
        if key and _is_plain(option):
            yield key, _words(option)
        if not lists and len(key) < _DEEPEST:
            for name, below in option.get("properties", {}).items():
                yield from _walk(below, (*key, name), definitions)
    for items in lists:
        if any("properties" in option for option in _alternatives(items, definitions)):
            yield from _walk(items, (*key, "N"), definitions)


def _alternatives(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema itself, and what it refers to or allows instead."""
    yield schema
    if isinstance(reference := schema.get("$ref"), str):
        yield from _alternatives(definitions[reference.rpartition("/")[2]], definitions)
    for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _alternatives(option, definitions)


def _is_plain(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") in ("string", "integer", "number", "boolean") or "enum" in schema or "const" in schema


def _words(schema: Mapping[str, Any]) -> list[str]:
    if schema.get("type") == "boolean":
        return ["true", "false"]
    listed = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
    return [word for word in listed if isinstance(word, str)]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
