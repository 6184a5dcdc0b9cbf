"""The numbers that an audit file may hold: finite, no booleans, no text, none larger or smaller than any measurement."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, Strict

LARGEST = 10**15
SMALLEST = 1e-15  # ratios of two figures stay finite


def _not_tiny(value: float) -> float:
    if 0 < value < SMALLEST:
        raise ValueError(f"{value:g} is smaller than any measurement: use 0 for a figure that was rounded down")
    return value


Latency = Annotated[float, Strict(), Field(ge=0, le=LARGEST, allow_inf_nan=False), AfterValidator(_not_tiny)]
Positive = Annotated[float, Strict(), Field(gt=0, le=LARGEST, allow_inf_nan=False), AfterValidator(_not_tiny)]
Rate = Latency  # 0: rounded down by the tool, or nothing arrived
Count = Annotated[int, Strict(), Field(ge=1, le=LARGEST)]


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"the range {bounds[0]:g} to {bounds[1]:g} is reversed: write the lower bound first")
    return bounds


Range = Annotated[tuple[Positive, Positive], AfterValidator(_ascending)]
