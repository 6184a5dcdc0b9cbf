"""The description of published figures that `orch audit` reads; `experiments/audits/schema.json` is generated from it.

Latencies are milliseconds, sizes bytes, rates per second. A row is one line of a published table; a claim is a sentence
of the publication, with a `test` that says in figures what the sentence says.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, model_validator

Statistic = Literal["min", "mean", "median", "p95", "p99", "max", "sd", "cv", "throughput_per_s"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Stated(_Part):
    """What the publication says of its method. It is not always what its code did."""

    requests: PositiveInt | None = None
    repeats: PositiveInt | None = None
    mode: Literal["sequential", "closed loop", "open loop", "stream"] | None = None
    machine: str | None = Field(None, description="machine type, e.g. f1-micro: its documented network cap is used")
    aggregate: str | None = Field(None, description="how figures were put together, e.g. average of runs")
    network: str | None = None
    notes: tuple[str, ...] = ()


class PlacementFact(_Part):
    """A distance, and the round-trip time that the publication itself gives for it."""

    name: str
    ping_ms: PositiveFloat | None = Field(None, description="mean round-trip time of ping, as published")
    link_mbit: PositiveFloat | None = Field(None, description="what the link can carry, where known")


class Row(_Part):
    """One line of a published table."""

    name: str = Field(description="how claims refer to it; unique in the file")
    protocol: str | None = None
    operation: str | None = None
    placement: str | None = None
    connection: Literal["reuse", "per-request"] | None = Field(None, description="connection policy, where stated")
    measures: Literal["latency", "gap"] = Field(
        "latency", description="gap: time between arrivals, which is no latency"
    )
    concurrency: PositiveInt | None = None
    batch: PositiveInt | None = Field(None, description="requests sent together before the first reply is awaited")
    samples: PositiveInt | None = Field(None, description="requests the figures summarise")
    request_bytes: PositiveInt | None = Field(None, description="a body as it travels: encoded, compressed if it is")
    reply_bytes: PositiveInt | None = Field(None, description="likewise")
    min: PositiveFloat | None = None
    mean: PositiveFloat | None = None
    median: PositiveFloat | None = None
    p95: PositiveFloat | None = None
    p99: PositiveFloat | None = None
    max: PositiveFloat | None = None
    sd: PositiveFloat | None = None
    throughput_per_s: PositiveFloat | None = None
    offered_per_s: PositiveFloat | None = None
    delivered_per_s: PositiveFloat | None = None
    missing: str | None = Field(None, description="why the publication has no figures for this row")

    def value(self, statistic: Statistic) -> float | None:
        """That figure of the row, the coefficient of variation computed; None where it was not published."""
        if statistic == "cv":
            return self.sd / self.mean if self.sd and self.mean else None
        found = getattr(self, statistic)
        return float(found) if found is not None else None

    @property
    def centre(self) -> float | None:
        """The median where published, else the mean."""
        return self.median or self.mean


class Faster(_Part):
    """Each pair's left row beats its right row in `statistic`, by a percentage between `percent`'s bounds where given.

    Latencies are better when lower, throughput when higher.
    """

    kind: Literal["faster"]
    pairs: tuple[tuple[str, str], ...] = Field(min_length=1)
    statistic: Statistic = "mean"
    percent: tuple[PositiveFloat, PositiveFloat] | None = None


class Times(_Part):
    """The row's figure is `factor` times that of `of`."""

    kind: Literal["times"]
    row: str
    of: str
    factor: PositiveFloat
    statistic: Statistic = "mean"


class Lowest(_Part):
    """The row has the lowest `statistic` of all rows; `other` names a second statistic a reader may have meant."""

    kind: Literal["lowest"]
    row: str
    statistic: Statistic = "sd"
    other: Statistic | None = None


class Size(_Part):
    """`message`, encoded by `codec`, takes so many bytes."""

    kind: Literal["size"]
    codec: Literal["json", "cbor", "msgpack"]
    message: dict[str, Any]
    bytes: PositiveInt


class DeliversAll(_Part):
    """Every event that was offered arrived."""

    kind: Literal["delivers-all"]
    rows: tuple[str, ...] = Field(min_length=1)


class Peak(_Part):
    """Each group's highest throughput lies near a figure (within a tenth)."""

    kind: Literal["peak"]
    groups: tuple[tuple[str, ...], ...] = Field(min_length=1)
    throughput_per_s: PositiveFloat


class LargerEffect(_Part):
    """The factor between the first pair is larger than that between the second."""

    kind: Literal["larger-effect"]
    first: tuple[str, str]
    second: tuple[str, str]
    statistic: Statistic = "throughput_per_s"


class Multiple(_Part):
    """`factor` times the row's figure is `equals` milliseconds."""

    kind: Literal["multiple"]
    row: str
    factor: PositiveFloat
    equals: PositiveFloat
    statistic: Statistic = "mean"


class Connections(_Part):
    """These rows open a connection per request, or keep one: shown by the round trips a call takes."""

    kind: Literal["connections"]
    rows: tuple[str, ...] = Field(min_length=1)
    policy: Literal["reuse", "per-request"]


Test = Annotated[
    Faster | Times | Lowest | Size | DeliversAll | Peak | LargerEffect | Multiple | Connections,
    Field(discriminator="kind"),
]

# The kinds by name: pydantic puts them into the path of an error, where the file has no such key.
KINDS = frozenset(
    {"faster", "times", "lowest", "size", "delivers-all", "peak", "larger-effect", "multiple", "connections"}
)


class Claim(_Part):
    """A sentence of the publication; `tests` say it in figures, and all must hold. Without one it can't be told."""

    text: str
    tests: tuple[Test, ...] = ()


class AuditFile(_Part):
    """Published figures and the claims made from them."""

    title: str
    source: str | None = None
    stated: Stated = Stated()
    placements: tuple[PlacementFact, ...] = ()
    results: tuple[Row, ...] = ()
    claims: tuple[Claim, ...] = ()

    @model_validator(mode="after")
    def _names_resolve(self) -> AuditFile:
        names = [row.name for row in self.results]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two results are named {', '.join(twice)}")
        known = set(names)
        for claim in self.claims:
            for test in claim.tests:
                unknown = sorted(set(rows_of(test)) - known)
                if unknown:
                    raise ValueError(f"the claim {claim.text!r} names no result of this file: {', '.join(unknown)}")
        placements = {p.name for p in self.placements}
        for row in self.results:
            if row.placement and row.placement not in placements:
                raise ValueError(f"result {row.name}: placement {row.placement} is not among the file's placements")
        return self

    def row(self, name: str) -> Row:
        """The result of that name."""
        return next(row for row in self.results if row.name == name)

    def placement(self, row: Row) -> PlacementFact | None:
        """Where a row was measured."""
        return next((p for p in self.placements if p.name == row.placement), None)


def rows_of(test: Test) -> tuple[str, ...]:
    """The results a test reads, by name."""
    match test:
        case Faster():
            return tuple(name for pair in test.pairs for name in pair)
        case Times():
            return (test.row, test.of)
        case Lowest() | Multiple():
            return (test.row,)
        case Size():
            return ()
        case DeliversAll() | Connections():
            return test.rows
        case Peak():
            return tuple(name for group in test.groups for name in group)
        case LargerEffect():
            return (*test.first, *test.second)
