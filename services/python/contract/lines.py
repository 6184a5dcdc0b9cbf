"""The contract's version, the trial, and the statuses of a request.

Every line has one definition: `trial` here, the others in `responder_lines`, `requester_lines`, `ping_lines` and
`description`, so that a program loads no more than its own. `protos/process.md` is the same contract in prose,
`protos/schemas/` the same as JSON Schemas. Durations are seconds, byte counts are bytes, stamps are integer nanoseconds.
"""

from __future__ import annotations

import json
from dataclasses import field
from typing import Annotated, Any, BinaryIO, Final, Literal

from services.python.contract.limits import MOST_CALLS, Policy, SchemaChange
from services.python.contract.strict import Between, Line, Part, parse, part, read_line

LONGEST_LINE: Final = 1 << 20  # bytes, without its end
VERSION: Final = 2  # of the contract; a reader refuses a line of another version, and names both

Port = Annotated[int, Between(0, 65535)]
Count = Annotated[int, Between(0)]
Seconds = Annotated[float, Between(0)]
Duration = Annotated[float, Between(0, 1_000_000)]  # eleven days: whatever is added to it stays a time
Rate = Annotated[float, Between(0, 1_000_000_000)]
Exact = Annotated[int, Between(0, (1 << 53) - 1)]  # every reader of JSON keeps it to the last digit
WallNs = Annotated[int, Between(0, 1 << 62)]


@part
class Target(Part):
    """Where to ask, and the nonce that the right responder answers with.

    Without an `identity` nobody knows it beforehand: the requester asks, and says in `done` whom it met. One that is
    `anonymous` cannot say who it is, and is not asked.
    """

    host: str
    port: Port
    identity: str | None = None
    anonymous: bool = False


@part
class Payload(Part):
    """What an operation carries.

    `bytes`: `size` pseudo-random bytes of the trial's seed. `records`: `count` structured records. `json` and `image`:
    the file at `path` on the requester's host, whose SHA-256 is checked before use; `full_decode` asks the responder to
    decode every pixel.
    `events`: `per_second` events, each of `size` pseudo-random characters, or of what its operation reads (`size` 0).
    `transfer`: send `size` known bytes, be sent `reply_size` of them.
    `evolution`: `count` records that a schema wrote and another reads, which differ by `schema_change`.
    `call`: the call file at `path`, whose SHA-256 is checked before use (protos/calls.md).
    `documents`: the file at `path`, which holds the JSON document of the request and that of the reply.
    `exchange` (the floor): send `size` bytes, be sent `reply_size`; the second request of a trial is `opening` times as
    large both ways, which opens TCP's window for the others.
    """

    kind: Literal[
        "none", "bytes", "records", "json", "documents", "image", "events", "exchange", "transfer", "evolution", "call"
    ] = "none"
    size: Exact = 0
    reply_size: Exact = 0
    count: Exact = 0
    per_second: Rate = 0.0
    path: str | None = None
    sha256: str | None = None
    full_decode: bool = False
    opening: Exact = 1
    schema_change: SchemaChange = "none"


@part
class Mixed(Part):
    """One operation of a mix, with its payload: of all requests it has `weight` in the sum of all weights."""

    operation: str
    weight: Annotated[int, Between(1, 1_000_000)]
    payload: Payload = field(default_factory=Payload)


@part
class Schema(Part):
    """A file on this end's host, whose SHA-256 is checked before use: how a JSON document travels (protos/documents.md)."""

    path: str
    sha256: str


@part
class Authority(Part):
    """Who vouches for the responder's certificate: a PEM file on the requester's host, whose SHA-256 is checked."""

    path: str
    sha256: str


@part
class Load(Part):
    """How requests are offered: closed loop, or open loop when `rate_per_s` is given.

    A closed loop ends at `requests` or at `duration_s`, whichever comes first; one of them must be given.
    `requests: 0` makes no request but the check. In an open loop `concurrency` bounds the requests in flight, so give it
    room (half a second at the rate, say): what is due while all are taken is sent late, and its latency counts from when
    it was due; what was not sent when the window closed is entered as `not-sent`. Of a stream `concurrency` is the number of
    clients, each with a subscription of its own, and `duration_s` how long each lasts; the other keys say nothing.
    `think_s`: how long a closed loop's worker rests, in the measured phase, before each of its requests; `thinking`: whether
    all rests are that long, or exponentially distributed with that mean (protos/payloads.md).
    """

    concurrency: Exact = 1
    requests: Exact | None = None
    duration_s: Duration | None = None
    rate_per_s: Rate | None = None
    arrivals: Literal["poisson", "uniform"] = "poisson"
    think_s: Duration = 0.0
    thinking: Literal["constant", "exponential"] = "constant"


@part
class Warmup(Part):
    """Warm-up goes on until so many requests and so many seconds are both reached; `at_most_s` ends it all the same."""

    requests: Exact = 500
    at_least_s: Duration = 2.0
    at_most_s: Duration = 60.0


@part
class Trial(Line):
    """One trial, the only line on a requester's stdin.

    `target` is left out where nobody is asked. `record` is the file that its rows go to. `start_at_unix_ns` holds back
    the measured phase until that moment of the wall clock, so that several requesters begin together; `hold` holds it back
    until the line `measure` comes on stdin, which the line `warm` asks for. With `calls` above 1
    what is timed is a task of so many calls, one after the other on one connection: the load counts tasks, and `timeout_s`
    is each call's. `knobs`: what is set about the requests beside the other keys (protos/process.md); only what is not at
    its default. `schema`: of the message that the JSON document of its payload travels as. `tls`: by whom every client
    verifies the responder, whose certificate must be for the target's `host`. `mix`: two operations or more in place of
    `operation` and `payload`, which are then those of its first; which of them each request asks is drawn by the seed
    (protos/payloads.md). `turn_warm_up`: the measured phase comes in turns, each with this `load`, behind so many
    requests of each worker that do not count; null where it comes in one.
    """

    protocol: str
    client: str
    operation: str
    record: str
    target: Target | None = None
    payload: Payload = field(default_factory=Payload)
    connection: Policy = "reuse"
    load: Load = field(default_factory=Load)
    warmup: Warmup = field(default_factory=Warmup)
    timeout_s: Duration = 30.0
    seed: Exact = 0
    calls: Annotated[int, Between(1, MOST_CALLS)] = 1
    start_at_unix_ns: WallNs | None = None
    hold: bool = False
    turn_warm_up: Exact | None = None
    knobs: dict[str, str] = field(default_factory=dict)
    schema: Schema | None = None
    tls: Authority | None = None
    mix: list[Mixed] = field(default_factory=list)
    contract: Literal[2] = VERSION
    type: Literal["trial"] = "trial"


def read_stdin_line(kind: type[Any], stdin: BinaryIO, reader: str) -> Any:
    """The first line that a program (`reader` names it: "responder") is given on stdin.

    ValueError as `read_line`, and for one that is longer than 1 MiB, is not UTF-8, or has half of a surrogate pair in it.
    """
    line = stdin.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
        raise ValueError("the line has more than 1 MiB")
    if not line.strip():
        raise ValueError("stdin ended before a line came")
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError("the line is not UTF-8") from error
    try:
        raw = parse(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"a line is one JSON object: {error}") from error
    if "\\u" in text and _has_half_a_pair(raw):
        raise ValueError("a line is one JSON object: a text in it has half of a surrogate pair")
    return read_line((kind,), raw, reader=reader, writer="orchestrator")


def _has_half_a_pair(document: Any) -> bool:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


# How a request can end; the record's status column holds the index (0 is success).
EXHAUSTED_REMEDY: Final = "keep connections, or raise `net.ipv4.ip_local_port_range` or `ulimit -n`"

STATUS_MEANINGS: Final[dict[str, str]] = {
    "ok": "decoded, and the right value",
    "wrong-reply": "decoded, but not the right value or digest",
    "refused": "no connection",
    "closed": "the connection ended before the reply",
    "timeout": "no reply in time",
    "protocol": "an error in the protocol's own words: HTTP 500, gRPC INTERNAL, ...",
    "undecodable": "a reply that cannot be decoded",
    "cancelled": "the client or the responder gave the call up",
    "not-sent": "due in an open loop, but not sent before the window closed: no error, and counted by itself",
    "unverified": "replied, but the requester ended before it looked at the reply; never in a trial that is `done`",
    "exhausted": f"no connection, as this host has no local port or file descriptor left: {EXHAUSTED_REMEDY}",
}
STATUSES: Final[tuple[str, ...]] = tuple(STATUS_MEANINGS)

Since = Literal["process", "phase"]
"""Since when a peak of memory counts: the process's start, or the beginning of what was measured."""
