"""The description of published figures that `orch audit` reads; `experiments/audits/schema.json` is generated from it.

Latencies are milliseconds, sizes bytes, rates per second. A row is one line of a published table; a claim is a sentence
of the publication, with a `test` that says in figures what the sentence says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from orchestrator.audit.claim_forms import (
    KINDS,
    Claim,
    Count,
    Latency,
    Part,
    Policy,
    Positive,
    Rate,
    Statistic,
    rows_of,
)
from orchestrator.experiment.read import tree
from orchestrator.experiment.read.problems import ExperimentError, Problem

# Rows are compared with each other; a published table has a few dozen.
MOST_ROWS = 200


class MisplacedError(ValueError):
    """What is wrong between parts of a file, with the path of the part at fault."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


class Percentiles(Part):
    """Where percentiles come from; without this they are taken for order statistics of all samples."""

    source: Literal["samples", "histogram", "sketch", "averaged"] = Field(
        "samples",
        description="histogram: interpolated within buckets (Prometheus); sketch: HDR, t-digest, DDSketch; "
        "averaged: of several hosts' or intervals' percentiles",
    )
    buckets_ms: tuple[Positive, ...] | None = Field(None, min_length=1, description="the buckets' upper bounds")
    relative_error: Annotated[float, Field(strict=True, gt=0, lt=1)] | None = Field(
        None, description="what a sketch may be off by, as a share: 0.001 for HDR with three digits"
    )
    digits: Annotated[int, Field(strict=True, ge=1, le=15)] | None = Field(
        None, description="significant digits the tool rounds to: Locust keeps 2"
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        bounds = self.buckets_ms or ()
        if list(bounds) != sorted(set(bounds)):
            raise ValueError("the buckets' upper bounds must ascend, each given once")
        return self


class Method(Part):
    """How figures came about: for the whole file under `stated`, or for one row in that row."""

    duration_s: Positive | None = Field(None, description="how long one measurement took, in seconds")
    arrivals: Literal["constant", "poisson"] | None = Field(None, description="how an open loop spaces its requests")
    delivery: Literal["at-most-once", "at-least-once", "exactly-once"] | None = Field(
        None, description="what the transport promises; at-least-once may deliver an event twice"
    )
    percentiles: Percentiles | None = None
    spread: Literal["requests", "runs"] | None = Field(
        None, description="what the SD is over: requests, or runs' means"
    )
    corrected: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="latencies were corrected for coordinated omission, as wrk and wrk2 do"
    )
    connecting: Literal["included", "excluded"] | None = Field(
        None,
        description="whether latencies include opening the connection: k6 leaves it out of http_req_duration, and it "
        "costs nothing ahead of time, by 0-RTT or Fast Open",
    )
    clients: Count | None = Field(
        None, description="load generators whose rates are added up, each with `concurrency` in flight"
    )
    compressed: Annotated[bool, Field(strict=True)] | None = Field(
        None, description="bodies travel smaller than their sizes say: compressed, or not at all (304 Not Modified)"
    )
    links: Count | None = Field(None, description="links or hosts that share the load, each as fast as `link_mbit`")
    replies: Literal["far", "nearer"] | None = Field(
        None, description="nearer: from a cache, an edge or a proxy on this side of the distance"
    )
    failures: Literal["counted", "left out"] | None = Field(
        None, description="counted: calls that failed, maybe at once, are among the figures, which then support nothing"
    )
    pipelined: Annotated[bool, Field(strict=True)] | None = Field(
        None,
        description="several requests at once on a connection (multiplexed, asynchronous), `batch` does not say how many",
    )
    medium: Literal["fibre", "radio"] | None = Field(
        None, description="radio: the way is not fibre (microwave, satellites, lasers), and light in a vacuum counts"
    )
    resolution_ms: Positive | None = Field(
        None, description="figures are multiples of it: siege prints hundredths of a second"
    )


class Stated(Method):
    """What the publication says of its method. It is not always what its code did."""

    tool: str | None = Field(None, description="the load generator: what is known of its figures counts")
    requests: Count | None = None
    repeats: Count | None = None
    mode: Literal["sequential", "closed loop", "open loop", "stream"] | None = None
    machine: str | None = Field(None, description="machine type, e.g. f1-micro: its documented network cap is used")
    aggregate: str | None = Field(None, description="how figures were put together, e.g. average of runs")
    network: str | None = None
    notes: tuple[str, ...] = Field((), description="for readers: no rule reads them")


class PlacementFact(Part):
    """A distance, and the round-trip time that the publication itself gives for it."""

    name: str
    ping_ms: Latency | None = Field(None, description="mean round-trip time of ping, as published")
    link_mbit: Positive | None = Field(None, description="what the link can carry, where known")
    distance_km: Positive | None = Field(None, description="between the two ends, along the great circle or the cable")


class Row(Method):
    """One line of a published table."""

    name: str = Field(description="how claims refer to it; unique in the file")
    protocol: str | None = None
    operation: str | None = None
    placement: str | None = None
    connection: Policy | None = Field(None, description="connection policy, where stated")
    measures: Literal["latency", "gap"] = Field(
        "latency", description="gap: time between arrivals, which is no latency"
    )
    concurrency: Count | None = None
    batch: Count | None = Field(
        None, description="requests sent together before the first reply is awaited (pipeline depth), or in one call"
    )
    distance_km: Positive | None = Field(None, description="between the two ends, where the placement does not say")
    samples: Count | None = Field(None, description="requests the figures summarise")
    errors: Annotated[int, Field(strict=True, ge=0)] | None = Field(
        None, description="requests without a successful reply, e.g. wrk's `Non-2xx or 3xx responses`"
    )
    request_bytes: Count | None = Field(None, description="a body as it travels: encoded, compressed if it is")
    reply_bytes: Count | None = Field(None, description="likewise")
    min: Latency | None = None
    p10: Latency | None = None
    p25: Latency | None = None
    mean: Latency | None = None
    median: Latency | None = None
    p75: Latency | None = None
    p90: Latency | None = None
    p95: Latency | None = None
    p99: Latency | None = None
    p999: Latency | None = Field(None, description="the 99.9th percentile")
    p9999: Latency | None = Field(None, description="the 99.99th percentile")
    max: Latency | None = None
    sd: Latency | None = None
    throughput_per_s: Positive | None = None
    offered_per_s: Positive | None = None
    delivered_per_s: Rate | None = None
    missing: str | None = Field(None, description="for readers: why the publication has no figures for this row")

    def value(self, statistic: Statistic) -> float | None:
        """That figure of the row; None where it was not published."""
        figure = getattr(self, statistic)
        return float(figure) if figure is not None else None

    @property
    def centre(self) -> float | None:
        """The median where published, else the mean."""
        return self.median if self.median is not None else self.mean


class AuditFile(Part):
    """Published figures and the claims made from them."""

    title: str
    source: str | None = None
    stated: Stated = Stated()
    placements: tuple[PlacementFact, ...] = Field((), max_length=MOST_ROWS)
    results: tuple[Row, ...] = Field((), max_length=MOST_ROWS)
    claims: tuple[Claim, ...] = Field((), max_length=MOST_ROWS)

    @model_validator(mode="after")
    def _names_resolve(self) -> AuditFile:
        placements = _unique("placements", [p.name for p in self.placements])
        results = _unique("results", [row.name for row in self.results])
        for number, row in enumerate(self.results):
            if row.placement and row.placement not in placements:
                message = f"result {row.name}: placement {row.placement} is not among the file's placements"
                raise MisplacedError(("results", number, "placement"), message)
        for number, claim in enumerate(self.claims):
            for which, test in enumerate(claim.tests):
                unknown = sorted(set(rows_of(test)) - results)
                if unknown:
                    message = f"the claim {claim.text!r} names no result of this file: {', '.join(unknown)}"
                    raise MisplacedError(("claims", number, "tests", which), message)
        return self

    def row(self, name: str) -> Row:
        """The result of that name."""
        return next(row for row in self.results if row.name == name)

    def placement(self, row: Row) -> PlacementFact | None:
        """Where a row was measured."""
        return next((p for p in self.placements if p.name == row.placement), None)


def _unique(part: str, names: list[str]) -> set[str]:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise MisplacedError((part, number, "name"), f"two {part} are named {name}")
    return set(names)


def read(path: Path) -> AuditFile:
    """The file's figures and claims; ExperimentError (exit 2) names each problem as file:line:column."""
    root = tree.read(path)
    try:
        return AuditFile.model_validate(root.plain())
    except ValidationError as error:
        problems = []
        for detail in error.errors(include_url=False):
            cause = detail.get("ctx", {}).get("error")
            at = cause.path if isinstance(cause, MisplacedError) else detail["loc"]
            steps = [step for step in at if step not in KINDS]
            _, mark = root.find(steps)
            where = "" if isinstance(cause, MisplacedError) else ".".join(str(step) for step in steps)
            message = detail["msg"].removeprefix("Value error, ")
            problems.append(Problem(mark, f"{where}: {message}" if where else message))
        raise ExperimentError(problems) from error


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of audit files, for editors, as `experiments/audits/schema.json` has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Published figures for orch audit",
        **AuditFile.model_json_schema(),
    }
