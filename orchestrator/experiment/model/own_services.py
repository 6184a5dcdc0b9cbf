"""Services of the person's own, and how a stack calls one: what an experiment file may say of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, model_validator

from orchestrator.experiment.model.options import Name, OneOf, PositiveDuration, Short, Strict
from orchestrator.experiment.read.fields import OneOrMany, Shorthand, Size
from orchestrator.experiment.read.problems import shown

CALLS = ("http", "graphql", "websocket", "socketio", "sse", "grpc")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
CODINGS = ("gzip", "zstd", "identity")
Text = Annotated[str, Field(min_length=1, max_length=10_000)]
Column = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$", max_length=100)]


class ReadySpec(OneOf):
    """One of these."""

    http: Text | None = Field(None, description="A GET of it succeeds.")
    grpc: Literal["health"] | None = Field(None, description="It says SERVING.")
    tcp: Literal[True] | None = Field(None, description="It takes connections.")
    line: Text | None = Field(None, description="Its output has this text.")

    @property
    def kind(self) -> Any:
        """Which of them."""
        return next(iter(self.model_fields_set))


class TlsSpec(Strict):
    """PEM files beside the experiment."""

    ca: Text | None = Field(None, description="The authority of its certificate; the system's unless given.")
    cert: Text | None = Field(None, description="Our own certificate, with its chain.")
    key: Text | None = Field(None, description="The key of `cert`.")

    @model_validator(mode="after")
    def _both_or_none(self) -> TlsSpec:
        if (self.cert is None) != (self.key is None):
            raise ValueError("`cert` and `key` belong together: give both")
        return self


class ServiceSpec(Strict):
    """Who answers: started for each trial, or running already."""

    start: Text | None = Field(
        None, description="The command that starts it at `{address}`, on `{port}`; `{python}` is orch's own."
    )
    folder: Text = Field(".", description="Where it is started; beside the experiment unless given.")
    env: dict[str, str] = Field(default_factory=dict, description="Its environment.")
    build: Text | None = Field(None, description="A command to run there once.")
    ready: ReadySpec | None = Field(
        None, description="How it shows that it is ready; by default, it takes connections."
    )
    within: PositiveDuration = Field(30.0, description="It must be ready by then.")
    url: Text | None = Field(None, description="Of one that runs already.")
    address: Short | None = Field(None, description="Of one that runs already, without TLS.")
    tls: TlsSpec | None = Field(None, description="Certificates of an https `url`.")
    allow: bool = Field(False, description="Requests may go to another machine.")

    @model_validator(mode="after")
    def _one_place(self) -> ServiceSpec:
        if sum(value is not None for value in (self.start, self.url, self.address)) != 1:
            raise ValueError("give one of `start`, `url`, `address`")
        if self.start is None and (given := self.model_fields_set & {"folder", "env", "build", "ready", "within"}):
            raise ValueError(f"{', '.join(sorted(given))}: of a service that orch starts")
        if self.start is not None and (given := self.model_fields_set & {"tls", "allow"}):
            raise ValueError(f"{', '.join(sorted(given))}: of a service that runs already")
        if self.start is not None and "{port}" not in self.start:
            raise ValueError("`start` needs `{port}`, the port to listen on")
        if self.tls is not None and not (self.url or "").startswith("https:"):
            raise ValueError("tls: of a service with an https `url`, such as https://localhost:8443, of gRPC too")
        if self.address is not None and not self.address.rpartition(":")[2].isdecimal():
            raise ValueError(f"{shown(self.address)!r} is no HOST:PORT, such as localhost:8080")
        if self.start is None:
            place_of(self.url or f"http://{self.address}")
        return self

    @property
    def place(self) -> tuple[str, int, bool]:
        """Host, port, and whether connections are TLS, of one that runs already."""
        return place_of(self.url or f"http://{self.address}")


def place_of(url: str) -> tuple[str, int, bool]:
    """Return host, port and whether connections are TLS; ValueError for what names no server."""
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{shown(url)!r} names no server: {error}") from error
    if parts.username is not None:
        raise ValueError("a user stands in its URL: give `headers` with a ${NAME} instead")
    if parts.path.strip("/"):
        raise ValueError(f"{shown(url)!r} has a path, which belongs to the `call` of a stack")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or " " in url:
        raise ValueError(f"{shown(url)!r} names no server, such as http://localhost:8080 or https://orders.example")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80), parts.scheme == "https"


class BodySpec(OneOf):
    """One of these."""

    document: Any = Field(None, alias="json", description="A JSON value.")
    form: dict[str, Any] | None = Field(None, description="Fields of a form.")
    text: str | None = Field(None, description="A text.")
    file: Text | None = Field(None, description="A file, sent as it is.")


class ExpectSpec(Strict):
    """What a right reply has."""

    status: OneOrMany[Annotated[int, Field(ge=100, le=599)]] | None = Field(None, description="HTTP statuses.")
    values: dict[Text, Any] = Field(
        default_factory=dict, description="Values by fields with points, or JSONPath (RFC 9535)."
    )
    size: Size | None = Field(None, description="Its size.")
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = Field(None, description="Its digest.")


class OwnCallSpec(Strict):
    """One of http, graphql, websocket, socketio, sse, grpc. `{column}` is a value of `data`, `${NAME}` a secret."""

    http: Text | None = Field(None, description="Method and path.")
    graphql: Text | None = Field(None, description="A GraphQL document.")
    websocket: Text | None = Field(None, description="A path: one message, one reply.")
    socketio: Text | None = Field(None, description="An event that is acknowledged.")
    sse: Text | None = Field(None, description="Method and path of server-sent events.")
    grpc: Text | None = Field(None, description="A method.")
    headers: dict[str, str] = Field(default_factory=dict, description="Header fields; of gRPC metadata.")
    body: BodySpec | None = Field(None, description="http, sse: the body.")
    path: Text | None = Field(None, description="graphql, socketio: where; /graphql and /socket.io unless given.")
    variables: dict[str, Any] | None = Field(None, description="graphql: the variables.")
    send: Any = Field(None, description="websocket, socketio: the message, a text or a JSON value.")
    events: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="sse: the call ends with so many; with the stream unless given."
    )
    message: Any = Field(None, description="grpc: the request by its fields, or as its JSON form.")
    proto: Text | None = Field(None, description="grpc: a .proto, its imports beside it.")
    descriptors: Text | None = Field(None, description="grpc: a compiled descriptor set.")
    reflection: Literal[True] | None = Field(None, description="grpc: take the methods from the running service.")
    expect: ExpectSpec = Field(ExpectSpec(), description="What a right reply has; any success is right unless given.")
    save: dict[Column, Text] = Field(
        default_factory=dict, description="Values of the reply that later `steps` have as `{name}`."
    )
    redirects: Literal["follow"] | None = Field(None, description="http: redirects to the same server are followed.")
    same: dict[str, Text] = Field(default_factory=dict, description="Where its replies have a value of `same`.")
    decode: bool = Field(True, description="Whether the timed call decodes the reply.")

    @model_validator(mode="after")
    def _one_kind(self) -> OwnCallSpec:
        given = self.model_fields_set & set(CALLS)
        if len(given) != 1:
            raise ValueError(f"give one of {', '.join(CALLS)}")
        others = {key for kind, keys in _OF_KIND.items() if kind != self.kind for key in keys}
        if unfit := self.model_fields_set & (others - set(_OF_KIND[self.kind])):
            raise ValueError(f"{', '.join(sorted(unfit))}: not of a call by {self.kind}")
        if (request := self.http or self.sse) is not None and not _is_request(request):
            raise ValueError(f"{shown(request)!r} is no method and path, such as `GET /v1/orders`")
        offers = [text for name, text in self.headers.items() if name.lower() == "accept-encoding"]
        if codings := {coding.strip() for text in offers for coding in text.split(",")} - set(CODINGS):
            raise ValueError(f"accept-encoding: {', '.join(sorted(codings))}: replies are unpacked from gzip and zstd")
        if self.kind == "grpc" and sum(bool(v) for v in (self.proto, self.descriptors, self.reflection)) != 1:
            raise ValueError("grpc needs one of `proto`, `descriptors`, `reflection`")
        if self.kind == "websocket" and self.send is None:
            raise ValueError("websocket needs `send`")
        return self

    @property
    def kind(self) -> str:
        """Which kind of call it is."""
        return next(kind for kind in CALLS if getattr(self, kind) is not None)


_OF_KIND = {
    "http": ("body", "redirects"),
    "graphql": ("path", "variables"),
    "websocket": ("send",),
    "socketio": ("path", "send"),
    "sse": ("body", "events"),
    "grpc": ("message", "proto", "descriptors", "reflection"),
}


def _is_request(text: str) -> bool:
    method, _, path = text.partition(" ")
    return method in METHODS and path.startswith("/") and " " not in path


class DataSpec(Strict):
    """Rows of values for templates: CSV with a header line, or JSON lines."""

    file: Text = Field(description="A .csv, .jsonl or .ndjson file.")
    order: Literal["file", "random"] = Field("file", description="Of rows.")


Services = Annotated[dict[Name, ServiceSpec], Field(description="Services of your own that stacks call.")]
Data = Annotated[DataSpec, Shorthand("file", "A .csv or .jsonl file.")]
