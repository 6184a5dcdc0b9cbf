"""Types of the experiment's fields: quantities with units, and values that may be one or many."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from orchestrator.experiment.read import units

T = TypeVar("T")

MOST_ITEMS = 1000  # of a list; more than any question has


def _quantity(kind: units.Quantity, read: Callable[[object], float], description: str, *examples: str) -> Any:
    schema = {"type": "string", "pattern": kind.pattern, "description": description, "examples": list(examples)}
    return BeforeValidator(read), WithJsonSchema(schema)


Size = Annotated[
    int,
    *_quantity(
        units.SIZE, units.parse_size, "A size with its unit: B, kB, MB, KiB, MiB.", "1.58 MB", "117 B", "64 KiB"
    ),
]
Duration = Annotated[
    float,
    *_quantity(
        units.DURATION, units.DURATION.number, "A duration with its unit: us, ms, s, m, h.", "60s", "45m", "500ms"
    ),
]
Rate = Annotated[float, *_quantity(units.RATE, units.RATE.number, "Requests per time.", "500/s", "30/min")]
BitRate = Annotated[
    float, *_quantity(units.BIT_RATE, units.BIT_RATE.number, "A link's rate.", "1 Gbit/s", "100 Mbit/s")
]
Money = Annotated[float, *_quantity(units.MONEY, units.MONEY.number, "US dollars.", "1.00 USD")]
Share = Annotated[float, *_quantity(units.SHARE, units.parse_share, "A share of all, in per cent.", "0.1 %")]
Margin = Annotated[float, *_quantity(units.SHARE, units.parse_margin, "A relative difference, in per cent.", "5 %")]


class _OneOrMany:
    """Marks a tuple that may be written as its single item; the JSON Schema offers both forms."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        several = core_schema.no_info_before_validator_function(self._as_tuple, handler(source))
        return core_schema.no_info_after_validator_function(self._each_once, several)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        several = handler(schema)
        return {"anyOf": [several["items"], {**several, "minItems": 1}]}

    @staticmethod
    def _as_tuple(value: Any) -> Any:
        if isinstance(value, tuple):
            return value
        if not isinstance(value, list):
            return (value,)
        if not value:
            raise ValueError("the list is empty; leave the key out for its default, or give a value")
        if len(value) > MOST_ITEMS:
            raise ValueError(f"the list has {len(value):,} items; it may have at most {MOST_ITEMS:,}")
        return tuple(value)

    @staticmethod
    def _each_once(values: Any) -> Any:
        """Quantities that are written differently may be the same: `64 KiB` and `65536 B`."""
        for index, value in enumerate(values):
            if value in values[:index]:
                raise ValueError(f"item {index + 1} of the list is given twice; every value of a list is its own cell")
        return values


OneOrMany = Annotated[tuple[T, ...], _OneOrMany()]


class Shorthand:
    """Marks a model that may be written as a single text, or as other values of these types: that of its key `key`."""

    def __init__(
        self, key: str, description: str, values: Sequence[str] = (), types: type | tuple[type, ...] = str
    ) -> None:
        self._key, self._types = key, types
        text: dict[str, Any] = {"type": "string", "description": description}
        if values:
            text["enum"] = list(values)
        self._schemas = [text] if types is str else [text, {"type": "array", "items": text}]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._expand, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [*self._schemas, handler(schema)]}

    def _expand(self, value: Any) -> Any:
        return {self._key: value} if isinstance(value, self._types) else value


def one_of(texts: Sequence[str]) -> Any:
    """The type of one of these texts; a number may be written as one: `http: 2`."""
    literal: Any = Literal.__getitem__(tuple(texts))

    def as_text(value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return f"{value:g}" if is_number else value

    numbers = [json.loads(text) for text in texts if re.fullmatch(r"[0-9.]+", text)]
    return Annotated[literal, BeforeValidator(as_text), WithJsonSchema({"enum": [*texts, *numbers]})]
