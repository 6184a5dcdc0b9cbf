"""What a description of a service becomes, whatever its format: a `Draft` of `DraftCall`s."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

SERVICE = "api"
MOST_CALLS = 10
JSON = re.compile(r"^application/([\w.+-]+\+)?json\b|^\*/\*")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class DraftCall:
    """A call that a description has."""

    name: str
    call: Mapping[str, Any]  # of a stack
    is_safe: bool  # it only reads, as far as its description says
    service: str = SERVICE
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # examples of each column that it names
    notes: Sequence[str] = ()
    document: str | None = None  # of GraphQL, which becomes a file


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The calls that an experiment starts with."""

    kind: str
    title: str
    calls: Sequence[DraftCall]
    total: int  # before some were left out
    services: Mapping[str, str]  # where each answers, empty where that is not known
    secrets: Collection[str] = ()  # variables of the environment
    files: Mapping[str, bytes] = field(default_factory=dict)


def shortlist(items: Iterable[Item], is_safe: Callable[[Item], bool]) -> list[Item]:
    """Return the first few, those that only read before others."""
    return sorted(items, key=lambda item: not is_safe(item))[:MOST_CALLS]


def column(name: str) -> str:
    """Return a name as templates have it."""
    word = re.sub(r"\W+", "_", name).strip("_") or "value"
    return f"_{word}" if word[0].isdigit() else word


def slug(name: str) -> str:
    """Return a text as the name of a stack."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-_")[:40].rstrip("-_") or "call"


def http_call(method: str, path: str, *, media_types: Iterable[str] = (), **others: Any) -> dict[str, Any]:
    """Return a call by HTTP; keys without a value are left out. `media_types`: of its reply, where they are known."""
    call = {"http": f"{method} {path}", **{key: value for key, value in others.items() if value}}
    known = list(filter(None, media_types))
    return call if not known or any(map(JSON.match, known)) else {**call, "decode": False}
