"""What a responder reads first, `serve`, and what it prints: `ready` once, `stats` as often as it is asked."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from services.python.contract.counters import HostCounters
from services.python.contract.lines import VERSION, Count, Port, Schema, Seconds, Since
from services.python.contract.strict import Between, Line, Part, part


@part
class Tls(Part):
    """Files on the responder's host, PEM: its certificate with the chain, and the private key of it."""

    certificate: str
    key: str


@part
class Serve(Line):
    """What a responder answers, and where; the first line on its stdin.

    Without an `implementation` the protocol's first one answers. `port` 0 is any free one. `identity` is the nonce that
    it answers with when it is asked who it is. `knobs` are settings of the requests that are not at their defaults,
    `schema` is of the message that an echoed JSON document travels as. `operations` are those that will be asked, of which
    it opens what they hold before it is ready, `resources` what they need for that by name (the address of a database),
    `tls` its certificate; who does not support one that is given refuses to start and says so.
    """

    protocol: str
    identity: str
    implementation: str | None = None
    host: str = "127.0.0.1"
    port: Port = 0
    knobs: dict[str, str] = field(default_factory=dict)
    schema: Schema | None = None
    operations: list[str] = field(default_factory=list)
    resources: dict[str, str] | None = None
    tls: Tls | None = None
    contract: Literal[2] = VERSION
    type: Literal["serve"] = "serve"


@part
class Own(Line):
    """A service of somebody's own that a host is to run at `address` until stdin ends (protos/calls.md).

    `ready`: how it shows that it can be asked (`tcp`, `http`, `grpc`, `line`), or `end`: a command that is run to its end.
    `output`: the beginning of the name of the file that its output goes to.
    """

    argv: list[str]
    folder: str
    address: str
    output: str
    ready: Literal["tcp", "http", "grpc", "line", "end"]
    ready_at: str = ""
    env: dict[str, str] = field(default_factory=dict)
    type: Literal["own"] = "own"


@part
class Ready(Line):
    """A responder accepts connections at `port`. `versions`: of its libraries, by name; `settings`: what is in force.

    `workers`: how many processes answer, null where it is one; `cpus`: on how many CPUs they may run, null where it is one
    process, or the system does not say. `open_files`: how many each process of a person's own service may have open.
    """

    port: Annotated[int, Between(1, 65535)]
    implementation: str
    identity: str
    versions: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    workers: Annotated[int, Between(2)] | None = None
    cpus: Annotated[int, Between(1)] | None = None
    open_files: Count | None = None
    contract: Literal[2] = VERSION
    type: Literal["ready"] = "ready"


@part
class EventsSent(Part):
    """Of the subscriptions that are over: events due, and those of them that were handed to the connection.

    `worst_late_ns`: the worst lateness of one against its schedule.
    """

    offered: Count
    sent: Count
    worst_late_ns: Count | None = None


@part
class StoreTimes(Part):
    """Where the handling time of requests to a store went: sums since the responder began, seconds.

    `handling_s` is from the decoded request to the reply in plain values, and its parts are `queue_s` (waiting for a thread
    or the event loop), `pool_s` (waiting for a connection to the database), `database_s` (with it) and `service_s` (the
    operation's own code), each measured where it passes. Requests that were answered with an error are left out.
    `queries`: how many the store was asked, by those that count them (`posts.md`). `storeless`: how many of the requests had
    no connection to a database (those of rows in memory, all of them). Of a stream, each event whose row was read counts as
    a request.
    """

    requests: Count
    handling_s: Seconds
    queue_s: Seconds
    pool_s: Seconds
    database_s: Seconds
    service_s: Seconds
    queries: Count = 0
    storeless: Count = 0


@part
class WorkerStats(Part):
    """What one of a responder's worker processes counts: the keys are those of `stats`."""

    answered: Count
    peers: Count
    cpu_s: Seconds | None = None
    memory_bytes: Count | None = None


@part
class Stats(Line):
    """What a responder has answered so far, for how many distinct peers, and the CPU seconds of its process.

    `cpu_s` leaves out what answering this line takes. `memory_bytes`: the most resident memory that the process has had
    since the stats line before (`memory_since` is `phase`), or since its start (`process`), where the system cannot begin
    anew or there was none. `events`: null where nobody has subscribed. `workers`: what each of several worker processes
    counts, always in the same order; null where one process answers. All else is then of all processes together.
    `store`: null where no operation of the serve line asks a store.
    """

    answered: Count
    peers: Count
    cpu_s: Seconds | None
    memory_bytes: Count | None = None
    memory_since: Since | None = None
    host: HostCounters | None = None
    events: EventsSent | None = None
    store: StoreTimes | None = None
    workers: list[WorkerStats] | None = None
    type: Literal["stats"] = "stats"
