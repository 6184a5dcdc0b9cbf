"""Templates of a call: `{column}` is a value of the row, `${NAME}` a variable of the environment; other braces stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_PLACE = re.compile(r"\$\{(?P<secret>[A-Za-z_]\w*)\}|\{(?P<column>[A-Za-z_]\w*)(?P<number>:number)?\}")
HIDDEN = "***"
PLACEHOLDER = "0"  # what stands for a value that is saved from an earlier reply, until it is known


def columns(template: Any) -> Iterator[str]:
    """Yield the columns that a template names, a text or any JSON value with texts in it."""
    yield from (name for text in _texts(template) for name in _named(text, "column"))


def secrets(template: Any) -> Iterator[str]:
    """Yield the variables of the environment that a template names."""
    yield from (name for text in _texts(template) for name in _named(text, "secret"))


def render(
    template: Any, row: Mapping[str, Any], environment: Mapping[str, str], quote: Callable[[str], str] = str
) -> Any:
    """Return the template with its values; `quote` writes those that stand within a text. ValueError for no number.

    A text that is only `{column}` becomes the row's value, and only `{column:number}` its number; within a longer text
    both are text. KeyError names what neither the row nor the environment has.
    """
    if isinstance(template, dict):
        return {
            render(key, row, environment): render(value, row, environment, quote) for key, value in template.items()
        }
    if isinstance(template, list):
        return [render(item, row, environment, quote) for item in template]
    if not isinstance(template, str):
        return template
    whole = _PLACE.fullmatch(template)
    if whole is not None and whole["column"]:
        value = row[whole["column"]]
        if whole["number"]:
            return _number(value)
        if quote is str:
            return value
    return _PLACE.sub(lambda place: _value(place, row, environment, quote), template)


def is_place(text: str) -> bool:
    """Return whether a text is one column or secret alone."""
    return _PLACE.fullmatch(text) is not None


def written(value: Any) -> str:
    """Return a value as a text has it: JSON's words for true, false and null."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def hidden(text: str, template: Any, environment: Mapping[str, str]) -> str:
    """Return a text with `***` for the value of each secret that a template names."""
    for name in secrets(template):
        if value := environment.get(name):
            text = text.replace(value, HIDDEN)
    return text


def _value(
    place: re.Match[str], row: Mapping[str, Any], environment: Mapping[str, str], quote: Callable[[str], str]
) -> str:
    if place["secret"]:
        return environment[place["secret"]]
    return quote(written(row[place["column"]]))


def _number(value: Any) -> int | float:
    if isinstance(value, int | float):
        return value
    try:
        return int(value)
    except ValueError:
        return float(value)


def _texts(template: Any) -> Iterator[str]:
    if isinstance(template, str):
        yield template
    elif isinstance(template, dict):
        for key, value in template.items():
            yield from _texts(key)
            yield from _texts(value)
    elif isinstance(template, list):
        for item in template:
            yield from _texts(item)


def _named(text: str, group: str) -> Iterator[str]:
    yield from (place[group] for place in _PLACE.finditer(text) if place[group])
