"""What can differ between two cells: every factor once, and nowhere else.

A cell is a mapping from these names to values. The keys of experiment files, the matrix and its ids, `exclude`, the plan's
text, the manifest, the columns of samples, grouping, comparing and the report go through `FACTORS`; so do both end programs,
which are told of a factor that `reaches` them as a knob. So a new factor is one entry here, and what services do about it:
`docs/architecture.md` cites an example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product
from typing import Any

from orchestrator.experiment.model.factor import Factor, Value, Values
from orchestrator.experiment.model.levels import Level, Numbers
from orchestrator.experiment.model.load_factors import OF_THE_LOAD
from orchestrator.experiment.model.pin_factor import OF_PINNING
from orchestrator.experiment.model.process_factors import OF_PROCESSES
from orchestrator.experiment.model.timing_factors import OF_TIMING

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
        varies_with=("payload", "bytes", "reply_bytes", "records", "per_second", "schema_change"),
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
        varies_with=("bytes", "reply_bytes", "records", "per_second", "schema_change"),
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
        name="reply_bytes",
        title="reply bytes",
        kind="bytes",
        unit=" B",
        compared_as="with a reply of {}",
        varies_with=("payload",),
        belongs_to="operation",
        attribute="payload.reply_size",
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
        name="schema_change",
        title="schema change",
        kind="level",
        levels=(
            Level(value="none", words="one schema", compared="one schema", shown="none"),
            Level(value="added", words="a field added", compared="a field added", shown="added"),
            Level(value="removed", words="a field removed", compared="a field removed", shown="removed"),
            Level(value="renamed", words="a field renamed", compared="a field renamed", shown="renamed"),
            Level(
                value="renamed-without-alias",
                words="a field renamed without an alias",
                compared="a field renamed without an alias",
                shown="renamed-without-alias",
            ),
            Level(value="renumbered", words="a field renumbered", compared="a field renumbered", shown="renumbered"),
            Level(value="widened", words="a field widened", compared="a field widened", shown="widened"),
            Level(value="retyped", words="a field retyped", compared="a field retyped", shown="retyped"),
        ),
        varies_with=("payload",),
        belongs_to="operation",
        attribute="payload.schema_change",
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
        varies_with=("pin",),
        belongs_to="placement",
        attribute="name",
        reaches="hosts",
    ),
    *OF_PINNING,
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
        name="connections",
        title="connections",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="each",
                words="a connection for each request in flight",
                compared="a connection for each",
                shown="one for each in flight (each)",
            ),
        ),
        numbers=Numbers(
            least=1,
            most=10_000,
            words="{} connections for all requests in flight",
            compared="{} connections for all",
            one="one connection for all requests in flight",
        ),
        description="Share so many kept connections among the requests in flight (gRPC: channels), or keep one for each of"
        " them (each)",
    ),
    Factor(
        name="flow_window",
        title="flow window",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="library",
                words="HTTP/2 windows as the library sets them",
                compared="the library's window",
                shown="as the library sets it (library)",
            ),
        ),
        numbers=Numbers(
            least=65_535,
            most=2_147_483_647,
            measure="size",
            words="HTTP/2 windows of {}",
            compared="a window of {}",
            why="what HTTP/2 begins with, and the most that it has",
        ),
        description="How many bytes HTTP/2 lets a peer send on a stream until it is told to go on: from 65535 B on, or"
        " what the library finds fit (library)",
    ),
    Factor(
        name="tcp_window",
        title="TCP window",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="system",
                words="TCP windows as the hosts set them",
                compared="the hosts' own TCP window",
                shown="as the hosts set it (system)",
            ),
        ),
        numbers=Numbers(
            least=8_192,
            most=1_073_741_824,
            measure="size",
            words="TCP windows of {}",
            compared="a TCP window of {}",
            why="a few segments, and the most that TCP has",
        ),
        description="How many bytes TCP lets a peer send until they are acknowledged (the receive window of both ends), from"
        " 8 KiB on, or as the hosts set it (system)",
    ),
    Factor(
        name="keepalive",
        title="keep-alive",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(Level(value="none", words="no keep-alive pings", compared="no keep-alive pings", shown="none"),),
        numbers=Numbers(
            least=10,
            most=3_600_000,
            measure="time",
            words="a keep-alive ping every {}",
            compared="a keep-alive ping every {}",
        ),
        description="How often the requester pings a kept HTTP/2 connection (10ms to 1h), or never (none)",
    ),
    Factor(
        name="congestion",
        title="congestion control",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="system",
                words="the hosts' own congestion control",
                compared="the hosts' own congestion control",
                shown="as the hosts set it (system)",
            ),
            *(Level(value=v, words=f"congestion control {v}", compared=v, shown=v) for v in ("cubic", "reno", "bbr")),
        ),
        description="TCP's congestion control at both ends (cubic, reno, bbr), or the hosts' own (system)",
    ),
    Factor(
        name="nodelay",
        title="small segments",
        kind="level",
        belongs_to="call",
        reaches="knob",
        levels=(
            Level(
                value="immediate",
                words="small segments sent at once (TCP_NODELAY)",
                compared="small segments sent at once",
                shown="sent at once (immediate)",
            ),
            Level(
                value="nagle",
                words="requests' small segments held back by Nagle's algorithm",
                compared="Nagle's algorithm",
                shown="requests' held back by Nagle's algorithm (nagle)",
            ),
        ),
        description="Whether the requester sends small segments at once (immediate), or holds them back while others are not"
        " acknowledged (nagle); the responder always sends at once",
    ),
    *OF_PROCESSES,
    *OF_TIMING,
    *OF_THE_LOAD,
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


def of_load(cell: Values, without: Collection[str] = ()) -> tuple[str, ...]:
    """What a cell's load is beyond requests in flight and rate, in words: `uniform arrivals`, `think time 10 ms`."""
    others = [factor for factor in OF_THE_LOAD if factor.name not in ("concurrency", "rate", *without)]
    told = tuple(factor for factor in others if factor.name != "thinking" or cell.get("think"))
    return tuple(factor.text(value) for factor in told if not factor.is_usual(value := cell.get(factor.name)))


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
    """The values that are said, as they stand in ids and names: `reuse`, `http2`, `connections-4`."""
    return tuple(factor.short(value) for factor, value in said(cell))


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
