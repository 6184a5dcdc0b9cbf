"""Calls of an OpenAPI 3 or Swagger 2 document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from orchestrator.experiment.drafts.draft import (
    JSON,
    SAFE_METHODS,
    SERVICE,
    Draft,
    DraftCall,
    column,
    http_call,
    shortlist,
)
from orchestrator.experiment.model.own_services import METHODS

_DEEPEST = 6
_FORM = "application/x-www-form-urlencoded"
_BY_FORMAT = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "byte": "AA==",
    "ipv4": "192.0.2.1",
}


def openapi_draft(document: Mapping[str, Any], title: str) -> Draft:
    """Return the draft of a document; ValueError, KeyError, TypeError or AttributeError for what is none."""
    reader = _Reader(document)
    operations = list(reader.operations())
    if "swagger" in document:
        scheme = (document.get("schemes") or ["http"])[0]
        server = f"{scheme}://{document['host']}" if document.get("host") else ""
        server += (document.get("basePath") or "").rstrip("/")
    else:
        server = _server((document.get("servers") or [{}])[0])
    parts = urlsplit(server)
    base = parts.path.rstrip("/") if parts.path.startswith("/") else ""  # no path: a host without a scheme
    return Draft(
        kind="OpenAPI" if "openapi" in document else "Swagger",
        title=str((document.get("info") or {}).get("title") or title),
        calls=[reader.call(base, *each) for each in shortlist(operations, lambda each: each[0] in SAFE_METHODS)],
        total=len(operations),
        services={SERVICE: f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""},
    )


def _server(server: Mapping[str, Any]) -> str:
    variables = server.get("variables") or {}
    return re.sub(
        r"\{([^{}]+)\}",
        lambda place: str((variables.get(place[1]) or {}).get("default", place[1])),
        str(server.get("url", "")),
    )


class _Reader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any], list[Any]]]:
        """Yield method, path, operation and the parameters of its path."""
        for path, shared in self._document["paths"].items():
            item = self._at(shared) if path.startswith("/") else {}
            for method, operation in item.items():
                if method.upper() in METHODS:
                    yield method.upper(), path, operation, item.get("parameters") or []

    def call(self, base: str, method: str, path: str, operation: Mapping[str, Any], shared: list[Any]) -> DraftCall:
        """Return the call of one operation."""
        parameters = {(p["in"], p["name"]): p for p in map(self._at, [*shared, *(operation.get("parameters") or [])])}
        values: dict[str, Sequence[Any]] = {}
        query, headers = [], {}
        for (place, name), parameter in parameters.items():
            is_needed = parameter.get("required") or "example" in parameter or parameter.get("examples")
            if place == "path" or (place in ("query", "header") and is_needed):
                values[column(name)] = self._values(parameter)
            if place == "query" and is_needed:
                query.append(f"{quote(name)}={{{column(name)}}}")
            elif place == "header" and is_needed:
                headers[name] = f"{{{column(name)}}}"
        target = re.sub(r"\{([^{}]+)\}", lambda match: f"{{{column(match[1])}}}", base + path)
        for name in re.findall(r"\{(\w+)\}", target):
            values.setdefault(name, ["1"])
        needed = operation.get("security", self._document.get("security")) or []
        body, notes = self._body(operation, [*parameters.values()])
        status, replies = self._success(operation)
        target = target.replace(" ", "%20") + ("?" + "&".join(query) if query else "")
        return DraftCall(
            name=str(operation.get("operationId") or f"{method} {path}"),
            call=http_call(method, target, media_types=replies, headers=headers, body=body, expect=status),
            is_safe=method in SAFE_METHODS,
            values=values,
            notes=[
                str(operation.get("summary") or ""),
                *notes,
                *[f"It needs {name}: give `headers` with a ${{SECRET}}." for name in next(iter(needed), {})],
            ],
        )

    def _values(self, parameter: Mapping[str, Any]) -> list[Any]:
        schema = self._at(parameter.get("schema") or parameter)
        values = [self._at(example)["value"] for example in (parameter.get("examples") or {}).values()]
        if not values and "example" not in parameter:
            items = self._at(schema.get("items") or {})
            values = schema.get("examples") or schema.get("enum") or items.get("enum") or [self._sample(schema)]
        values = [
            value[0] if isinstance(value, list) and value else value for value in values or [parameter["example"]]
        ]
        return ["1" if value is None else value for value in values]

    def _body(self, operation: Mapping[str, Any], parameters: list[Any]) -> tuple[dict[str, Any], list[str]]:
        if "swagger" in self._document:
            form = {p["name"]: self._values(p)[0] for p in parameters if p["in"] == "formData"}
            whole = [self._sample(p.get("schema") or {}) for p in parameters if p["in"] == "body"]
            return ({"form": form} if form else {"json": whole[0]} if whole else {}), []
        content = self._at(operation.get("requestBody") or {}).get("content") or {}
        for media_type, media in content.items():
            examples = [self._at(example).get("value") for example in (media.get("examples") or {}).values()]
            sample = media.get("example", examples[0] if examples else self._sample(media.get("schema") or {}))
            if media_type == _FORM and isinstance(sample, dict):
                return {"form": sample}, []
            if JSON.match(media_type):
                return {"json": sample}, []
        return {}, [f"Its body is {' or '.join(content)}: give `body`."] if content else []

    def _success(self, operation: Mapping[str, Any]) -> tuple[dict[str, int], list[str]]:
        """What to expect, by the status of success that is declared first, and the media types of that reply."""
        for status, reply in (operation.get("responses") or {}).items():
            if re.fullmatch(r"2\d\d", str(status)):
                produced = operation.get("produces", self._document.get("produces")) or []
                return {"status": int(status)}, [*(self._at(reply).get("content") or produced)]
        return {}, []

    # ---- references and examples

    def _at(self, node: Any) -> Any:
        for _ in range(_DEEPEST):
            if not (isinstance(node, dict) and isinstance(node.get("$ref"), str)):
                return node
            node = self._followed(node["$ref"])
        raise ValueError(f"its reference {node['$ref']} leads in a circle")

    def _followed(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            raise ValueError(f"it refers to {reference}: put all into one file first")
        node: Any = self._document
        for word in reference[2:].split("/"):
            word = unquote(word).replace("~1", "/").replace("~0", "~")
            node = node[int(word)] if isinstance(node, list) else node[word]
        return node

    def _sample(self, schema: Any, within: tuple[str, ...] = ()) -> Any:
        """A value of a schema: its example where it has one, the simplest of its type elsewhere; None within itself."""
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        schema = self._at(schema)
        if not isinstance(schema, dict) or reference in within or len(within) > _DEEPEST:
            return None
        within = (*within, reference or "")
        given = [schema[key] for key in ("example", "default", "const") if key in schema]
        given += [schema[key][0] for key in ("examples", "enum") if schema.get(key)]
        if given:
            return given[0]
        if choices := schema.get("oneOf") or schema.get("anyOf"):
            return self._sample(choices[0], within)
        if schema.get("allOf"):
            parts = [self._sample(part, within) for part in [*schema["allOf"], {**schema, "allOf": None}]]
            objects = [part for part in parts if isinstance(part, dict)]
            return {key: part[key] for part in objects for key in part} if objects else parts[0]
        return self._simplest(schema, within)

    def _simplest(self, schema: Mapping[str, Any], within: tuple[str, ...]) -> Any:
        kind = schema.get("type") or ("object" if "properties" in schema else None)
        if isinstance(kind, list):
            kind = next((each for each in kind if each != "null"), None)
        if kind == "object":
            samples = {key: self._sample(part, within) for key, part in (schema.get("properties") or {}).items()}
            needed = schema.get("required") or ()
            return {key: value for key, value in samples.items() if value is not None or key in needed}
        if kind == "array":
            item = self._sample(schema.get("items") or {}, within)
            return [] if item is None else [item]
        if kind in ("integer", "number"):
            return schema.get("minimum", 1)
        if kind == "string":
            return _BY_FORMAT.get(schema.get("format", ""), "text".ljust(schema.get("minLength") or 0, "x"))
        return True if kind == "boolean" else None
