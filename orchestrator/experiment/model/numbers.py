"""The keys of an experiment file whose value is one of a few words, or a whole number with its unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from orchestrator.experiment.model.factor import Factor
from orchestrator.experiment.model.levels import Numbers
from orchestrator.experiment.read import units
from orchestrator.experiment.read.fields import one_of
from orchestrator.experiment.read.problems import shown

_ROUNDING = 1e-6  # of a duration in seconds, as a float, in milliseconds


def level_or_number(factor: Factor) -> Any:
    """The type of such a value: a word stays a text, everything else becomes a number in bytes, milliseconds or pieces."""
    levels, numbers = [level.value for level in factor.levels], factor.numbers
    if numbers is None:
        return one_of(levels)
    return Annotated[
        str | int, PlainValidator(partial(_read, tuple(levels), numbers)), WithJsonSchema(_schema(levels, numbers))
    ]


def _read(levels: tuple[str, ...], numbers: Numbers, value: Any) -> str | int:
    if value in levels:
        return str(value)
    words = ", ".join(levels)
    neither, or_words = (f"neither {words} nor", f", or {words}") if levels else ("not", "")
    if numbers.measure != "count":
        try:
            number = _READ[numbers.measure](value)
        except ValueError as error:
            raise ValueError(f"{error}{or_words}") from None
    elif type(value) is int:
        number = value
    else:
        raise ValueError(f"'{shown(value)}' is {neither} a whole number")
    if not numbers.least <= number <= numbers.most:
        why = f" ({numbers.why})" if numbers.why else ""
        least, most = (
            (f"{n:,} B" if numbers.measure == "size" else numbers.text(n)) for n in (numbers.least, numbers.most)
        )
        raise ValueError(f"must be from {least} to {most}{why}{or_words}; it is '{value}'")
    return number


def _milliseconds(value: Any) -> int:
    exact = units.parse_duration(value) * 1000
    if abs(exact - round(exact)) > _ROUNDING:
        raise ValueError(f"'{value}' is not a whole number of milliseconds")
    return round(exact)


def _whole_rate(value: Any) -> int:
    rate = units.parse_rate(value)
    if rate != int(rate):
        raise ValueError(f"'{value}' is not a whole number a second")
    return int(rate)


_READ: Mapping[str, Callable[[Any], int]] = {"size": units.parse_size, "time": _milliseconds, "rate": _whole_rate}
_PATTERNS = {"size": units.SIZE_PATTERN, "time": units.DURATION_PATTERN, "rate": units.RATE_PATTERN}


def _schema(levels: Sequence[str], numbers: Numbers) -> dict[str, Any]:
    if numbers.measure == "count":
        other: dict[str, Any] = {"type": "integer", "minimum": numbers.least, "maximum": numbers.most}
    else:
        other = {"type": "string", "pattern": _PATTERNS[numbers.measure]}
    return {"anyOf": [{"type": "string", "enum": list(levels)}, other]} if levels else other
