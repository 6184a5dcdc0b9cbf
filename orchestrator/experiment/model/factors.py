"""What can differ between two cells: every factor once, and nowhere else.

A cell is a mapping from these names to values. The keys of experiment files, the matrix and its ids, `exclude`, the plan's
text, the manifest, the columns of samples, grouping, comparing and the report go through `FACTORS`; so do both end programs,
which are told of a factor that `reaches` them as a knob. So a new factor is one entry here, and what services do about it:
`docs/architecture.md` cites an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

from orchestrator.experiment.read.units import format_size

Value: TypeAlias = str | int | float | None
Values: TypeAlias = Mapping[str, Value]

BelongsTo = Literal["stack", "operation", "placement", "call", "load"]
Kind = Literal["name", "level", "count", "bytes", "rate", "text"]
Reach = Literal["program", "payload", "hosts", "connection", "load", "knob"]


@dataclass(frozen=True, kw_only=True)
class Level:
    """One value of a factor that has few, and what it is called.

    `words` follow "with" in a sentence ("connections kept open"), and so do `compared`, which are of one request ("a kept
    connection") and stand where two levels are compared; `shown` stands in a column of the plan, `said` in ids and names
    (the value itself, unless that says too little there).
    """

    value: str
    words: str
    compared: str
    shown: str
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One thing in which cells may differ.

    `belongs_to`: what fixes it. A factor of the stack, the operation, the placement or the load has the value of the
    part's `attribute` (`payload.size`: a key of a mapping; None where it is absent). One of the call is chosen for the
    whole experiment or for a stack, from `levels`, of which the first is the default; `description` explains its key.

    `reaches`: how the end programs learn of it. A `knob` is told to both where it is not the default, and a stack can
    have it if its protocol says so (`knobs` of its manifest), which also gives the reason where it cannot. Any other factor
    of the call is refused by what a responder or a client `refuses`.

    `compared_as` is how a sentence that compares values of the factor says one (`compared`). `varies_with` names the factors
    that differ wherever this one does: cells that differ in them and in this one "differ in this one alone".

    `column`: its column in samples files, if it has one. `is_excludable`: it is a key of `exclude`. `is_always_said`: ids,
    titles and sentences name it even where it has its default. `has_streams`: a stream can have another value of it than
    the default, too.
    """

    name: str
    title: str
    kind: Kind
    belongs_to: BelongsTo
    reaches: Reach
    unit: str = ""
    attribute: str = ""
    levels: tuple[Level, ...] = ()
    compared_as: str = "with {}"
    varies_with: tuple[str, ...] = ()
    description: str = ""
    column: str = ""
    is_excludable: bool = True
    is_always_said: bool = False
    has_streams: bool = False

    @property
    def default(self) -> Value:
        """The value where an experiment says nothing; None for what the parts of a cell fix."""
        return self.levels[0].value if self.levels else None

    def level(self, value: Value) -> Level:
        """The level of that value; one that is called by the value itself where a run of a later version has another."""
        known = next((level for level in self.levels if level.value == value), None)
        words = f"{self.title} {value}"
        return known or Level(value=str(value), words=words, compared=words, shown=str(value))

    def tag(self, value: Value) -> str:
        """A value in a list of values: `reuse`, or with the factor's title where the value alone tells nobody anything."""
        return str(value) if self.is_always_said else f"{self.title} {value}"

    def compared(self, value: Value) -> str:
        """A value where it is compared with another: `with a kept connection`, `at 10 kB`, `with 8 in flight`."""
        return self.compared_as.format(self.briefly(value))

    def briefly(self, value: Value) -> str:
        """A value without the words around it: `a kept connection`, `10 kB`."""
        if self.levels:
            return self.level(value).compared
        if self.kind == "bytes" and isinstance(value, int):
            return format_size(value)
        # A payload's label has the name of its operation, which is said elsewhere.
        return str(value).partition(" ")[2] or str(value) if self.kind == "text" else self.text(value)

    def names(self, value: Value) -> tuple[str, ...]:
        """What a person may call the value in an experiment file, the first as it is written there by most."""
        brief = str(value) if self.levels else self.briefly(value)
        return tuple(dict.fromkeys((brief, brief.replace(",", ""), str(value), self.text(value))))

    def read(self, parts: Mapping[str, Any]) -> Value:
        """Its value in a cell made of these parts, by what factors belong to."""
        found: Any = parts[self.belongs_to]
        for step in self.attribute.split("."):
            found = found.get(step) if isinstance(found, Mapping) else getattr(found, step)
        value: Value = found
        return value

    def text(self, value: Value) -> str:
        """A value in words: `8 in flight`, `100/s`, `closed loop`."""
        if value is None:
            return "closed loop" if self.belongs_to == "load" and self.kind == "rate" else "none"
        number = f"{value:g}" if self.kind == "rate" else str(value)
        is_one = self.kind == "count" and value == 1
        return f"{number}{self.unit.removesuffix('s') if is_one else self.unit}"


FACTORS: tuple[Factor, ...] = (
    Factor(name="protocol", title="protocol", kind="name", belongs_to="stack", attribute="protocol", reaches="program"),
    Factor(
        name="responder", title="responder", kind="name", belongs_to="stack", attribute="responder", reaches="program"
    ),
    Factor(name="client", title="client", kind="name", belongs_to="stack", attribute="client", reaches="program"),
    Factor(
        name="operation",
        title="operation",
        kind="name",
        compared_as="for {}",
        varies_with=("payload", "bytes", "records", "per_second"),
        belongs_to="operation",
        attribute="name",
        reaches="program",
    ),
    Factor(
        name="payload",
        title="payload",
        kind="text",
        belongs_to="operation",
        attribute="asked",
        reaches="payload",
        compared_as="at {}",
        varies_with=("bytes", "records", "per_second"),
        is_excludable=False,
    ),
    Factor(
        name="bytes",
        title="bytes",
        kind="bytes",
        unit=" B",
        compared_as="at {}",
        varies_with=("payload",),
        belongs_to="operation",
        attribute="payload.size",
        reaches="payload",
    ),
    Factor(
        name="records",
        title="records",
        kind="count",
        compared_as="with {} records",
        varies_with=("payload",),
        belongs_to="operation",
        attribute="payload.count",
        reaches="payload",
    ),
    Factor(
        name="per_second",
        title="events per second",
        kind="rate",
        unit="/s",
        compared_as="at {}",
        varies_with=("payload",),
        belongs_to="operation",
        attribute="payload.per_second",
        reaches="payload",
    ),
    Factor(
        name="calls",
        title="calls",
        kind="count",
        unit=" calls",
        compared_as="in {}",
        belongs_to="operation",
        attribute="calls",
        reaches="program",
    ),
    Factor(
        name="placement",
        title="placement",
        kind="name",
        compared_as="at {}",
        belongs_to="placement",
        attribute="name",
        reaches="hosts",
    ),
    Factor(
        name="connection",
        title="connection",
        kind="level",
        belongs_to="call",
        reaches="connection",
        levels=(
            Level(
                value="reuse", words="connections kept open", compared="a kept connection", shown="kept open (reuse)"
            ),
            Level(
                value="per-request",
                words="a new connection for each request",
                compared="a connection per request",
                shown="new for each request (per-request)",
            ),
        ),
        description="Keep connections (reuse), or open one per request (per-request)",
        column="policy",
        is_always_said=True,
    ),
    Factor(
        name="compression",
        title="compression",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="none", words="bodies not compressed", compared="no compression", shown="none"),
            Level(value="gzip", words="bodies compressed with gzip", compared="gzip", shown="gzip"),
            Level(value="zstd", words="bodies compressed with zstd", compared="zstd", shown="zstd"),
        ),
        description="Compress the bodies of requests and replies (gzip, zstd), or not (none)",
        column="compression",
    ),
    Factor(
        name="http",
        title="HTTP",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="1.1", words="HTTP/1.1", compared="HTTP/1.1", shown="1.1"),
            Level(value="2", words="HTTP/2", compared="HTTP/2", shown="2", said="http2"),
            Level(value="3", words="HTTP/3", compared="HTTP/3", shown="3", said="http3"),
        ),
        description="Which version of HTTP carries the protocols that leave it open (1.1, 2 or 3)",
    ),
    Factor(
        name="document",
        title="document",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="typed",
                words="JSON documents as a typed message",
                compared="a typed message",
                shown="over Protocol Buffers a typed message (typed)",
            ),
            Level(
                value="value",
                words="JSON documents as google.protobuf.Value",
                compared="google.protobuf.Value",
                shown="over Protocol Buffers google.protobuf.Value (value)",
            ),
        ),
        description="Carry the user's own JSON over Protocol Buffers as a message made from its shape (typed), or as "
        "google.protobuf.Value (value)",
    ),
    Factor(
        name="tls",
        title="encryption",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="none", words="no TLS", compared="no TLS", shown="none"),
            Level(value="tls1.3", words="TLS 1.3", compared="TLS 1.3", shown="TLS 1.3 (tls1.3)"),
        ),
        description="Encrypt connections by TLS 1.3, with certificates made for the run (tls1.3), or not (none)",
        column="tls",
        has_streams=True,
    ),
    Factor(
        name="session",
        title="TLS session",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(value="new", words="full TLS handshakes", compared="a full TLS handshake", shown="new"),
            Level(value="resumed", words="resumed TLS sessions", compared="a resumed TLS session", shown="resumed"),
        ),
        description="Have a new connection resume the TLS session of an earlier one (resumed), or not (new)",
        column="session",
    ),
    Factor(
        name="concurrency",
        title="concurrency",
        kind="count",
        unit=" in flight",
        belongs_to="load",
        attribute="concurrency",
        reaches="load",
        column="concurrency",
    ),
    Factor(
        name="rate",
        title="rate",
        kind="rate",
        unit="/s",
        compared_as="at {}",
        varies_with=("concurrency",),
        belongs_to="load",
        attribute="rate_per_s",
        reaches="load",
    ),
)

BY_NAME: Mapping[str, Factor] = {factor.name: factor for factor in FACTORS}
OF_THE_CALL: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.belongs_to == "call")
KNOBS: tuple[Factor, ...] = tuple(factor for factor in FACTORS if factor.reaches == "knob")
COLUMNS: tuple[str, ...] = tuple(factor.column for factor in FACTORS if factor.column)
STACK = "stack"
"""What cells are compared by unless an experiment says otherwise: protocol, responder and client together."""
DEFAULTS: Mapping[str, Value] = {factor.name: factor.default for factor in OF_THE_CALL}


def values(*, stack: Any, operation: Any, placement: Any, load: Any, call: Values = DEFAULTS) -> dict[str, Value]:
    """Every factor of a cell made of these parts; `call` has what is chosen, and what it leaves out has its default."""
    parts = {"stack": stack, "operation": operation, "placement": placement, "load": load, "call": {**DEFAULTS, **call}}
    return {
        factor.name: parts["call"][factor.name] if factor.belongs_to == "call" else factor.read(parts)
        for factor in FACTORS
    }


def choices(chosen: Mapping[str, tuple[Value, ...]]) -> Iterator[dict[str, Value]]:
    """Every combination of the values chosen for the factors of a call, the last one varying fastest."""
    for combination in product(*(chosen[factor.name] for factor in OF_THE_CALL)):
        yield {factor.name: value for factor, value in zip(OF_THE_CALL, combination, strict=True)}


def without_call() -> dict[str, Value]:
    """What stands for the factors of a call in a cell that calls nobody: no value, as none applies."""
    return dict.fromkeys(DEFAULTS)


def of_the_call(cell: Values) -> tuple[Value, ...]:
    """How a cell's requests are made: what cells that differ in the stack alone have in common, beside their parts."""
    return tuple(cell.get(factor.name, factor.default) for factor in OF_THE_CALL)


def said(cell: Values) -> list[tuple[Factor, Value]]:
    """The factors of a call that ids, titles and sentences name: those that differ from the default, and some always."""
    told = zip(OF_THE_CALL, of_the_call(cell), strict=True)
    applying = ((factor, value) for factor, value in told if value is not None)
    return [(factor, value) for factor, value in applying if factor.is_always_said or value != factor.default]


def short(cell: Values) -> tuple[str, ...]:
    """The values that are said, as they stand in ids and names: `reuse`, `http2`."""
    return tuple(factor.level(value).said or str(value) for factor, value in said(cell))


def phrases(cell: Values) -> tuple[str, ...]:
    """The values that are said, in words: `connections kept open`."""
    return tuple(factor.level(value).words for factor, value in said(cell))


def knobs(cell: Values) -> dict[str, str]:
    """What both end programs are told beside the trial's own keys; empty where everything has its default."""
    told = ((factor, cell.get(factor.name, factor.default)) for factor in KNOBS)
    return {factor.name: str(value) for factor, value in told if value is not None and value != factor.default}


def in_columns(cell: Values) -> dict[str, Value]:
    """The values that stand in samples files, by column: the default of what is not given, `n/a` for what does not apply."""
    of_cell = ((factor, cell.get(factor.name, factor.default)) for factor in FACTORS if factor.column)
    return {factor.column: "n/a" if factor.levels and value is None else value for factor, value in of_cell}
