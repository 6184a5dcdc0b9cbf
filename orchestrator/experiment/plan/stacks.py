"""Which implementations and clients a file names, what both ends can do, and what tables call them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import Any, TypeVar

from orchestrator.catalogue.offers import Client, Parts, Protocol, Responder
from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.experiment import StackSpec
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import (
    DRIVER,
    KNOBS,
    OF_THE_CALL,
    POSTGRESQL,
    STORE,
    choices,
    knobs,
    without_call,
)
from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.plan.own.json_documents import carried_by
from orchestrator.experiment.plan.parts import BYTES, LANGUAGES, REQUESTER, RESPONDER, parts_alone, parts_of
from orchestrator.experiment.plan.plan import NOBODY, External, Stack
from orchestrator.experiment.plan.topology import usable
from services.python.contract.knobs import HTTP, HTTP_3
from services.python.contract.limits import RESUMED, SESSION, TLS, TLS_1_3, Kind
from services.python.contract.lines import Load

ALL = "all"
NATIVE = "native"  # as a client: the first of the compiled ones that is built here
OR_EXCLUDE = "or leave this part out with `exclude`"
Part = TypeVar("Part", Responder, Client)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One combination of a stack item: the responder and, unless the load decides, the client."""

    path: Steps
    protocol: Protocol
    responder: Responder | None  # None: a codec alone
    client: Client | None
    chosen: Mapping[str, tuple[Value, ...]]  # of each factor of the call, the values asked for
    external: External | None = None  # who answers, where that is a service of one's own
    names_driver: bool = False  # whether the file names a PostgreSQL driver

    @property
    def kind(self) -> Kind:
        """What its cells measure."""
        return "call" if self.client is None else self.client.kind

    @property
    def calls(self) -> tuple[Values, ...]:
        """Every way in which its requests are to be made: a value for each factor of the call, none where nobody is."""
        if self.kind != "call":
            return (without_call(),)
        drivers = () if self.responder is None or self.names_driver else self.responder.drivers
        return tuple(
            # A responder's own first driver stands in where it lacks the usual one.
            {**call, DRIVER: drivers[0]}
            if drivers and call[STORE] == POSTGRESQL and call[DRIVER] not in drivers
            else call
            for call in choices(self.chosen)
        )

    def client_for(self, load: Load, kind: Kind = "call") -> Client:
        """The client named in the file, else the protocol's default one: for several in flight, or for one."""
        if self.client is not None:
            return self.client
        is_one = load.rate_per_s is None and kind != "stream"
        return self.protocol.default_client(load.concurrency if is_one else 2)

    def stack_for(self, load: Load, kind: Kind = "call") -> Stack:
        """The stack under a load; its label is set when all stacks are known."""
        client = self.client_for(load, kind).name
        responder = NOBODY if self.responder is None else self.responder.name
        identity = "-".join((self.protocol.name, responder, client))
        return Stack(
            id=identity,
            protocol=self.protocol.name,
            responder=responder,
            client=client,
            label=identity,
            external=self.external,
        )


def chosen_calls(located: Located, spec: StackSpec) -> dict[str, tuple[Value, ...]]:
    """Return the values of each factor of the call that a stack has, its own before the experiment's."""
    return {f.name: getattr(spec, f.name) or getattr(located.experiment, f.name) for f in OF_THE_CALL}


def resolve_entries(located: Located, known: Mapping[str, Protocol]) -> tuple[Entry, ...]:
    """Every stack of the file against the protocols there are; unknown names are noted in `located`."""
    answered = {name: protocol for name, protocol in known.items() if protocol.responders}
    return tuple(
        entry
        for index, spec in enumerate(located.experiment.stacks)
        for entry in _expand(located, ("stacks", index), spec, answered)
    )


def _expand(located: Located, path: Steps, spec: StackSpec, known: Mapping[str, Protocol]) -> Iterator[Entry]:
    names_driver = DRIVER in spec.model_fields_set or DRIVER in located.experiment.model_fields_set
    entry = partial(Entry, path=path, chosen=chosen_calls(located, spec), names_driver=names_driver)
    if spec.protocol == ALL:
        if spec.responder or spec.client:
            reason = "`all` takes every protocol with its defaults; name a protocol to choose a responder or client."
            located.add(path, reason)
        operations = {name for operation in located.experiment.operations for name in operation.names}
        for protocol in known.values():
            if not protocol.is_floor and protocol.operations & operations:
                yield entry(protocol=protocol, responder=protocol.responder(), client=None)
        return
    if spec.protocol not in known:
        meant = did_you_mean(spec.protocol, [*known, ALL])
        located.add((*path, "protocol"), f"unknown protocol '{spec.protocol}'. {meant}")
        return
    protocol = known[spec.protocol]
    entry = partial(entry, protocol=protocol)
    names = spec.responder or (protocol.responders[0].name,)
    wanted = [_named(located, (*path, "responder"), protocol, name, protocol.responders) for name in names]
    clients = clients_of(located, path, protocol, spec)
    for client in clients:
        if client.kind == "codec":
            if spec.responder:
                reason = f"nobody answers {client.name}, a codec alone: leave `responder` out."
                located.add((*path, "responder"), reason)
            yield entry(responder=None, client=client, names_driver=False)
    for responder in filter(None, wanted):
        if not spec.client:
            yield entry(responder=responder, client=None)
        for client in clients:
            if client.kind != "codec":
                yield entry(responder=responder, client=client)


def clients_of(located: Located, path: Steps, protocol: Protocol, spec: StackSpec) -> list[Client]:
    """Return the clients that a stack names."""
    names = [_native_here(located, protocol) if name == NATIVE else name for name in spec.client or ()]
    named = (_named(located, (*path, "client"), protocol, name, protocol.clients) for name in names)
    return [client for client in named if client is not None]


def _native_here(located: Located, protocol: Protocol) -> str:
    """The first compiled client of a protocol that can be started here; the first of all where none can."""
    provider, machine = located.experiment.provider, located.experiment.machine
    able = [client.name for client in protocol.natives if not usable(client.language, provider, machine)[0]]
    return next(iter([*able, *(client.name for client in protocol.natives)]), NATIVE)


def _named(located: Located, path: Steps, protocol: Protocol, name: str, parts: Sequence[Part]) -> Part | None:
    by_name = {part.name: part for part in parts}
    if name not in by_name:
        meant = did_you_mean(name, by_name)
        located.add(path, f"protocol {protocol.name} has no {path[-1]} '{name}'. {meant}")
    return by_name.get(name)


# ---- what both ends can do


@dataclass(frozen=True)
class Unable:
    """Why two ends cannot do an operation, and the factor whose value they cannot have; empty where it is no factor's."""

    reason: str
    factor: str = ""


def refusal_of_ends(entry: Entry, client: Client, operation: str, call: Values, kind: Kind = "call") -> Unable | None:
    """Return why two ends cannot do an operation; None where they can. `call` has a value for each factor of the call."""
    protocol, responder = entry.protocol, entry.responder
    for factor in OF_THE_CALL:
        value = call[factor.name]
        if kind == "stream" and value != factor.default and not factor.has_streams:
            return Unable(f"'{operation}' is a stream, which has no {factor.name}: {value}")
        if kind != "stream" and factor.is_of_streams and value not in (None, factor.default):
            text = _written(call).get(factor.name, "")
            return Unable(f"'{operation}' is no stream, and {factor.name}: {text} is of the events of one")
    if kind == "codec" and client.kind != "codec":
        return Unable(f"'{operation}' is for codecs alone, and {client.name} sends requests")
    if operation not in protocol.operations:
        carried = ", ".join(sorted(protocol.operations))
        return Unable(f"{protocol.name} does not carry '{operation}' (it carries {carried})")
    ends: list[Responder | Client] = [client] if responder is None else [responder, client]
    for end in ends:
        if end.refuses and (declared := _declared(protocol, end, operation, call, kind)):
            return declared
    drivers = () if responder is None or call[STORE] != POSTGRESQL else responder.drivers
    if responder is not None and drivers and call[DRIVER] not in drivers:
        words = f"{protocol.name}'s responder {responder.name} cannot do {DRIVER}: {call[DRIVER]}"
        return Unable(f"{words}: its drivers are {' and '.join(drivers)}", DRIVER)
    if lack := protocol.refusal_of(knobs(call), ends, _written(call)):
        name, text = lack
        return Unable(text, name)
    if call[SESSION] == RESUMED and (call[TLS] != TLS_1_3 or call["connection"] != "per-request"):
        return Unable(f"{SESSION}: {RESUMED} is of new connections with TLS: one that is kept has nothing to resume")
    return None


def _declared(protocol: Protocol, end: Responder | Client, operation: str, call: Values, kind: Kind) -> Unable | None:
    """What an end declares that it refuses; None where it refuses nothing."""
    refused = {
        operation: ("", f"'{operation}'"),
        kind: ("", f"'{operation}'"),
        **{str(value): (name, f"{name}: {value}") for name, value in call.items()},
        **{f"{name}: {value}": (name, f"{name}: {value}") for name, value in call.items()},
        **{name: (name, f"{name}: {value}") for name, value in knobs(call).items()},
    }
    subject = f"{protocol.name}'s {'client' if isinstance(end, Client) else 'responder'} {end.name}"
    for key, (factor, words) in refused.items():
        if key in end.refuses:
            return Unable(f"{subject} cannot do {words}: {end.refuses[key]}", factor)
    return None


def _written(call: Values) -> dict[str, str]:
    """Numbers of a call as a file writes them: `1 MB`."""
    return {
        factor.name: factor.numbers.text(value)
        for factor in KNOBS
        if factor.numbers is not None and isinstance(value := call[factor.name], int)
    }


def way_out(entry: Entry, client: Client, operation: str, call: Values, kind: Kind = "call") -> str:
    """Return what to write instead of what two ends cannot do, as a clause: a value of a factor, or other ends."""

    def can(**values: Value) -> bool:
        return refusal_of_ends(entry, client, operation, {**call, **values}, kind) is None

    if call[HTTP] == HTTP_3 and can(**{TLS: TLS_1_3}):
        return f"Give the stack `{TLS}: {TLS_1_3}`"
    others = _other_ends(entry, client, operation, call, kind)
    unable = refusal_of_ends(entry, client, operation, call, kind)
    for factor in sorted(OF_THE_CALL, key=lambda factor: unable is None or factor.name != unable.factor):
        values: list[Value] = [level.value for level in factor.levels]
        for value in values or [factor.default]:
            if can(**{factor.name: value}):
                return f"Give the stack `{factor.name}: {value}`{others and f' or {others}'}"
    return f"Give it {others}" if others else "Change the stack"


def _other_ends(entry: Entry, client: Client, operation: str, call: Values, kind: Kind) -> str:
    """Another client, responder or both with which it can be measured, as a file names them; empty where none is known."""
    if entry.responder is None or entry.external is not None or client.kind == "codec":
        return ""
    clients = [client, *(other for other in entry.protocol.clients if other.kind == client.kind)]
    for responder, other in product([entry.responder, *entry.protocol.responders], clients):
        if refusal_of_ends(replace(entry, responder=responder), other, operation, call, kind) is None:
            changed = (("responder", responder, entry.responder), ("client", other, client))
            return " with ".join(f"`{role}: {new.name}`" for role, new, old in changed if new is not old)
    return ""


def omitting(entry: Entry, client: str) -> Iterator[str]:
    """Names of a stack's ends that leave out what others do: no label hides them."""
    ends = (entry.responder, entry.protocol.client(client))
    return (end.name for end in ends if end is not None and end.omits)


def label_stacks(stacks: Iterable[Stack], always_named: Container[str] = ()) -> tuple[Stack, ...]:
    """Stacks with the shortest distinct labels: the protocol, what differs among its stacks, and ends in `always_named`."""
    every = list(stacks)
    labelled = []
    for stack in every:
        by, name = ("protocol", stack.protocol) if stack.external is None else ("responder", stack.external.name)
        siblings = [other for other in every if getattr(other, by) == getattr(stack, by)]
        parts = [
            getattr(stack, part)
            for part in ("responder", "client")
            if len({getattr(other, part) for other in siblings}) > 1 or getattr(stack, part) in always_named
        ]
        labelled.append(replace(stack, label=f"{name} ({', '.join(parts)})" if parts else name))
    return tuple(labelled)


def describe_stack(stack: Stack, entry: Entry) -> dict[str, Any]:
    """Every default of a stack resolved: settings, versions installed here, and why this client."""
    protocol, responder, client = entry.protocol, entry.responder, entry.protocol.client(stack.client)
    if stack.external is not None and not all(call.get("decode", True) for call in stack.external.each_call):
        client = replace(client, omits="stops the clock before its reply is decoded")
    ends: tuple[Responder | Client, ...] = (client,) if responder is None else (responder, client)
    parts = parts_alone(protocol, client) if responder is None else parts_of(responder, client)
    if stack.external is not None:
        known = (name for name in ("codec", BYTES, "transport", "client") if name in parts)
        parts = {**{name: parts[name] for name in known}, "service": _unknown(protocol, stack.responder)}
    packages = {package for end in ends if not end.language.build for package in end.packages}
    own = responder if stack.external is None else None
    return {
        "protocol": protocol.title,
        "parts": parts,
        "documents": carried_by(responder, client, parts["codec"]),
        "own_work": [
            {key: words for key in ("name", "adds", "without", "omits") if (words := getattr(end, key, ""))}
            for end in ends
            if end.adds or end.omits
        ],
        LANGUAGES: {**({RESPONDER: own.language.title} if own else {}), REQUESTER: client.language.title},
        "round_trips_to_open": protocol.round_trips(client.name),
        "client_reason": "thin and comparable: the default" if entry.client is None else "named in the experiment",
        "versions": {package: _version(package) for package in sorted(packages)},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed here"


_UNTOLD = "it is your own service, and orch sets nothing there"
_CODECS = {"GraphQL": "GraphQL", "gRPC": "Protocol Buffers"}
_TRANSPORTS = {"WebSocket": "WebSocket", "Socket.IO": "Socket.IO over WebSocket", "gRPC": "HTTP/2"}


def external_responder(protocol: Protocol, name: str) -> Responder:
    """Return a stand-in for the responder of a service: only settings of the client apply to it."""
    unknown, client = _unknown(protocol, name), protocol.clients[0]
    return Responder(
        name=name,
        language=client.language,
        knobs=client.knobs,
        without_knobs={factor.name: _UNTOLD for factor in KNOBS if factor.name not in client.knobs},
        parts=Parts(
            codec=_CODECS.get(protocol.title, "JSON"),
            transport=_TRANSPORTS.get(protocol.title, "HTTP/1.1"),
            server=unknown,
            framework=unknown,
            validation=unknown,
        ),
    )


def _unknown(protocol: Protocol, name: str) -> str:
    """A text of its own for each unknown responder and protocol: nobody knows whether two are alike."""
    return f"not known ({protocol.name}, {name})"
