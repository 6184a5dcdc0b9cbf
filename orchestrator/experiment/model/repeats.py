"""How often an experiment is repeated: a number of blocks, or until intervals are as narrow as wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, model_validator
from pydantic_core import CoreSchema, core_schema

from orchestrator.experiment.model.base import Strict
from orchestrator.experiment.read.fields import Margin

FEWEST = 3  # blocks that an interval needs
MOST = 1000


class UntilSpec(Strict):
    """Blocks go on until the interval of every comparison is as narrow as wanted, or the limit is reached."""

    until: Annotated[
        Margin,
        Field(description="How far the interval of each ratio may reach to either side of it, from 0.1 % on."),
    ]
    at_most: Annotated[int, Field(description="The most blocks, however wide intervals are.")]
    at_least: Annotated[int, Field(description="So many blocks are made before intervals are looked at.")] = FEWEST

    @model_validator(mode="after")
    def _room_to_choose(self) -> UntilSpec:
        if not FEWEST < self.at_most <= MOST:
            raise ValueError(f"`at_most` is {self.at_most}: give the most blocks, {FEWEST + 1} to {MOST:,}, such as 30")
        if self.at_least < FEWEST:
            raise ValueError(f"`at_least` is {self.at_least}, and an interval needs {FEWEST} blocks")
        if self.at_least >= self.at_most:
            raise ValueError(
                f"`at_least` ({self.at_least}) must be below `at_most` ({self.at_most}): there is nothing to choose;"
                f" write `repeats: {self.at_most}`"
            )
        return self


class _FixedOrUntil:
    """Marks `UntilSpec` as what may also be a number of blocks; faults are told of the form that was written."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._read, handler(UntilSpec))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [_BLOCKS.json_schema(), handler(schema)]}

    @staticmethod
    def _read(value: Any, until: Callable[[Any], UntilSpec]) -> int | UntilSpec:
        return until(value) if isinstance(value, dict | UntilSpec) else _BLOCKS.validate_python(value)


_BLOCKS: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=1, le=MOST, strict=True)])

Repeats = Annotated[int | UntilSpec, _FixedOrUntil()]
