"""What an experiment file may say. Pydantic checks each value; `plan.rules` whether they make sense together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)

from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model import options as parts
from orchestrator.experiment.model.factor import Factor, Numbers
from orchestrator.experiment.model.factors import FACTORS, OF_THE_CALL, STACK
from orchestrator.experiment.model.host_rules import MOST_TTL_S
from orchestrator.experiment.model.own_services import Data, OwnCallSpec, Services, Text
from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE, WITH_MACHINES, ProviderName
from orchestrator.experiment.read import units
from orchestrator.experiment.read.fields import Duration, Margin, Money, OneOrMany, Rate, Share, Shorthand, Size, one_of
from orchestrator.experiment.read.problems import shown

MOST_EXCLUDED = 200
MOST_STEPS = 100
_SHARE = "share"  # the key of a mix's item that is no operation
_TINY_SHARE = 5e-7
Model = TypeVar("Model", bound=parts.Strict)
_COMPARED_BY: Any = Literal.__getitem__((STACK, *(factor.name for factor in FACTORS)))
_OF_KIND: dict[str, Any] = {"name": parts.Short, "bytes": Size, "count": int, "rate": Rate, "time": Duration}


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
    or_words = f", or {', '.join(levels)}" if levels else ""
    if numbers.measure == "count" and type(value) is not int:
        raise ValueError(f"'{shown(value)}' is not a whole number{or_words}")
    try:
        number = value if numbers.measure == "count" else _whole(numbers.measure, value)
    except ValueError as error:
        raise ValueError(f"{error}{or_words}") from None
    if not numbers.least <= number <= numbers.most:
        why = f" ({numbers.why})" if numbers.why else ""
        least, most = (
            (f"{n:,} B" if numbers.measure == "size" else numbers.text(n)) for n in (numbers.least, numbers.most)
        )
        raise ValueError(f"must be from {least} to {most}{why}{or_words}; it is '{value}'")
    return number


_QUANTITIES = {
    "size": (units.SIZE, 1, "of bytes"),
    "time": (units.DURATION, 1000, "of milliseconds"),
    "rate": (units.RATE, 1, "a second"),
}
"""By the measure of a factor: how a file writes it, its number of each base unit, and what that counts."""


def _whole(measure: str, value: Any) -> int:
    quantity, scale, unit = _QUANTITIES[measure]
    exact = quantity.read(value) * scale
    if exact.denominator != 1:
        raise ValueError(f"'{value}' is not a whole number {unit}")
    return int(exact)


def _schema(levels: Sequence[str], numbers: Numbers) -> dict[str, Any]:
    if numbers.measure == "count":
        other: dict[str, Any] = {"type": "integer", "minimum": numbers.least, "maximum": numbers.most}
    else:
        other = {"type": "string", "pattern": _QUANTITIES[numbers.measure][0].pattern}
    return {"anyOf": [{"type": "string", "enum": list(levels)}, other]} if levels else other


def _with(keys: Mapping[str, Any]) -> Callable[[type[Model]], type[Model]]:
    """Adds keys to a model, each with its type and its default."""

    def add(model: type[Model]) -> type[Model]:
        own: Any = {key: field for key, field in keys.items() if key not in model.model_fields}
        return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **own)

    return add


def _one_or_many(factor: Factor) -> Any:
    many: Any = OneOrMany  # a type that is only known here: no checker can follow it
    return many[level_or_number(factor) if factor.levels or factor.numbers else _OF_KIND[factor.kind]]


def _described(factor: Factor, kind: Any, words: str = "") -> Any:
    return Annotated[kind, Field(description=f"{factor.description}{words}.")]


@_with(
    {
        factor.name: (
            _described(factor, _one_or_many(factor) | None, f"; the experiment's `{factor.name}` unless given"),
            None,
        )
        for factor in OF_THE_CALL
    }
)
class StackSpec(parts.Strict):
    """The server and the client. A protocol's name alone means its default implementation and client."""

    protocol: parts.Short = Field(
        "", examples=["all", *catalogue().protocols], description="The wire protocol; `orch services` lists them."
    )
    responder: OneOrMany[parts.Short] | None = Field(
        None, description="The implementation that answers; the protocol's first one unless given."
    )
    name: parts.Name | None = Field(None, description="What tables call a stack with a `service`.")
    service: parts.Name | None = Field(None, description="One of your own `services`, instead of a protocol.")
    call: OwnCallSpec | None = Field(None, description="How that service is called.")
    calls: dict[parts.Name, OwnCallSpec] = Field(
        default_factory=dict, description="The calls of `steps` by their names."
    )
    steps: list[parts.Name] = Field(
        default_factory=list,
        max_length=MOST_STEPS,
        description="Names of `calls`, made one after the other on one connection as one task.",
    )
    client: OneOrMany[parts.Short] | None = Field(
        None,
        examples=["native"],
        description="The client library; by default a thin one that suits the requests in flight."
        " `native`: the first of the protocol's compiled ones that is built here.",
    )

    @model_validator(mode="after")
    def _protocol_or_service(self) -> StackSpec:
        if self.service is None and (given := self.model_fields_set & {"name", "call", "calls", "steps"}):
            raise ValueError(f"{', '.join(sorted(given))}: of a stack with a `service` of your own")
        if self.service is None and not self.protocol:
            raise ValueError("'protocol' is missing; or name a `service` of your own with its `call`")
        if self.service is not None and (self.protocol or self.responder):
            raise ValueError("a stack with a `service` has neither protocol nor responder")
        if self.service is not None and (self.call is None) != bool(self.calls and self.steps):
            raise ValueError(
                "a stack with a `service` has a `call`, or several `calls` and the `steps` they are made in"
            )
        if self.call is not None and (self.calls or self.steps or self.call.save):
            raise ValueError("`save`, `calls` and `steps` are of a stack with several calls, instead of `call`")
        return self


def _without_options() -> dict[str, Any]:
    """A key for every call of the catalogue that needs no payload: it takes no options."""
    return {
        operation.name: (
            Annotated[
                parts.PlainOptions | None,
                Field(description=f"{', '.join(operation.request)} in, {', '.join(operation.reply)} out."),
            ],
            None,
        )
        for operation in catalogue().operations.values()
        if operation.kind == "call" and "none" in operation.payloads
    }


_AS_OFFERED = {"exchange": "exchange_json"}  # manifests call the floor's own operation `exchange`


class _Operations(parts.Strict):
    """A key for each operation; exactly one is given."""

    timestamp: parts.PlainOptions | None = Field(None, description="A time stamp in, a time stamp out.")
    add: parts.PlainOptions | None = Field(None, description="Two numbers in, their sum out.")
    echo: parts.EchoOptions | None = Field(None, description="A payload in, the same payload out.")
    transfer: parts.TransferOptions | None = Field(
        None, description="Known bytes out, known bytes back, each way of its own size."
    )
    exchange: parts.ExchangeOptions | None = Field(None, description="Your own JSON out, other JSON of your own back.")
    image: parts.ImageOptions | None = Field(None, description="A picture in, its width and height out.")
    events: parts.EventsOptions | None = Field(None, description="A subscription in, events out at a rate.")
    activity: parts.StreamOptions | None = Field(
        None, description="A subscription in, the rows of the table of transactions out as events, at a rate."
    )
    evolution: parts.EvolutionOptions | None = Field(
        None, description="Records written with one schema and read with another; codecs alone."
    )

    @model_validator(mode="after")
    def _one_operation(self) -> _Operations:
        if len(self.model_fields_set - {_SHARE}) != 1:
            below = "" if _SHARE in type(self).model_fields else "; its load and warm-up belong below its name"
            raise ValueError(f"name one operation per list item{below}")
        return self

    @property
    def name(self) -> str:
        """Which operation it is."""
        return next(iter(self.model_fields_set - {_SHARE}))

    @property
    def names(self) -> tuple[str, ...]:
        """The operations that are requested, as manifests call them: of a mix all of them."""
        items = self.options.of if isinstance(self.options, MixOptions) else (self,)
        return tuple(_AS_OFFERED.get(item.name, item.name) for item in items)

    @property
    def options(self) -> parts.OptionsOfAny:
        """Its options."""
        options = getattr(self, self.name)
        assert isinstance(options, parts.OptionsOfAny)  # noqa: S101 - narrows the type
        return options


def _with_options(value: Any) -> Any:
    """An operation by its name alone, or with empty options, as one with the default options."""
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, dict):
        return {key: {} if options is None else options for key, options in value.items()}
    return value


@_with(_without_options())
class MixedSpec(_Operations):
    """One operation of a mix, and its share of the requests."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 2, "maxProperties": 2})

    share: Share = Field(gt=0, description="Of the requests, in whole hundredths of a per cent.")

    @model_validator(mode="after")
    def _can_be_mixed(self) -> MixedSpec:
        if {"load", "warmup", "calls"} & self.options.model_fields_set:
            raise ValueError(
                "load, warmup and calls are those of the whole mix: they do not belong below one of its operations"
            )
        return self


class MixOptions(parts.OptionsOfAny):
    """Several operations, each with its share of the requests; which one a request is of is drawn by the trial's seed."""

    of: Annotated[
        OneOrMany[Annotated[MixedSpec, BeforeValidator(_with_options)]],
        Field(min_length=2, max_length=20, description="The operations with their shares, 100 % together."),
    ]

    @field_validator("of")
    @classmethod
    def _all_of_it(cls, items: tuple[MixedSpec, ...]) -> tuple[MixedSpec, ...]:
        total = sum(item.share for item in items)
        if abs(total - 1) > _TINY_SHARE:
            raise ValueError(f"the shares are {100 * total:g} % together, not 100 %")
        return items


@_with(_without_options())
class OperationSpec(_Operations):
    """What each request does: one operation with its options, or a mix of several."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    mix: MixOptions | None = Field(
        None, description="Several operations in one load, each with its share of the requests."
    )


OPERATION_NAMES = tuple(name for name in OperationSpec.model_fields if name != "mix")


class _NamedAlone(Shorthand):
    def _expand(self, value: Any) -> Any:
        return _with_options(value)


@_with({factor.name: (_one_or_many(factor) | None, None) for factor in FACTORS if factor.is_excludable})
class ExcludeSpec(parts.Strict):
    """A part of the matrix to leave out: every cell that matches all the keys given."""


class LimitsSpec(parts.Strict):
    """What a run may use."""

    wall: parts.PositiveDuration = Field(2700.0, description="Wall time of the whole run.")
    cost: Money = Field(1.0, le=1_000_000, description="US dollars that the hosts may cost.")
    ttl: Annotated[Duration, AfterValidator(lambda seconds: float(math.ceil(seconds)))] = Field(
        7200.0, ge=1, le=MOST_TTL_S, description="After so long the hosts end themselves, whatever happens."
    )
    requests: Annotated[int, Field(ge=1)] = Field(
        100_000, description="That one service on another machine gets in all, which orch does not start."
    )
    rate: Rate = Field(
        1_000.0, description="The highest rate at which it gets them in an open loop; 1000/s unless given."
    )
    in_flight: Annotated[int, Field(ge=1)] = Field(
        16, description="How many of them may be under way in a closed loop, which sends as fast as replies come."
    )


def _one_line(text: str) -> str:
    """A question that was written over several lines, in one."""
    line = " ".join(text.split())
    if not line:
        raise ValueError("the text is empty")
    return line


@_with({factor.name: (_described(factor, _one_or_many(factor)), (factor.default,)) for factor in OF_THE_CALL})
class Experiment(parts.Strict):
    """One question about protocols, and how to measure the answer."""

    name: parts.Name = Field(description="A short name: lower-case letters, digits, - and _.")
    question: Annotated[
        str,
        AfterValidator(_one_line),
        Field(min_length=1, max_length=500, description="The question that the report answers."),
    ]
    provider: ProviderName = Field(
        THIS_MACHINE,
        description=f"Who makes the hosts: {', '.join(f'{p.title} ({p.name})' for p in PROVIDERS.values())}.",
    )
    machine: parts.Short | None = Field(
        None,
        description=" ".join(
            [
                f"{' and '.join(WITH_MACHINES)}: the machine type of every host.",
                *(p.about_machines for p in PROVIDERS.values() if p.about_machines),
            ]
        ),
    )
    hosts: dict[
        parts.Zone, Annotated[parts.OwnHostSpec, Shorthand("ssh", "What `ssh` takes, such as bench@10.0.0.5.")]
    ] = Field(default_factory=dict, description="ssh: your own machines by name.")
    inventory: parts.Short | None = Field(
        None, description="ssh: a file of Ansible's in place of `hosts`; groups `requesters`, `responders`, `stores`."
    )
    module: parts.Short | None = Field(None, description="terraform: the folder of your own Terraform module.")
    state: parts.Short | None = Field(
        None,
        description="ssh: the folder in which Terraform ran, or a state's file, whose output `hosts` takes the place of"
        " `hosts`.",
    )
    pin: OneOrMany[Literal["apart", "together", "off"]] = Field(
        ("apart",),
        description="local: pin the two ends to different CPUs, to the same one, or not at all. Of a list, each is a"
        " placement of its own.",
    )
    stability: bool = Field(False, description="Say which stack is the most predictable, too: by SD, IQR and p99/p50.")
    predict: parts.PredictSpec | None = Field(
        None, description="Fit the cost model, and test it on cells that are kept from the fit."
    )
    placements: OneOrMany[
        Annotated[
            parts.PlacementSpec,
            Shorthand("name", "local, same-zone or cross-region", ["local", "same-zone", "cross-region"]),
        ]
    ] = Field((parts.PlacementSpec(name="local"),), description="Where the two ends run.")
    distance: (
        Annotated[parts.DistanceSpec, Shorthand("rtt", "A round trip, such as 80ms.", types=(str, list))] | None
    ) = Field(None, description="How far apart the two ends are: each value of a list is a placement of its own.")
    stacks: OneOrMany[
        Annotated[StackSpec, Shorthand("protocol", "A protocol, with its default implementation and client.")]
    ] = Field(description="What is compared; `all` is every protocol that carries one of the operations.")
    services: Services = {}  # noqa: RUF012 - pydantic copies it
    data: Data | None = Field(None, description="Rows of values for the calls of your own services.")
    same: dict[parts.Name, Text] = Field(
        default_factory=dict,
        description="Your own services: values that all stacks must answer alike for a row, by their place in a reply.",
    )
    operations: OneOrMany[
        Annotated[OperationSpec, _NamedAlone("", "An operation with its default payload.", OPERATION_NAMES)]
    ] = Field((), description="What each request does; none where stacks call `services` of your own.")
    load: parts.LoadSpec = Field(
        parts.LoadSpec(), description="How requests are offered; 1,000 in a closed loop of one unless given."
    )
    warmup: parts.WarmupSpec = Field(
        parts.WarmupSpec(), description="What comes before the measured window of a trial."
    )
    timeout: parts.PositiveDuration = Field(30.0, description="A request without a reply by then has failed.")
    repeats: parts.Repeats = Field(
        5,
        description="Blocks: trials of every cell, in a balanced random order. A number, or `{until: 3%, at_most: 30}`:"
        " as many as intervals take that are so narrow.",
    )
    turn: parts.TurnLength = Field(
        parts.AUTO,
        description="Stacks take turns of so long on running ends, in place of one measured phase after the other."
        " auto: 10 ms, and longer where 20 requests take longer. off: one phase after the other.",
    )
    seed: int = Field(1, ge=0, lt=2**53, description="Of the schedule and the payloads.")
    compare_by: OneOrMany[_COMPARED_BY] = Field(
        (STACK,),
        description="What the question is about: cells that differ in it alone are compared. The stack, or one of the"
        " factors; or a list of them.",
    )
    reference: OneOrMany[parts.Short | int | float] | None = Field(
        None,
        description="What others are compared with: a stack (its protocol, or its label in `orch plan`), or a value of"
        " the factor in `compare_by`; several in a list. The first one unless given.",
    )
    control: bool = Field(
        False, description="Enter the reference stack twice more (A/A), to see what difference chance alone makes."
    )
    metric: parts.Metric = Field(
        "median", description="What the result is about: median latency, p99 latency, or requests answered a second."
    )
    matters: Margin = Field(
        0.05,
        description="The smallest difference that matters to you: two stacks are equal when the interval is below it.",
    )
    exclude: Annotated[
        OneOrMany[ExcludeSpec], Field(max_length=MOST_EXCLUDED, description="Parts of the matrix to leave out.")
    ] = ()
    limits: LimitsSpec = Field(
        LimitsSpec(), description="The most that a run may take: wall time, money, the life of its hosts."
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of experiment files, for editors, as `experiments/schema.json` holds it."""
    schema = Experiment.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "An orch experiment"}
