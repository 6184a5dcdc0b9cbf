"""The forms in which a sentence of a publication can be put so that it can be recomputed: the `tests` of a claim."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, model_validator

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


Policy = Literal["reuse", "per-request"]
Statistic = Literal[
    "min", "p10", "p25", "mean", "median", "p75", "p90", "p95", "p99", "p999", "p9999", "max", "sd",
    "throughput_per_s",
]  # fmt: skip


class Part(BaseModel):
    """A part of an audit file: unknown keys are refused, values stay as they were read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Compared(Part):
    """Each pair's left row is better (`slower`: worse) than its right row in `statistic`, by `percent` if given.

    Latencies and spreads are better when lower, throughput when higher.
    """

    kind: Literal["faster", "slower"]
    pairs: tuple[tuple[str, str], ...] = Field(min_length=1, max_length=200)
    statistic: Statistic = "mean"
    percent: Range | None = None

    @model_validator(mode="after")
    def _two_results(self) -> Compared:
        for left, right in self.pairs:
            if left == right:
                raise ValueError(f"{left} is compared with itself")
        return self


class Times(Part):
    """The row's figure is `factor` times that of `of`."""

    kind: Literal["times"]
    row: str
    of: str
    factor: Positive
    statistic: Statistic = "mean"


class Extreme(Part):
    """The row has the lowest or highest `statistic` of those measured alike."""

    kind: Literal["lowest", "highest"]
    row: str
    statistic: Statistic = "sd"
    among: tuple[str, ...] | None = Field(
        None, min_length=1, description="the rows compared; else those of the row's operation, placement and load"
    )


class Size(Part):
    """`message`, encoded by `codec`, takes so many bytes."""

    kind: Literal["size"]
    codec: Literal["json", "cbor", "msgpack"]
    message: Any = Field(description="a value of JSON: an object, a list, a text...")
    bytes: Count
    compressed: Annotated[bool, Field(strict=True)] = Field(
        False, description="the size is after compression, which no rule here recomputes"
    )


class DeliversAll(Part):
    """Every event that was offered arrived."""

    kind: Literal["delivers-all"]
    rows: tuple[str, ...] = Field(min_length=1)


class Figure(Part):
    """`factor` times each group's best figure lies near `equals` (within a tenth)."""

    kind: Literal["figure"]
    groups: tuple[Annotated[tuple[str, ...], Field(min_length=1)], ...] = Field(min_length=1)
    statistic: Statistic = "throughput_per_s"
    factor: Positive = 1.0
    equals: Positive


class LargerEffect(Part):
    """The first pair's left row is better than its right one, by a larger factor than lies between the second pair."""

    kind: Literal["larger-effect"]
    first: tuple[str, str]
    second: tuple[str, str]
    statistic: Statistic = "throughput_per_s"


class Connections(Part):
    """These rows open a connection per request, or keep one: shown by the round trips a call takes."""

    kind: Literal["connections"]
    rows: tuple[str, ...] = Field(min_length=1)
    policy: Policy


Test = Annotated[
    Compared | Times | Extreme | Size | DeliversAll | Figure | LargerEffect | Connections, Field(discriminator="kind")
]

KINDS = frozenset(
    kind for form in get_args(get_args(Test)[0]) for kind in get_args(form.model_fields["kind"].annotation)
)
"""The kinds by name: pydantic puts them into the path of an error, where the file has no such key."""


class Claim(Part):
    """A sentence of the publication; `tests` say it in figures, and all must hold. Without one it is undetermined."""

    text: str
    tests: tuple[Test, ...] = Field((), max_length=20)


def rows_of(test: Test) -> tuple[str, ...]:
    """The results a test reads, by name."""
    match test:
        case Compared():
            return tuple(name for pair in test.pairs for name in pair)
        case Times():
            return (test.row, test.of)
        case Extreme():
            return (test.row, *(name for name in test.among or () if name != test.row))
        case Size():
            return ()
        case DeliversAll() | Connections():
            return test.rows
        case Figure():
            return tuple(name for group in test.groups for name in group)
        case LargerEffect():
            return (*test.first, *test.second)
