"""What a requester prints: `checked`, `start`, `warm`, `turn`, `progress`, `done` or `failed`; what lets it measure.

`protos/process.md` has each key.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from services.python.contract.counters import Clocks, HostCounters
from services.python.contract.lines import VERSION, Count, Duration, Seconds, Since, WallNs
from services.python.contract.strict import Line, Part, part

AT_ONCE: Final = 0
TURN: Final = "turn"
END: Final = "end"
_LATEST_NS = 1 << 62


@part
class Bodies(Part):
    """Bytes of the body of a request and of its reply."""

    sent: Count
    received: Count


@part
class Checked(Line):
    """The right responder answers, and answers rightly. Bytes of the body of that request and of its reply.

    Of a mix `mix` has those of each operation, in its order, and the others are those of the first.
    """

    body_bytes_sent: Count
    body_bytes_received: Count
    mix: list[Bodies] = field(default_factory=list)
    contract: Literal[2] = VERSION
    type: Literal["checked"] = "checked"


@part
class Start(Line):
    """Warm-up begins."""

    anchor: Clocks
    type: Literal["start"] = "start"


@part
class Warm(Line):
    """Warm-up is over after so many requests, and the measured phase waits for the line `measure` on stdin."""

    requests: Count
    type: Literal["warm"] = "warm"


@part
class Turn(Line):
    """A turn is over: its place from 0, its measured requests, and its window by the monotonic clock of the rows.

    `end_ns`: the last measured reply, or the end of the window where that is later. Within the window, `cpu_s` is the CPU
    time of this process, `waited_s` how long its threads waited for a CPU (`/proc/self/schedstat`), and `stolen_s` what the
    hypervisor took from all CPUs of this host (`/proc/stat`); null where the system does not tell.
    """

    number: Count
    requests: Count
    begin_ns: WallNs
    end_ns: WallNs
    cpu_s: Seconds
    waited_s: Seconds | None = None
    stolen_s: Seconds | None = None
    type: Literal["turn"] = "turn"


@part
class Progress(Line):
    """How many requests of this phase are over, and how long it takes so far."""

    phase: Literal["warm-up", "measured"]
    requests: Count
    elapsed_s: Seconds
    type: Literal["progress"] = "progress"


@part
class Failed(Line):
    """The last line of a requester or of a ping that gave up.

    `kind` is a status, or `trial` (it asks for what there is not), `host` (the requester's own host, say a full disk),
    `fault` (an error of the program), `unavailable` (no way to ping from here).
    """

    kind: str
    message: str
    type: Literal["failed"] = "failed"


@part
class Wire(Part):
    """Sums of TCP_INFO over the measured phase, headers of TCP and below excluded."""

    bytes_sent: Count
    bytes_received: Count
    segments_sent: Count
    segments_received: Count
    retransmits: Count


@part
class EventsReceived(Part):
    """Events of the measured subscriptions. `wrong` ones are not among those delivered, so they are among those dropped."""

    offered: Count
    delivered: Count
    dropped: Count
    duplicated: Count
    reordered: Count
    wrong: Count


@part
class Negotiated(Part):
    """What the TLS handshakes of a trial came to, those of its check included; null where the library does not tell.

    `version` and `cipher` as OpenSSL names them, several with commas between. `resumed`: how many of the `handshakes`
    resumed the session of an earlier connection.
    """

    version: str | None = None
    cipher: str | None = None
    handshakes: Count | None = None
    resumed: Count | None = None


@part
class Opening(Part):
    """How long the connections of a trial took to open, those of its check left out: medians, by the client library's word.

    `connections`: of how many it was told. `connect_s`: TCP's handshake, `tls_s`: that of TLS behind it; null where the
    library does not tell.
    """

    connections: Count
    connect_s: Duration | None = None
    tls_s: Duration | None = None


@part
class Done(Line):
    """The last line of a requester that did what it was asked; what it does not know is null or left out."""

    rows: Count
    warmup_requests: Count
    requests: Count
    errors: dict[str, Count]
    not_sent: Count = 0
    not_sent_reason: Literal["connections-busy", "requester-behind"] | None = None
    error_examples: dict[str, str] = field(default_factory=dict)
    identity: str | None = None
    verified: Count | None = None
    verified_in_flight: Count | None = None
    verified_by_bytes: Count = 0
    events: EventsReceived | None = None
    tls: Negotiated | None = None
    outcomes: dict[str, Count] = field(default_factory=dict)
    over_fetched_bytes: float | None = None
    begin_ns: int | None = None
    measured_s: Seconds | None = None
    paused_s: Seconds | None = None
    entering_s: Seconds | None = None
    body_bytes_sent: Count | None = None
    body_bytes_received: Count | None = None
    wire: Wire | None = None
    min_rtt_us: float | None = None
    connections_opened: Count | None = None
    opening: Opening | None = None
    cpu_s: Seconds | None = None
    cpu_share: float | None = None
    memory_bytes: Count | None = None
    memory_since: Since | None = None
    loop_lag_ms: float | None = None
    anchor: Clocks | None = None
    anchor_end: Clocks | None = None
    clock_resolution_ns: float | None = None
    client: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    host_before: HostCounters | None = None
    host_after: HostCounters | None = None
    contract: Literal[2] = VERSION
    type: Literal["done"] = "done"


REQUESTER_LINES: tuple[type[Line], ...] = (Checked, Start, Warm, Turn, Progress, Done, Failed)


def may_measure_from(line: str) -> int | None:
    """The moment of the wall clock from which on a line allows to measure, in Unix nanoseconds; None for any other line.

    >>> may_measure_from("measure"), may_measure_from("measure 1700000000000000000"), may_measure_from("measure soon")
    (0, 1700000000000000000, None)
    """
    if line == "measure":
        return AT_ONCE
    word, _, moment = line.partition(" ")
    if word != "measure" or not (moment.isascii() and moment.isdecimal()) or len(moment) > len(str(_LATEST_NS)):
        return None
    return int(moment) if int(moment) <= _LATEST_NS else None
