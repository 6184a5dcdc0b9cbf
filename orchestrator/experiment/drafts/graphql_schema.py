"""Queries and mutations of a GraphQL schema, in SDL or as the reply to an introspection query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import graphql as g

from orchestrator.experiment.drafts.draft import SERVICE, Draft, DraftCall, shortlist

_DEEPEST = 2
_Object = g.GraphQLObjectType | g.GraphQLInterfaceType
_DEEPEST_INPUT = 4
_SCALARS: Mapping[str, Any] = {"Int": 1, "Float": 1.5, "Boolean": True, "ID": "1"}


def graphql_draft(schema: str | Mapping[str, Any], title: str) -> Draft:
    """Return the draft of a schema; ValueError for what is none."""
    try:
        is_text = isinstance(schema, str)
        read = g.build_schema(schema, assume_valid_sdl=True) if is_text else g.build_client_schema(schema)  # type: ignore[arg-type]
    except (g.GraphQLError, TypeError) as error:
        raise ValueError(str(error)) from error
    roots = {"query": read.query_type, "mutation": read.mutation_type}
    fields = [(kind, name, f) for kind, root in roots.items() if root for name, f in root.fields.items()]
    if not fields:
        raise ValueError("it has neither queries nor mutations")
    return Draft(
        kind="GraphQL",
        title=title,
        calls=[_call(*each) for each in shortlist(fields, lambda each: each[0] == "query")],
        total=len(fields),
        services={SERVICE: ""},
    )


def _call(kind: str, name: str, field: g.GraphQLField) -> DraftCall:
    needed = {key: arg for key, arg in field.args.items() if g.is_required_argument(arg)}
    heads = ", ".join(f"${key}: {arg.type}" for key, arg in needed.items())
    passed = ", ".join(f"{key}: ${key}" for key in needed)
    selection = _selection(f"{name}({passed})" if passed else name, field.type)
    lines = [f"{kind} {name}{heads and f'({heads})'} {{", *selection, "}"]
    variables = {key: f"{{{key}}}" for key in needed}
    return DraftCall(
        name=name if kind == "query" else f"{kind}-{name}",
        call={"graphql": "", "variables": variables} if needed else {"graphql": ""},
        is_safe=kind == "query",
        values={key: [_sample(arg.type, 0)] for key, arg in needed.items()},
        notes=[(field.description or "").partition("\n")[0]],
        document="\n".join([*lines, ""]),
    )


def _selection(head: str, kind: g.GraphQLOutputType, within: tuple[str, ...] = ()) -> list[str]:
    """The lines that select a field: all values that need no argument, objects to a depth, none within itself."""
    indent = "  " * (len(within) + 1)
    named = g.get_named_type(kind)
    if g.is_leaf_type(named):
        return [indent + head]
    within = (*within, named.name)
    inner: list[str] = []
    for name, field in (named.fields if isinstance(named, _Object) else {}).items():
        other = g.get_named_type(field.type)
        is_free = not any(map(g.is_required_argument, field.args.values()))
        if is_free and (g.is_leaf_type(other) or (len(within) <= _DEEPEST and other.name not in within)):
            inner += _selection(name, field.type, within)
    return [f"{indent}{head} {{", *(inner or [f"{indent}  __typename"]), f"{indent}}}"]


def _sample(kind: g.GraphQLInputType, depth: int) -> Any:
    kind = g.get_nullable_type(kind)  # type: ignore[assignment]
    if isinstance(kind, g.GraphQLList):
        return [_sample(kind.of_type, depth)]
    if isinstance(kind, g.GraphQLInputObjectType):
        fields = {key: f for key, f in kind.fields.items() if g.is_required_input_field(f) or not depth}
        return {key: _sample(f.type, depth + 1) for key, f in fields.items()} if depth < _DEEPEST_INPUT else {}
    if isinstance(kind, g.GraphQLEnumType):
        return next(iter(kind.values))
    return _SCALARS.get(g.get_named_type(kind).name, "text")
