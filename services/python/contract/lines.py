"""The process contract in types: what a requester reads, and what both ends print.

Everything here is plain JSON on the wire, so that a program in any language can take either part. `protos/process.md`
is the same contract in prose. Durations are seconds, byte counts are bytes, stamps are integer nanoseconds.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from services.python.contract.offers import Policy

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where to ask, and the nonce that the right responder answers with."""

    host: str
    port: int
    identity: str


@dataclass(frozen=True, kw_only=True)
class Payload:
    """What an operation carries.

    `bytes`: `size` pseudo-random bytes of the trial's seed. `records`: `count` structured records. `json` and `image`:
    the file at `path` on the requester's host, whose SHA-256 is checked before use; `full_decode` asks the responder to
    decode every pixel.
    `exchange` (the floor): send `size` bytes, be sent `reply_size`; the second request of a trial is `opening` times as
    large both ways, which opens TCP's window for the others.
    """

    kind: Literal["none", "bytes", "records", "json", "image", "exchange"] = "none"
    size: int = 0
    reply_size: int = 0
    count: int = 0
    path: str | None = None
    sha256: str | None = None
    full_decode: bool = False
    opening: int = 1


@dataclass(frozen=True, kw_only=True)
class Load:
    """How requests are offered: closed loop, or open loop when `rate_per_s` is given.

    A closed loop ends at `requests` or at `duration_s`, whichever comes first; one of them must be given.
    `requests: 0` makes no request but the check. In an open loop `concurrency` bounds the requests in flight, so give it
    room (half a second at the rate, say): what is due while all are taken is sent late, and its latency counts from when
    it was due; what was not sent when the window closed is entered as `not-sent`.
    """

    concurrency: int = 1
    requests: int | None = None
    duration_s: float | None = None
    rate_per_s: float | None = None
    arrivals: Literal["poisson", "uniform"] = "poisson"


@dataclass(frozen=True, kw_only=True)
class Warmup:
    """Warm-up goes on until so many requests and so many seconds are both reached; `at_most_s` ends it all the same."""

    requests: int = 500
    at_least_s: float = 2.0
    at_most_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial, as a requester reads it on stdin.

    `knobs`: what is set about the requests beside the other keys (protos/process.md); only what is not at its default.
    """

    target: Target
    protocol: str
    client: str
    operation: str
    record: str
    payload: Payload = field(default_factory=Payload)
    connection: Policy = "reuse"
    load: Load = field(default_factory=Load)
    warmup: Warmup = field(default_factory=Warmup)
    timeout_s: float = 30.0
    seed: int = 0
    start_at_unix_ns: int | None = None
    knobs: dict[str, str] = field(default_factory=dict)
    contract: int = VERSION

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Trial:
        """The trial in a line of JSON; ValueError says which key is unknown or missing, or which version it speaks."""
        raw = json.loads(line)
        if not isinstance(raw, dict) or raw.get("contract") != VERSION:
            raise ValueError(f"this requester speaks contract {VERSION}; the trial says {raw!r:.60}")
        parts = {"target": Target, "payload": Payload, "load": Load, "warmup": Warmup}
        for name, part in parts.items():
            if name in raw:
                raw[name] = _build(part, raw[name])
        trial = _build(cls, raw)
        assert isinstance(trial, Trial)  # noqa: S101 - narrows the type
        return trial


def _build(cls: type[Any], raw: dict[str, Any]) -> Any:
    unknown = raw.keys() - {f.name for f in fields(cls)}
    if unknown:
        raise ValueError(f"unknown key in {cls.__name__.lower()}: {', '.join(sorted(unknown))}")
    try:
        return cls(**raw)
    except TypeError as error:
        raise ValueError(f"{cls.__name__.lower()}: {error}") from error


# Kinds of error a request can end with; the record's status column holds the index (0 is success).
STATUSES: tuple[str, ...] = (
    "ok",
    "wrong-reply",  # decoded, but not the right value or digest
    "refused",  # no connection
    "closed",  # the connection ended before the reply
    "timeout",
    "protocol",  # an error in the protocol's own words (HTTP 500, gRPC INTERNAL, ...)
    "undecodable",
    "cancelled",  # the client or the responder gave the call up
    "not-sent",  # due in an open loop, but not sent before the window closed: no error, and counted by itself
    "unverified",  # replied, but the requester ended before it looked at the reply; never in a trial that is `done`
)
