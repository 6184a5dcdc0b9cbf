"""Lines of the process contract (`protos/process.md`) as they are heard: each becomes its type, or is refused.

What the ends print comes from programs that need not be ours. The types and the strict decoder belong to
`services.python.contract`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from services.python.contract.strict import Line, parse, read_line

Heard = TypeVar("Heard", bound=Line)


def heard(kind: type[Heard], text: str, writer: str) -> Heard:
    """What the `writer` printed as a line of that type; ValueError says what is wrong with it."""
    line: Heard = any_of((kind,), text, writer)
    return line


def any_of(kinds: tuple[type[Any], ...], text: str, writer: str) -> Any:
    """A line of one of these types; ValueError as `heard`."""
    try:
        raw = parse(text)
    except ValueError as error:
        raise ValueError(f"the {writer} printed something that is no JSON object ({error}): {text!r:.200}") from error
    return read_line(kinds, raw, reader="orchestrator", writer=writer)
