"""The numbers that an audit file may hold: finite, no booleans, no text, none larger than any measurement."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, Strict

LARGEST = 10**15

Latency = Annotated[float, Strict(), Field(ge=0, le=LARGEST, allow_inf_nan=False)]  # 0: rounded down by the tool
Positive = Annotated[float, Strict(), Field(gt=0, le=LARGEST, allow_inf_nan=False)]
Rate = Annotated[float, Strict(), Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Count = Annotated[int, Strict(), Field(ge=1, le=LARGEST)]


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"the range {bounds[0]:g} to {bounds[1]:g} is reversed: write the lower bound first")
    return bounds


Range = Annotated[tuple[Positive, Positive], AfterValidator(_ascending)]
