"""The lines of both ends (protos/process.md), as they are printed and as the journal keeps them: the shape of every key.

What the ends print comes from programs that need not be ours, and a run folder may come from elsewhere; so shapes are
checked when a line is read, here and nowhere else. Keys that are not named here are kept as they are, and a key may be
absent unless it has no default here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, Strict, TypeAdapter, ValidationError

# Strict, because the line is kept as it is: "1" must not pass for 1, nor true.
Whole: TypeAlias = Annotated[int, Strict()]
Count: TypeAlias = Annotated[int, Strict(), Field(ge=0)]
Counter: TypeAlias = Whole | None
Number: TypeAlias = Annotated[float, Strict()] | None
Names: TypeAlias = dict[str, str | None] | None
Ticks: TypeAlias = dict[str, Number] | None


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Both clocks, read together."""

    wall_ns: Whole
    monotonic_ns: Whole


@dataclass(frozen=True, kw_only=True)
class Host:
    """A reading of the host's counters (`services/python/probes/counters.py`)."""

    monotonic_ns: Counter = None
    tick_hz: Number = None
    cpu_ticks: Ticks = None
    pressure_us: Ticks = None
    throttling: Ticks = None
    process: Ticks = None


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A requester's first line."""

    body_bytes: tuple[Count, Count] | None = None


@dataclass(frozen=True, kw_only=True)
class Start:
    """A requester begins to measure."""

    anchor: Clocks | None = None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a requester has come."""

    phase: Literal["warm-up", "measured"] = "warm-up"
    requests: Count = 0
    elapsed_s: Number = None


@dataclass(frozen=True, kw_only=True)
class Failed:
    """Why a requester gave up."""

    kind: str = "failed"
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The last line of a requester, or of a ping."""

    rows: Counter = None
    warmup_requests: Count = 0
    requests: Count = 0
    not_sent: Count = 0
    not_sent_reason: str | None = None
    identity: str | None = None
    verified: Counter = None
    verified_in_flight: Counter = None
    measured_s: Number = None
    begin_ns: Counter = None
    paused_s: Number = None
    entering_s: Number = None
    errors: dict[str, Count] | None = None
    error_examples: dict[str, str] | None = None
    body_bytes_sent: Counter = None
    body_bytes_received: Counter = None
    wire: Ticks = None
    min_rtt_us: Number = None
    connections_opened: Counter = None
    cpu_s: Number = None
    cpu_share: Number = None
    loop_lag_ms: Number = None
    anchor: Clocks = Clocks(wall_ns=0, monotonic_ns=0)
    anchor_end: Clocks = Clocks(wall_ns=0, monotonic_ns=0)
    clock_resolution_ns: Number = None
    versions: Names = None
    settings: dict[str, Any] | None = None
    host_before: Host | None = None
    host_after: Host | None = None
    # of a ping
    method: str = "system-ping"
    sent: Count = 0
    received: Count = 0
    min_ms: Number = None
    avg_ms: Number = None


@dataclass(frozen=True, kw_only=True)
class Done(Answer):
    """A requester's last line: it says what it has done."""

    requests: Count = field()  # no default: that of an `Answer` must not stand in


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

    port: Counter = None
    implementation: str | None = None
    versions: Names = None
    identity: str | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a host says of itself (`services/python/programs/describe.py`), as far as it is calculated with."""

    cpus: Counter = None
    usable_cpus: Counter = None
    memory_bytes: Counter = None
    swap_bytes: Counter = None
    uptime_s: Number = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a trial gave no samples."""

    stage: str = ""
    kind: str = ""
    message: str = ""
    last_words: str | list[str] = ""


def require(kind: type, line: dict[str, Any]) -> dict[str, Any]:
    """The line as it is, when it has the shape of `kind`; ValueError names the key that has not."""
    try:
        _adapter(kind).validate_python(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
    return line


_REQUESTER: dict[str, type] = {
    "checked": Checked,
    "start": Start,
    "progress": Progress,
    "done": Done,
    "failed": Failed,
}


def require_requesters(line: dict[str, Any]) -> dict[str, Any]:
    """A requester's line as it is, when it is of a known type and has its shape; ValueError says what is wrong."""
    kind = line.get("type")
    if not isinstance(kind, str) or kind not in _REQUESTER:
        raise ValueError(f"of type {kind!r:.50}")
    try:
        return require(_REQUESTER[kind], line)
    except ValueError as error:
        raise ValueError(f"of another shape ({kind}): {error}") from error


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


AnswerLine = Annotated[dict[str, Any], AfterValidator(partial(require, Answer))]
DoneLine = Annotated[dict[str, Any], AfterValidator(partial(require, Done))]
FactsDocument = Annotated[dict[str, Any], AfterValidator(partial(require, Facts))]
FailureDocument = Annotated[dict[str, Any], AfterValidator(partial(require, Failure))]
StatsLine = Annotated[dict[str, Any], AfterValidator(partial(require, Stats))]
ReadyLine = Annotated[dict[str, Any], AfterValidator(partial(require, Ready))]
