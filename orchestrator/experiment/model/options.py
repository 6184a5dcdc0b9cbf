"""The parts of an experiment file: options of operations, loads and warm-ups, placements, repeats and predictions."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    TypeAdapter,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from orchestrator.experiment.model.goal import PATTERN, Goal, parse_goal
from orchestrator.experiment.model.host_rules import HOST_PATTERN, MOST_INITIAL_WINDOW, MOST_RTT_S
from orchestrator.experiment.providers import EMULATING
from orchestrator.experiment.read import units
from orchestrator.experiment.read.fields import BitRate, Duration, Margin, OneOrMany, Rate, Share, Size
from orchestrator.experiment.read.problems import shown
from services.python.contract.limits import MAX_PAYLOAD_BYTES, MOST_CALLS, SchemaChange

NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,39}$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Metric = Literal["median", "p99", "throughput"]
Zone = Annotated[str, Field(pattern=HOST_PATTERN, max_length=63)]
"""A zone, or the name of a host that the experiment gives."""


class Strict(BaseModel):
    """Nothing unknown, nothing converted, nothing changed afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OneOf(Strict):
    """A model that takes exactly one of its keys."""

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if len(self.model_fields_set) != 1:
            fields = type(self).model_fields
            raise ValueError(f"give one of {', '.join(field.alias or name for name, field in fields.items())}")
        return self


MAX_REQUESTS = 100_000_000
MAX_CONCURRENCY = 10_000
MOST_RECORDS = 700_000  # of some 90 bytes in JSON: within the largest payload
MOST_PER_S = 1_000_000
LONGEST_S = 604_800.0  # a week: no part of a measurement takes longer
Concurrency = Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)]
EventRate = Annotated[Rate, Field(gt=0, le=100_000)]
PayloadSize = Annotated[Size, Field(ge=1, le=MAX_PAYLOAD_BYTES)]
ThinkTime = Annotated[Duration, Field(le=LONGEST_S)]
PositiveDuration = Annotated[Duration, Field(gt=0, le=LONGEST_S)]
AUTO, OFF = "auto", "off"
SHORTEST_TURN_S, LONGEST_TURN_S = 0.01, 1.0


def _turn(value: object) -> float | str:
    if value in (AUTO, OFF):
        return str(value)
    length_s = units.DURATION.number(value)
    if not SHORTEST_TURN_S <= length_s <= LONGEST_TURN_S:
        raise ValueError(
            f"a turn of {shown(value)} is not from 10 ms to 1 s: shorter ones are mostly their own beginnings, in longer"
            " ones the machine changes"
        )
    return length_s


TurnLength = Annotated[
    float | str,
    PlainValidator(_turn),
    WithJsonSchema({"anyOf": [{"enum": [AUTO, OFF]}, {"type": "string", "pattern": units.DURATION.pattern}]}),
]
Requests = Annotated[int, Field(ge=1, le=MAX_REQUESTS)]
OfferedRate = Annotated[Rate, Field(gt=0, le=MOST_PER_S)]

_A_GOAL = {
    "type": "string",
    "pattern": PATTERN,
    "description": "A statistic of each trial, and what it must stay below.",
    "examples": ["p99 < 10ms", "errors < 0.1 %"],
}


class FindSpec(Strict):
    """A search for the highest rate of an open loop at which the goals hold."""

    highest: Literal["rate"] = Field(description="What is searched for: `rate`, that of an open loop.")
    goals: OneOrMany[Annotated[Goal, BeforeValidator(parse_goal), WithJsonSchema(_A_GOAL)]] = Field(
        alias="while",
        description="What must hold at a rate: p50, p90, p95, p99, p99.9 or max below a time, errors below a share of"
        " the requests; several in a list must all hold.",
    )
    lowest: OfferedRate | None = Field(
        None, alias="from", description="The lowest rate tried; unless given 10/s, or what `while` needs."
    )
    most: OfferedRate | None = Field(None, alias="to", description="The highest rate tried; 10000/s unless given.")
    within: Share | None = Field(
        None,
        ge=0.005,
        description="How close together the last two rates of a search lie; 2 % by default, at least 0.5 %.",
    )


Arrivals = Literal["poisson", "uniform"]
Thinking = Literal["constant", "exponential"]


class LoadSpec(Strict):
    """How requests are offered: in a closed loop of so many in flight, or in an open loop at a rate."""

    concurrency: OneOrMany[Concurrency] | None = Field(
        None,
        description="Requests in flight at once, 1 unless given; with a rate the most at once, unless given enough"
        " for replies that take half a second (8 to 256). Of a stream the number of clients.",
    )
    requests: Requests | None = Field(None, description="Measured requests of a trial.")
    duration: PositiveDuration | None = Field(None, description="Measure for so long; of a stream 10s unless given.")
    at_most: PositiveDuration | None = Field(None, description="End after so long even if `requests` are not reached.")
    rate: OneOrMany[OfferedRate] | None = Field(
        None, description="Open loop: start so many requests per second, whether or not earlier ones are answered."
    )
    arrivals: OneOrMany[Arrivals] | None = Field(
        None, description="How an open loop's requests are spaced; poisson unless given."
    )
    think: OneOrMany[ThinkTime] | None = Field(
        None,
        description="Closed loop: think time, for which each of those in flight rests before its next request; 0ms,"
        " none, unless given.",
    )
    thinking: OneOrMany[Thinking] | None = Field(
        None,
        description="Whether think times are all alike (constant), or drawn with that mean (exponential); constant"
        " unless given.",
    )
    find: FindSpec | None = Field(
        None, description="Open loop: search for the highest rate at which a goal holds, instead of a `rate`."
    )


class WarmupSpec(Strict):
    """Warm-up goes on until both are reached; it is measured, stored, and left out of the statistics."""

    requests: int | None = Field(
        None, ge=0, le=MAX_REQUESTS, description="At least so many requests; 500 unless given."
    )
    at_least: Duration | None = Field(None, le=LONGEST_S, description="At least so long; 2s unless given.")
    at_most: PositiveDuration | None = Field(None, description="End after so long all the same; 60s unless given.")


class OptionsOfAny(Strict):
    """Options that every operation takes."""

    load: LoadSpec | None = Field(
        None, description="This operation's own load; what it leaves out is the experiment's."
    )
    warmup: WarmupSpec | None = Field(
        None, description="This operation's own warm-up; what it leaves out is the experiment's."
    )


class PlainOptions(OptionsOfAny):
    """Options that every operation takes that is a call."""

    calls: OneOrMany[Annotated[int, Field(ge=1, le=MOST_CALLS)]] = Field(
        (1,),
        description="So many calls, one after the other on one connection, make one task: what is timed, counted and"
        " compared is the task. 1, a plain call, unless given.",
    )


class EchoOptions(PlainOptions):
    """What an echo carries: one of bytes, records, json; 100 B unless given."""

    bytes: OneOrMany[PayloadSize] | None = Field(None, description="So many pseudo-random bytes.")
    records: OneOrMany[Annotated[int, Field(ge=1, le=MOST_RECORDS)]] | None = Field(
        None, description="So many structured records."
    )
    json_file: str | None = Field(
        None, alias="json", min_length=1, max_length=1000, description="Your own JSON file, beside the experiment file."
    )

    @model_validator(mode="after")
    def _one_payload(self) -> EchoOptions:
        given = [name for name in ("bytes", "records", "json_file") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError("an echo carries one of bytes, records, json; list echo once per kind")
        return self


class TransferOptions(PlainOptions):
    """Known bytes out and known bytes back, each way of its own size; every request size with every reply size."""

    request: OneOrMany[PayloadSize] | None = Field(
        None, description="So many bytes in the request; 100 B unless given."
    )
    reply: OneOrMany[PayloadSize] | None = Field(None, description="So many bytes in the reply; 100 B unless given.")


class ExchangeOptions(PlainOptions):
    """A JSON document of your own out, another one back: a small request with the structured reply of your API."""

    request: str = Field(min_length=1, max_length=1000, description="The JSON file that is sent.")
    reply: str = Field(min_length=1, max_length=1000, description="The JSON file that is sent back.")


class EvolutionOptions(OptionsOfAny):
    """Records written with one schema and read with another; coded alone, by clients of kind codec."""

    schema_change: OneOrMany[SchemaChange] | None = Field(
        None,
        description="How the reader's schema differs from the writer's: not at all; by a field added to, or removed"
        " from, the reader's; one renamed, with an alias or without; one renumbered (another number or place), one"
        " widened (int to long), one retyped (number to text). All of them unless given.",
    )
    records: OneOrMany[Annotated[int, Field(ge=1, le=MOST_RECORDS)]] | None = Field(
        None, description="So many structured records in the message; 20 unless given."
    )


class ImageOptions(PlainOptions):
    """A picture made for the experiment, whose dimensions are returned."""

    bytes: OneOrMany[PayloadSize] | None = Field(None, description="The picture's size; 1.58 MB unless given.")
    decode: Literal["header", "full"] = Field("header", description="Read the header alone, or decode every pixel.")


class StreamOptions(OptionsOfAny):
    """A stream of events to each client; `load.concurrency` is the number of clients, `load.duration` how long."""

    per_second: OneOrMany[EventRate] | None = Field(
        None, description="So many events a second to each client; 100/s unless given."
    )


class EventsOptions(StreamOptions):
    """A stream of synthetic events to each client; `load.concurrency` is the number of clients, `load.duration` how long."""

    bytes: OneOrMany[PayloadSize] | None = Field(
        None, description="So many characters in each event; 100 B unless given."
    )


FEWEST = 3  # blocks that an interval needs
MOST = 1000


class UntilSpec(Strict):
    """Blocks go on until the interval of every comparison is as narrow as wanted, or the limit is reached."""

    until: Margin = Field(
        description="How far the interval of each ratio may reach to either side of it, from 0.1 % on."
    )
    at_most: int = Field(gt=FEWEST, le=MOST, description="The most blocks, however wide intervals are.")
    at_least: int = Field(FEWEST, ge=FEWEST, description="So many blocks are made before intervals are looked at.")


class _FixedOrUntil:
    """Marks `UntilSpec` as what may also be a number of blocks; faults name the form that was written."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(self._read, handler(UntilSpec))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"anyOf": [_BLOCKS.json_schema(), handler(schema)]}

    @staticmethod
    def _read(value: Any, until: Callable[[Any], UntilSpec]) -> int | UntilSpec:
        return until(value) if isinstance(value, dict | UntilSpec) else _BLOCKS.validate_python(value)


_BLOCKS: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=1, le=MOST, strict=True)])
Repeats = Annotated[int | UntilSpec, _FixedOrUntil()]


class PredictSpec(Strict):
    """How the cost model is tested: cells are chosen by the seed when the run is planned, and no fit sees them."""

    hold_out: Share = Field(
        0.2, ge=0.05, le=0.5, description="The share of each series that is kept from the fit: 5 to 50 %."
    )


_EMULATED = " and ".join(EMULATING)  # who makes a distance as wanted
_EACH = "of a list, each is a placement of its own"
_FROM = "The requester's zone, e.g. us-central1-a, or host."
_TO = "The responder's zone, e.g. us-west1-a, or host."
LINK_KEYS = ("rtt", "jitter", "rate", "loss", "initial_window")
"""What a link can be asked for, in the order in which names of placements tell them."""


class LinkSpec(Strict):
    """The distance between two zones. Each value of a list, or combination of several, makes a placement."""

    rtt: OneOrMany[Annotated[Duration, Field(le=MOST_RTT_S)]] | None = Field(
        None, description=f"{_EMULATED}: the round trip wanted between the two zones; {_EACH}."
    )
    jitter: OneOrMany[Annotated[Duration, Field(le=MOST_RTT_S)]] | None = Field(
        None, description=f"{_EMULATED}: the round trip varies evenly by up to so much either way; {_EACH}."
    )
    rate: OneOrMany[Annotated[BitRate, Field(gt=0, le=1_000_000_000)]] | None = Field(
        None, description=f"{_EMULATED}: the rate of each direction; {_EACH}."
    )
    loss: OneOrMany[Annotated[Share, Field(lt=1)]] | None = Field(
        None, description=f"{_EMULATED}: the share of packets lost in each direction; {_EACH}."
    )
    initial_window: OneOrMany[Annotated[int, Field(ge=1, le=MOST_INITIAL_WINDOW)]] | None = Field(
        None,
        description=f"{_EMULATED}: TCP's initial congestion window in both directions, in segments; the kernel's own,"
        f" 10 on Linux, unless given; {_EACH}.",
    )


class OwnHostSpec(Strict):
    """A machine of your own, or a container; a text is its `ssh`."""

    ssh: Short | None = Field(
        None, description="What you type after `ssh`: options and destination.", examples=["bench@10.0.0.5"]
    )
    container: Short | None = Field(
        None, description="In place of `ssh`: the name of a container of docker or podman.", examples=["shop-web-1"]
    )
    address: Short | None = Field(
        None, description="IPv4, on the measured network; what SSH reached, or the container's, unless given."
    )
    role: Literal["requester", "responder", "both", "store"] | None = Field(
        None, description="What it does; what its name says unless given."
    )
    folder: Short | None = Field(None, description="Where a run's folder is made; ~/.cache/orch unless given.")

    @model_validator(mode="after")
    def _one_way(self) -> OwnHostSpec:
        if (self.ssh is None) == (self.container is None):
            raise ValueError("a host has `ssh` or `container`: give one of them")
        shlex.split(self.ssh or "")  # ValueError for what is no words of a shell
        return self


class PlacementSpec(LinkSpec):
    """Where the two ends run. `from` is the requester's zone, `to` the responder's."""

    name: Name = Field(description="local, same-zone, cross-region, or a name of your own.")
    from_zone: Zone | None = Field(None, alias="from", description=_FROM)
    to_zone: Zone | None = Field(None, alias="to", description=_TO)


class ZonesSpec(Strict):
    """A pair of zones: `from` is the requester's, `to` the responder's."""

    from_zone: Zone = Field(alias="from", description=_FROM)
    to_zone: Zone = Field(alias="to", description=_TO)


class DistanceSpec(LinkSpec):
    """Distances measured in one run: every combination of the values given, or every pair of `zones`."""

    zones: OneOrMany[ZonesSpec] | None = Field(
        None, description="Pairs of zones, each as far apart as it is; in place of `rtt`."
    )

    @model_validator(mode="after")
    def _one_way(self) -> DistanceSpec:
        if (self.rtt is None) == (self.zones is None):
            raise ValueError("give either `rtt`, such as [1ms, 20ms, 50ms], or `zones`, pairs of `from` and `to`")
        return self


def most_blocks(repeats: int | UntilSpec) -> int:
    """Return how many blocks a schedule has room for."""
    return repeats.at_most if isinstance(repeats, UntilSpec) else repeats
