"""The lines of both ends (protos/process.md) as the journal keeps them: the shape of every key that analysis reads.

What the ends print comes from programs that need not be ours, and a run folder may come from elsewhere; so shapes are
checked when a line is read. Keys that are not named here are kept as they are, and a key may be absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, TypeAdapter, ValidationError

Counter: TypeAlias = int | None
Number: TypeAlias = float | None
Names: TypeAlias = dict[str, str | None] | None
Ticks: TypeAlias = dict[str, Number] | None


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Both clocks, read together."""

    wall_ns: int
    monotonic_ns: int


@dataclass(frozen=True, kw_only=True)
class Host:
    """A reading of the host's counters (`services/harness/counters.py`)."""

    monotonic_ns: int | None = None
    tick_hz: float | None = None
    cpu_ticks: Ticks = None
    pressure_us: Ticks = None
    throttling: Ticks = None
    process: Ticks = None


@dataclass(frozen=True, kw_only=True)
class Done:
    """A requester's last line."""

    rows: Counter = None
    warmup_requests: Counter = None
    requests: int | None = None
    identity: str | None = None
    verified: Counter = None
    measured_s: Number = None
    begin_ns: int | None = None
    paused_s: Number = None
    entering_s: Number = None
    errors: dict[str, int] | None = None
    error_examples: dict[str, str] | None = None
    body_bytes_sent: Counter = None
    body_bytes_received: Counter = None
    wire: Ticks = None
    min_rtt_us: Number = None
    connections_opened: Counter = None
    cpu_s: Number = None
    cpu_share: Number = None
    loop_lag_ms: Number = None
    anchor: Clocks | None = None
    anchor_end: Clocks | None = None
    clock_resolution_ns: Number = None
    versions: Names = None
    settings: dict[str, Any] | None = None
    host_before: Host | None = None
    host_after: Host | None = None


@dataclass(frozen=True, kw_only=True)
class Stats:
    """What a responder counts."""

    answered: Counter = None
    peers: Counter = None
    cpu_s: Number = None
    host: Host | None = None


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A responder's first line."""

    port: int | None = None
    implementation: str | None = None
    versions: Names = None
    identity: str | None = None


def require(kind: type, line: dict[str, Any]) -> dict[str, Any]:
    """The line as it is, when it has the shape of `kind`; ValueError names the key that has not."""
    try:
        _adapter(kind).validate_python(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
    return line


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


DoneLine = Annotated[dict[str, Any], AfterValidator(partial(require, Done))]
StatsLine = Annotated[dict[str, Any], AfterValidator(partial(require, Stats))]
ReadyLine = Annotated[dict[str, Any], AfterValidator(partial(require, Ready))]
