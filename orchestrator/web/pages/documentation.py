"""The documentation of the API, from its own OpenAPI document, without anybody's script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from orchestrator.web.context import context

router = APIRouter(include_in_schema=False)
_REF = "#/components/schemas/"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A parameter of a request, or a field of a document."""

    name: str
    type: str
    place: str
    is_required: bool
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request that is answered."""

    method: str
    path: str
    about: str
    group: str
    parameters: tuple[Field, ...]
    body: str
    answer: str
    changes: bool


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A document: its name, what it is, and its fields."""

    name: str
    about: str
    fields: tuple[Field, ...]


def calls(document: dict[str, Any]) -> Iterator[Call]:
    """What is answered, by the OpenAPI document."""
    for path, methods in document["paths"].items():
        for method, of in methods.items():
            body = of.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            right = next(answer for status, answer in of["responses"].items() if status.startswith("2"))
            answer = right.get("content", {}).get("application/json", {}).get("schema", {})
            yield Call(
                method=method.upper(),
                path=path,
                about=of.get("description", ""),
                group=(of.get("tags") or ["other"])[0],
                parameters=tuple(_parameter(each) for each in of.get("parameters", ())),
                body=_type(body) if body else "",
                answer=_type(answer) if answer else "",
                changes=method != "get",
            )


def schemas(document: dict[str, Any]) -> Iterator[Shape]:
    """The documents that requests and answers are made of."""
    for name, of in sorted(document.get("components", {}).get("schemas", {}).items()):
        if name in ("HTTPValidationError", "ValidationError"):
            continue  # the framework's own; errors here are problems
        required = of.get("required", ())
        fields = tuple(
            Field(
                name=field,
                type=_type(each),
                place="",
                is_required=field in required,
                meaning=each.get("description", ""),
            )
            for field, each in of.get("properties", {}).items()
        )
        yield Shape(name=name, about=of.get("description", ""), fields=fields)


def _parameter(each: dict[str, Any]) -> Field:
    schema = each.get("schema", {})
    return Field(
        name=each["name"],
        type=_type(schema),
        place=each["in"],
        is_required=bool(each.get("required")),
        meaning=each.get("description") or schema.get("description") or "",
    )


def _type(schema: dict[str, Any]) -> str:
    """A schema in a few words: `RunListed[]`, `text or null`.

    >>> _type({"anyOf": [{"type": "string"}, {"type": "null"}]})
    'text or null'
    """
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix(_REF)
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]"
    names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    kind = str(schema.get("type", "any"))
    return names.get(kind, kind)


@cache
def _of(app: FastAPI) -> dict[str, Any]:
    document = app.openapi()
    by_group: dict[str, list[Call]] = {}
    for call in calls(document):
        by_group.setdefault(call.group, []).append(call)
    return {"about": document["info"]["description"], "groups": by_group, "schemas": list(schemas(document))}


@router.get("/api")
async def documentation(request: Request) -> Response:
    """What programs may ask."""
    return context(request).templates.TemplateResponse(request, "api.html", _of(request.app))
