"""What a protocol's folder says of itself, without importing what it needs: one `PROTOCOL`, or a table of them.

`python_manifest` writes them all to `services/python/manifest.json`, which the orchestrator plans by; both ends read it to
find the module to load. Adding a protocol is adding such a folder, or a row of such a table.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from functools import cache
from typing import Any, Final, Literal

from services.python.contract.knobs import (
    CONNECTIONS,
    DRIVERS,
    OF_SOCKETS,
    READ_RATE,
    READ_RATES,
    WHY_NOT,
    allows,
    refusal_of_sharing,
    unfit,
)
from services.python.contract.limits import RESUMED, SESSION, TLS, TLS_1_3
from services.python.contract.messages import Message
from services.python.contract.strict import Part, part

_PROTOCOLS = "services.python.protocols"
_BODIES = f"{_PROTOCOLS}.bodies"
_OWN = f"{_PROTOCOLS}.own"
_CODECS = "services.python.codecs"
_OPERATIONS = "services.python.operations"

ANY: Final = "any"
NONE = "none"
RAW = "raw"

DOCUMENT = "document"  # the knob that says how a JSON document travels where it cannot as it is
TYPED = "typed"
AS_MESSAGES: Mapping[str, tuple[str, ...]] = {DOCUMENT: (TYPED, "value")}  # it, for a protocol with Protocol Buffers
AS_IT_IS: Mapping[str, str] = {
    DOCUMENT: "it carries no Protocol Buffers, and a JSON document needs no message of its own"
}
"""Why all others have no such knob."""

SECURED: Mapping[str, tuple[str, ...]] = {TLS: ("none", TLS_1_3), SESSION: ("new", RESUMED)}
"""The knobs of TLS, for a protocol whose clients can be told both."""
TLS_SETTINGS: Mapping[str, str] = {
    "TLS": "off",
    f"{TLS}: {TLS_1_3}": "TLS 1.3 alone; the client verifies the chain and the address",
}


@part
class Parts(Part):
    """What a responder is put together from, so that two stacks can be compared part by part; keys as in `manifest`."""

    codec: str
    transport: str
    server: str
    framework: str = NONE
    validation: str = NONE
    bytes_as: str = RAW


@part
class Responder(Part):
    """One implementation that answers, and the parts it is made of.

    `module` has `serve(dispatcher, host, port, announce)`. With `served_by`, the module of a server, it has
    `application(dispatcher)` instead, and with `framework`, a module that answers paths, only `paths()`; both are given the
    codec where `codec` names a module of `codecs`. The other keys are as in `manifest`; `adds` is a short phrase,
    a verb with its object (`validates every body with pydantic models`). `shares`: what its worker processes have
    in common, where it can have several: one listening socket, or a port on which each listens with a socket of its own
    (SO_REUSEPORT).
    """

    name: str
    module: str
    parts: Parts
    served_by: str = ""
    framework: str = ""
    codec: str = ""
    adds: str = ""
    without: str = ""
    packages: tuple[str, ...] = ()
    refuses: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    most_streams: int | None = None
    shares: Literal["socket", "port"] = "socket"

    @property
    def modules(self) -> tuple[str, ...]:
        """All modules that it names."""
        return _named(self.module, self.codec, self.served_by, self.framework)

    @property
    def drivers(self) -> tuple[str, ...]:
        return tuple(name for name in DRIVERS if f"driver: {name}" not in self.refuses)


@part
class Client(Part):
    """One client library that asks; keys as in `manifest`.

    `module` has `dialer(call, client)`; `codec` as in `Responder`. `loads`: the modules that `module` loads by name for this
    client alone.
    """

    name: str
    module: str
    style: Literal["sync", "async"]
    codec: str = ""
    adds: str = ""
    omits: str = ""
    packages: tuple[str, ...] = ()
    refuses: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    round_trips_to_open: int | None = None
    transport: str | None = None
    kind: Literal["call", "codec"] = "call"
    loads: tuple[str, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """All modules that it names."""
        return (*_named(self.module, self.codec), *self.loads)


def _named(module: str, codec: str, *others: str) -> tuple[str, ...]:
    return tuple(filter(None, (module, f"{_CODECS}.{codec}" if codec else "", *others)))


@part
class Protocol(Part):
    """A named combination of a codec and a transport, and who can speak it here.

    `messages` are the names of those that it has a schema for; `ANY` of a protocol that needs none. It carries every
    operation with such a message. `streams`: whether streams are among these (`also`) or not (`no`), or are all that it
    carries (`alone`). `knobs`: the values of each (protos/process.md), the default first. The other keys are as in
    `manifest`; `round_trips_to_open` includes TCP's own handshake.
    """

    name: str
    title: str
    summary: str
    messages: frozenset[str] | Literal["any"]
    responders: tuple[Responder, ...]
    clients: tuple[Client, ...]
    sequential: str
    concurrent: str
    round_trips_to_open: int = 1
    is_floor: bool = False
    streams: Literal["no", "also", "alone"] = "no"
    knobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_knobs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def carries(self, message: Message) -> bool:
        """Whether requests and replies of this message can travel by it."""
        if self.streams == ("no" if message.is_stream else "alone"):
            return False
        return not message.is_bare if self.messages == ANY else message.name in self.messages

    @property
    def operations(self) -> frozenset[str]:
        """The names of the operations whose message it carries, and, where a client of it codes alone, those only coded."""
        codes = any(client.kind == "codec" for client in self.clients)
        return frozenset(
            name
            for name, operation in operations().items()
            if (codes if operation.kind == "codec" else self.carries(operation.message))
        )

    @property
    def every_knob(self) -> Mapping[str, tuple[str, ...]]:
        """Its own, those of sockets, those of any client's calls, and where it carries streams those of their readers."""
        of_streams = {} if self.streams == "no" else {READ_RATE: READ_RATES}
        return {**OF_SOCKETS, **of_streams, **self.knobs}

    def lacks(self, knob: str, value: str) -> str | None:
        """Why neither end can be told so; None when both can."""
        if allows(self.every_knob.get(knob, ()), value):
            return None
        return self.without_knobs.get(knob) or WHY_NOT.get(knob) or "it has no such knob"

    def refusal_of(
        self,
        knobs: Mapping[str, str],
        end: Responder | Client | None = None,
        *,
        has_schema: bool = False,
        has_tls: bool = False,
    ) -> str | None:
        """Why an end of this protocol cannot be told all of these, and given a schema or files for TLS; None when it can."""
        for name, value in knobs.items():
            if reason := self.lacks(name, value):
                return f"{self.name} cannot do {name}: {value}: {reason}"
            if name == CONNECTIONS and (reason := refusal_of_sharing(self.knobs, knobs)):
                return f"{self.name} cannot do {name}: {value}: {reason}"
            if end is not None and (reason := end.refuses.get(f"{name}: {value}") or end.refuses.get(name)):
                return f"{self.name}'s {end.name} cannot do {name}: {value}: {reason}"
        if reason := unfit(knobs, self.every_knob):
            return f"{self.name} cannot do {reason}"
        if has_schema and (reason := self.lacks(DOCUMENT, TYPED)):
            return f"{self.name} cannot take a schema: {reason}"
        if has_schema and knobs.get(DOCUMENT, TYPED) != TYPED:
            return f"a schema, and {DOCUMENT}: {knobs[DOCUMENT]}: a document travels in one way"
        return _refusal_of_tls(knobs, has_tls=has_tls)

    def responder(self, name: str | None = None) -> Responder:
        if name is None:
            return self.responders[0]
        return {r.name: r for r in self.responders}[name]

    def client(self, name: str) -> Client:
        return {c.name: c for c in self.clients}[name]

    def default_client(self, concurrency: int) -> Client:
        """The thin, comparable client for so many requests in flight."""
        return self.client(self.sequential if concurrency == 1 else self.concurrent)


def _refusal_of_tls(knobs: Mapping[str, str], *, has_tls: bool) -> str | None:
    version = knobs.get(TLS, SECURED[TLS][0])
    if has_tls != (version == TLS_1_3):
        return f"{TLS}: {version}, {'and' if has_tls else 'but no'} files for it (`tls` of the line)"
    if knobs.get(SESSION) == RESUMED and not has_tls:
        return f"{SESSION}: {RESUMED} without TLS, where there is no session"
    return None


def find_protocol(name: str) -> Protocol:
    """The protocol of that name, and no other is made (small hosts pay for every import); KeyError."""
    protocol = None
    if name.startswith(("http+", "own_")):
        protocol = importlib.import_module(_OWN if name.startswith("own_") else _BODIES).protocol(name)
    elif name.isidentifier():
        with suppress(ModuleNotFoundError):
            protocol = getattr(importlib.import_module(f"{_PROTOCOLS}.{name}"), "PROTOCOL", None)
    if not isinstance(protocol, Protocol):
        raise KeyError(name)
    return protocol


def operations() -> Mapping[str, Any]:
    """Every operation by name: the `OPERATIONS` of `services/python/operations/`, which stands on this folder."""
    every: Mapping[str, Any] = importlib.import_module(_OPERATIONS).OPERATIONS
    return every


@cache
def protocols() -> Mapping[str, Protocol]:
    """Every protocol found under `services/python/protocols/`, by name, in alphabetical order."""
    import pkgutil  # what reads one protocol alone does not pay for it

    folders = {
        module.name for module in pkgutil.iter_modules(importlib.import_module(_PROTOCOLS).__path__) if module.ispkg
    }
    tables = [importlib.import_module(table).NAMES for table in (_BODIES, _OWN)]
    return {name: find_protocol(name) for name in sorted((folders - {"bodies", "own"}).union(*tables))}
