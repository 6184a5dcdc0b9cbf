"""The runs that the page rests on, and the published tables beside them: each an entry of its own.

A row of a published table has a cell of one of our runs beside it (`Ours`), or the reason why not here, in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator.audit.claim_forms import Compared, LargerEffect, Test, Times

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ROOT / "benchmarks" / "results" / "published"
SENTENCES: Final = ROOT / "docs" / "validation" / "published-sentences.csv"
FIGURES: Final = SENTENCES.with_name("published-figures.csv")


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A run: `minutes` is how long it takes on two cores, hosts included, as planned; `needs` what the machine must have."""

    name: str
    experiment: str
    minutes: int
    overrides: tuple[str, ...] = ()
    needs: str = ""
    as_root: bool = False

    @property
    def path(self) -> Path:
        """The experiment."""
        return ROOT / self.experiment

    @property
    def command(self) -> str:
        """What makes it again, from the root of the repository."""
        return f"{'sudo ' if self.as_root else ''}.venv/bin/python -m benchmarks.published run {self.name}"


@dataclass(frozen=True, kw_only=True)
class Ours:
    """The cell of a run with these values of factors."""

    run: str
    asked: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Each pair's two rows differ by less than `within` in the mean."""

    pairs: tuple[tuple[str, str], ...]
    within: float = 0.05


@dataclass(frozen=True, kw_only=True)
class Fewer:
    """One call of a row takes less than `times` calls of another."""

    row: str
    than: str
    times: int


Asked = Test | Alike | Fewer


@dataclass(frozen=True, kw_only=True)
class Table:
    """A published table, and what stands beside it.

    `servers` tells tables of one publication apart. `columns` are those that the publication has, `rows` what is ours by
    the name of its row, and further rows of ours that its sentences are about. `asked` puts sentences into figures that the
    audit file has none for, or none of ours; `why` says, by sentence, what explains a disagreement; `differs` what is
    measured otherwise here.
    """

    slug: str
    audit: str
    servers: str = ""
    columns: tuple[str, ...]
    rows: Mapping[str, Ours | str]
    differs: tuple[str, ...]
    asked: Mapping[str, tuple[Asked, ...]] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    without: Mapping[str, str] = field(default_factory=dict)  # sentences that cannot be asked here, with the reason
    pings: str = ""  # the run whose pings stand beside the published ones

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs that it rests on."""
        of_rows = [row.run for row in self.rows.values() if isinstance(row, Ours)]
        return tuple(dict.fromkeys([*of_rows, *([self.pings] if self.pings else [])]))


SPECS: Final[Sequence[Spec]] = (
    Spec(name="six_protocols", experiment="experiments/six_protocols.yaml", minutes=3),
    Spec(
        name="placements",
        experiment="experiments/cross_region.yaml",
        minutes=8,
        overrides=(
            "load.requests=200",
            "warmup.requests=30",
            "warmup.at_least=1s",
            "operations.1.image.load.requests=10",
            "operations.1.image.load.at_most=10s",
            "operations.1.image.warmup.requests=3",
            "repeats=3",
        ),
        needs="root, Terraform or OpenTofu, and iproute2",
        as_root=True,
    ),
    Spec(name="keep_alive", experiment="experiments/keep_alive_local.yaml", minutes=6),
    Spec(
        name="keep_alive_node",
        experiment="experiments/keep_alive_node.yaml",
        minutes=6,
        needs="Node.js 20 or newer, and npm (`orch setup build node`)",
    ),
    Spec(
        name="streams",
        experiment="experiments/streams.yaml",
        minutes=5,
        overrides=("stacks=[sse, {protocol: grpc, responder: grpc-aio}]", "load.duration=3s", "repeats=3"),
    ),
    Spec(
        name="database",
        experiment="experiments/database.yaml",
        minutes=8,
        overrides=(
            "stacks=[rest, grpc]",
            "operations=[balance]",
            "store=[none, postgresql]",
            "pool=[standard]",
            "exclude=[{store: none}]",
            "compare_by=[stack]",
            "load.requests=100000",
            "load.at_most=10s",
        ),
        needs="PostgreSQL (`make postgresql`)",
    ),
    Spec(
        name="database_go",
        experiment="experiments/database_go.yaml",
        minutes=8,
        overrides=(
            "operations=[balance]",
            "store=[none, postgresql]",
            "pool=[standard]",
            "exclude=[{store: none}]",
            "compare_by=[stack]",
        ),
        needs="PostgreSQL (`make postgresql`), and Go's programs (`make native`)",
    ),
)

_SIX = ("grpc", "rest", "http+cbor", "http+avro", "socketio", "graphql")
_OF_SIX = {name.removeprefix("http+"): Ours(run="six_protocols", asked={"protocol": name}) for name in _SIX}
_POLICIES = {"new": "per-request", "kept": "reuse"}
_RECORDS = (1, 50, 500)
_OF_CONNECTIONS = {
    f"{protocol}-{how}-{records}": Ours(
        run="keep_alive",
        asked={"protocol": protocol, "connection": policy, "records": records},
    )
    for protocol in ("grpc", "graphql", "rest")
    for how, policy in _POLICIES.items()
    for records in _RECORDS
}
_NODE = {"grpc": ("grpc", "grpc-js"), "apollo": ("graphql", "apollo"), "yoga": ("graphql", "yoga")}
_OF_CONNECTIONS_IN_NODE = {
    f"{stack}-{how}-{records}": Ours(
        run="keep_alive_node",
        asked={"protocol": protocol, "responder": responder, "connection": policy, "records": records},
    )
    for stack, (protocol, responder) in _NODE.items()
    for how, policy in _POLICIES.items()
    for records in _RECORDS
}
_PLACEMENTS = ("local", "same-zone", "cross-region")
_PYTHON = "Python on both ends here (FastAPI on uvicorn, grpcio, Strawberry, python-socketio), in the versions above"


def _pairs(one: str, other: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"{one}-{records}", f"{other}-{records}") for records in _RECORDS)


def _of_keep_alive(*graphql: str) -> dict[str, tuple[Asked, ...]]:
    """The sentences of the publication of keep-alive, of gRPC's rows and those of these stacks of GraphQL."""
    return {
        "gRPC is about 10 times faster than GraphQL without keep-alive": tuple(
            Times(kind="times", row=slow, of=quick, factor=10.0)
            for name in graphql
            for quick, slow in _pairs("grpc-new", f"{name}-new")
        ),
        "with keep-alive there is no difference": tuple(
            Alike(pairs=_pairs("grpc-kept", f"{name}-kept")) for name in graphql
        ),
        "the size of the message hardly matters on localhost; opening the connection dwarfs serialisation": tuple(
            LargerEffect(
                kind="larger-effect",
                first=(f"{stack}-new-1", f"{stack}-kept-1"),
                second=(f"{stack}-kept-500", f"{stack}-kept-1"),
                statistic="mean",
            )
            for stack in ("grpc", *graphql)
        ),
    }


TABLES: Final[Sequence[Table]] = (
    Table(
        slug="six-protocols-article",
        audit="experiments/audits/six-protocols-article.yaml",
        columns=("samples", "mean", "median", "sd", "min", "max", "p95", "p99"),
        rows={**_OF_SIX, "rest-new": _OF_CONNECTIONS["rest-new-1"], "rest-kept": _OF_CONNECTIONS["rest-kept-1"]},
        differs=(
            "five trials with fresh processes and a warm-up, in random order, instead of five runs that were averaged",
            "both ends are pinned to a CPU each, and REST, CBOR, Avro and GraphQL use libcurl, gRPC with grpcio",
            _PYTHON,
        ),
        asked={
            "pooling connections makes REST 20 to 30 % faster": (
                Compared(kind="faster", pairs=(("rest-kept", "rest-new"),), percent=(20.0, 30.0)),
            ),
            "one GraphQL query replaces three REST calls, 3.0 ms + 1 RTT against 3.6 ms + 3 RTT": (
                Fewer(row="graphql", than="rest", times=3),
            ),
        },
        why={
            "gRPC is 40 % faster than REST": "the ratio is that of whole stacks: client library, server and framework are in"
            " it, and differ from the article's",
            "CBOR and Avro beat REST by 15 to 20 %": "a timestamp's message is so small that the framework around the codec"
            " is most of the time; experiments/codec_only.yaml times the codecs alone",
            "Socket.IO has the lowest variance of all": "nor has it in the article's own table",
            "a CBOR timestamp message is 30 bytes where JSON takes 42": "the text of key and stamp alone is 36 bytes",
            "one GraphQL query replaces three REST calls, 3.0 ms + 1 RTT against 3.6 ms + 3 RTT": "on one machine a round"
            " trip is nothing; over a distance two of them are saved, whatever GraphQL's own time",
            "pooling connections makes REST 20 to 30 % faster": "on one machine opening a connection costs the more the less"
            " a request takes besides",
        },
    ),
    Table(
        slug="six-protocols-measured",
        audit="experiments/audits/six-protocols-measured.yaml",
        columns=("samples", "mean", "median", "sd", "min", "max"),
        rows=_OF_SIX,
        differs=(
            "each request is sent when the reply to the one before has come; GraphQL sends no batches",
            "five trials with fresh processes and a warm-up instead of one run",
            _PYTHON,
        ),
        why={
            "Socket.IO is 42 times slower than REST": "the published figures of Socket.IO are a uniform ramp from 1.3 to 199"
            " ms: requests that wait in line, which those of REST did not",
            "GraphQL is 150 times slower than REST": "the published figures of GraphQL are of requests in batches of 50, and"
            " those of REST are not: most of it is waiting",
        },
    ),
    Table(
        slug="flask-grpc-placements",
        audit="experiments/audits/flask-grpc-placements.yaml",
        columns=("samples", "min", "max", "mean"),
        rows={
            f"{stack}-{row}-{placement}": Ours(
                run="placements",
                asked={
                    "protocol": stack,
                    "operation": operation,
                    "placement": placement,
                },
            )
            for stack in ("rest", "grpc")
            for row, operation in (("add", "add"), ("img", "image"))
            for placement in _PLACEMENTS
        },
        pings="placements",
        differs=(
            "hosts of the lab: namespaces on one machine with a fifth of a core each and emulated distances,"
            " not f1-micro instances on Google Cloud",
            "three trials of 200 requests, of the image 10: a fifth of a core is slow with 1.58 MB",
            "gRPC's call returns when every field of the reply has been read",
        ),
        why={
            "gRPC is faster than REST in individual calls and in bulk calls": "over a distance the published gRPC figures"
            " lie below a ping, which no call that waits for its reply can; one that is only begun within the timed span has"
            " such times",
            "REST opens a TCP connection for each call": "round trips over the ping say so",
            "gRPC keeps one TCP connection": "a call on a kept connection takes one round trip; the published figure is"
            " less than one",
        },
    ),
    Table(
        slug="keep-alive",
        audit="experiments/audits/keep-alive.yaml",
        columns=("samples", "mean", "median", "p99"),
        rows=_OF_CONNECTIONS,
        differs=(
            "Python on both ends instead of Node.js; the publication has charts alone, so that ours has no table beside it",
            "messages of 1, 50 and 500 records; REST stands beside the two",
            "up to 10,000 requests in three trials, as many as fit into 3 s each",
        ),
        asked=_of_keep_alive("graphql"),
        why={
            "gRPC is about 10 times faster than GraphQL without keep-alive": "a gRPC channel takes two round trips and its"
            " settings to open, an HTTP connection one: a new connection is what gRPC is slow at",
            "with keep-alive there is no difference": "GraphQL parses and validates its query at every request, and gRPC has"
            " none",
            "the size of the message hardly matters on localhost; opening the connection dwarfs serialisation": "coding 500"
            " records takes Python longer than a handshake on one machine",
        },
    ),
    Table(
        slug="keep-alive-node",
        audit="experiments/audits/keep-alive.yaml",
        servers="ours in Node.js, too",
        columns=("samples", "mean", "median", "p99"),
        rows=_OF_CONNECTIONS_IN_NODE,
        differs=(
            "GraphQL by two servers, Apollo Server on Fastify and GraphQL Yoga, called by Node's own HTTP client; gRPC by"
            " grpc-js on both ends",
            "the publication has charts alone, so that ours has no table beside it",
            "without keep-alive the client opens and closes a connection for each request, and sends no `Connection: close`",
            "messages of 1, 50 and 500 records",
            "up to 10,000 requests in three trials, as many as fit into 3 s each",
        ),
        asked=_of_keep_alive("apollo", "yoga"),
    ),
    Table(
        slug="grpc-rest-database",
        audit="experiments/audits/grpc-rest-database.yaml",
        columns=("concurrency", "throughput_per_s", "offered_per_s", "delivered_per_s", "p99"),
        rows={
            **{
                f"{protocol}-{flight}": Ours(
                    run="database_go",
                    asked={"protocol": protocol, "client": client, "concurrency": flight},
                )
                for protocol, client in (("grpc", "grpc-go"), ("rest", "go-net-http"))
                for flight in (10, 50, 100)
            },
            **{
                f"{row}-stream-{rate}x{clients}": Ours(
                    run="streams",
                    asked={
                        "protocol": protocol,
                        "concurrency": clients,
                        "per_second": float(rate),
                    },
                )
                for row, protocol in (("grpc", "grpc"), ("rest", "sse"))
                for rate, clients in ((100, 1), (500, 5), (1000, 10))
            },
            "client-go": Ours(run="database_go", asked={"client": "grpc-go", "concurrency": 50}),
            "client-rust": "Rust asks no gRPC here",
            "client-python": Ours(run="database_go", asked={"client": "grpc-aio", "concurrency": 50}),
            **{
                f"{protocol}-{flight}-python": Ours(run="database", asked={"protocol": protocol, "concurrency": flight})
                for protocol in ("grpc", "rest")
                for flight in (10, 50, 100)
            },
        },
        differs=(
            "Go on both ends (net/http, grpc-go, pgx with 10 connections), on one machine with both ends and the database on"
            " it; the rows in `python` have Python on both ends, and so do streams",
            "the p99 of streams is of the gap between arrivals at one client, as published",
        ),
        why={
            "gRPC has 17 to 18 % more throughput and 15 to 22 % lower p99 from 50 workers on": "requester, responder and"
            " database share one machine's CPUs here",
            "both protocols saturate the database's connection pool near 10000 requests/s": "another machine has another"
            " most; the report of the run says where the time goes",
            "streaming drops no events": "the publication's own counts lie below what was offered",
        },
    ),
)
