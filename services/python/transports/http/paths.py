"""What a protocol carried by HTTP answers at its paths, for every framework: all that one knows of an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from services.python.contract.strict import Part, part


@part
class Path(Part):
    """What a path answers: `read` makes the request of body and query, `write` the body of the reply.

    `errors` are what `read` and the operation raise for a request that is none: it gets a 400.
    """

    operation: str
    read: Callable[[bytes, bytes], Mapping[str, Any]]
    write: Callable[[Mapping[str, Any]], bytes]
    media_type: str
    errors: tuple[type[Exception], ...] = (KeyError, ValueError)


Paths: TypeAlias = Mapping[str, Path]


def refusal(error: Exception) -> str:
    """Why a request is refused, in the body of the reply."""
    return f"{type(error).__name__}: {error}"
