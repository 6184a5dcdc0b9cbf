"""Which implementations and clients the file names, and what tables call them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import Any, TypeVar

from orchestrator.catalogue.offers import Client, Protocol, Responder
from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.experiment import StackSpec
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import KNOBS, OF_THE_CALL, choices, knobs, without_call
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan import external
from orchestrator.experiment.plan.alone import NOBODY
from orchestrator.experiment.plan.differences import parts_alone, parts_of
from orchestrator.experiment.plan.documents import carried_alone, carried_by
from orchestrator.experiment.plan.own_work import ALL_READ, NOT_KNOWN, SOME_UNREAD, declared
from orchestrator.experiment.plan.plan import External, Stack
from orchestrator.experiment.read.tree import Key
from services.python.contract.limits import RESUMED, SESSION, TLS, TLS_1_3, Kind
from services.python.contract.lines import Load

ALL = "all"

Part = TypeVar("Part", Responder, Client)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One combination of a stack item: who answers and, unless the load decides, who asks."""

    path: tuple[Key, ...]
    protocol: Protocol
    responder: Responder | None  # None: nobody is asked
    client: Client | None
    chosen: Mapping[str, tuple[Value, ...]]  # of each factor of the call, the values asked for
    external: External | None = None  # who answers, where that runs already

    @property
    def kind(self) -> Kind:
        """What its cells measure."""
        return "call" if self.client is None else self.client.kind

    @property
    def calls(self) -> tuple[Values, ...]:
        """Every way in which its requests are to be made: a value for each factor of the call, none where nobody is."""
        return tuple(choices(self.chosen)) if self.kind == "call" else (without_call(),)

    def client_for(self, load: Load, kind: Kind = "call") -> Client:
        """The client named in the file, else the protocol's default one for so many requests in flight.

        A stream's is the one for several whatever their number: it waits for events and for nothing in between.
        """
        if self.client is not None:
            return self.client
        is_one = load.rate_per_s is None and kind != "stream"
        return self.protocol.default_client(load.concurrency if is_one else 2)

    def stack_for(self, load: Load, kind: Kind = "call") -> Stack:
        """The stack under a load; its label is set when all stacks are known."""
        client = self.client_for(load, kind)
        responder = NOBODY if self.responder is None else self.responder.name
        identity = "-".join((self.protocol.name, responder, client.name))
        return Stack(
            id=identity,
            protocol=self.protocol.name,
            responder=responder,
            client=client.name,
            label=identity,
            external=self.external,
        )


def resolve_entries(located: Located, known: Mapping[str, Protocol]) -> tuple[Entry, ...]:
    """Every stack of the file against the protocols there are; unknown names are noted in `located`."""
    externals = external.resolve_externals(located)
    names = external.names(externals.values())
    return tuple(
        entry if given is None else _answered_by(entry, given, names[given])
        for index, spec in enumerate(located.experiment.stacks)
        for given in [externals.get(index)]
        for entry in _expand(located, ("stacks", index), spec, known)
    )


def _answered_by(entry: Entry, given: External, name: str) -> Entry:
    return replace(entry, responder=external.responder(entry.protocol, name), external=given)


def _expand(located: Located, path: tuple[Key, ...], spec: StackSpec, known: Mapping[str, Protocol]) -> Iterator[Entry]:
    if spec.external and (spec.protocol == ALL or spec.responder):
        located.add(
            path,
            "a responder that runs already answers one protocol, by an implementation that orch does not know: name the"
            " protocol, and no `responder`.",
        )
        return
    chosen = {f.name: getattr(spec, f.name) or getattr(located.experiment, f.name) for f in OF_THE_CALL}
    if spec.protocol == ALL:
        if spec.responder or spec.client:
            located.add(
                path, "`all` takes every protocol with its defaults; name a protocol to choose a responder or client."
            )
        asked = {name for operation in located.experiment.operations for name in operation.names}
        for protocol in known.values():
            if not protocol.is_floor and protocol.operations & asked:
                yield Entry(path=path, protocol=protocol, responder=protocol.responder(), client=None, chosen=chosen)
        return
    if spec.protocol not in known:
        located.add(
            (*path, "protocol"), f"unknown protocol '{spec.protocol}'. {did_you_mean(spec.protocol, [*known, ALL])}"
        )
        return
    protocol = known[spec.protocol]
    responders = [
        responder
        for name in spec.responder or (protocol.responders[0].name,)
        if (responder := _named(located, (*path, "responder"), "responder", protocol, name, protocol.responders))
    ]
    clients: list[Client | None] = [None]
    if spec.client:
        named = (_named(located, (*path, "client"), "client", protocol, name, protocol.clients) for name in spec.client)
        clients = [client for client in named if client]
    alone = [client for client in clients if client is not None and client.kind == "codec"]
    for key in ("responder", "external"):
        if alone and getattr(spec, key):
            located.add((*path, key), f"nobody answers {alone[0].name}, a codec alone: leave `{key}` out.")
    for codec in alone:
        yield Entry(path=path, protocol=protocol, responder=None, client=codec, chosen=chosen)
    for responder, client in product(responders, [client for client in clients if client not in alone]):
        yield Entry(path=path, protocol=protocol, responder=responder, client=client, chosen=chosen)


def _named(
    located: Located, path: tuple[Key, ...], role: str, protocol: Protocol, name: str, parts: Sequence[Part]
) -> Part | None:
    by_name = {part.name: part for part in parts}
    if name not in by_name:
        located.add(path, f"protocol {protocol.name} has no {role} '{name}'. {did_you_mean(name, by_name)}")
    return by_name.get(name)


def refusal(entry: Entry, client: Client, operation: str, call: Values, kind: Kind = "call") -> str | None:
    """Why a combination cannot be measured; None when it can. `call` has a value for each factor of the call."""
    protocol = entry.protocol
    if kind == "stream":
        for factor in OF_THE_CALL:
            if call[factor.name] != factor.default and not factor.has_streams:
                return f"'{operation}' is a stream, which has no {factor.name}: {call[factor.name]}"
    else:
        for factor in OF_THE_CALL:
            if factor.is_of_streams and call[factor.name] not in (None, factor.default):
                value = (
                    factor.numbers.text(found) if factor.numbers and isinstance(found := call[factor.name], int) else ""
                )
                return f"'{operation}' is no stream, and {factor.name}: {value} is of the events of one"
    if kind == "codec" and client.kind != "codec":
        return f"'{operation}' is coded alone, and {client.name} asks"
    if operation not in protocol.operations:
        return f"{protocol.name} does not carry '{operation}' (it carries {', '.join(sorted(protocol.operations))})"
    ends: list[tuple[Responder | Client, str]] = [(client, "client")]
    if entry.responder is not None:
        ends.insert(0, (entry.responder, "responder"))
    for part, role in ends:
        refused = {
            operation: f"'{operation}'",
            kind: f"'{operation}'",
            **{str(value): f"{name}: {value}" for name, value in call.items()},
            **{f"{name}: {value}": f"{name}: {value}" for name, value in call.items()},
            **{name: f"{name}: {value}" for name, value in knobs(call).items()},
        }
        for what, words in refused.items():
            if what in part.refuses:
                return f"{protocol.name}'s {role} {part.name} cannot do {words}: {part.refuses[what]}"
    reason = protocol.refusal_of(knobs(call), [end for end, _ in ends])
    return _as_written(reason, call) if reason else _refusal_of_session(call)


def _as_written(reason: str, call: Values) -> str:
    """A reason with numbers as a file writes them: `flow_window: 1 MB`."""
    for factor in KNOBS:
        value = call[factor.name]
        if factor.numbers is not None and isinstance(value, int):
            reason = reason.replace(f"{factor.name}: {value}:", f"{factor.name}: {factor.numbers.text(value)}:")
    return reason


def _refusal_of_session(call: Values) -> str | None:
    """Why a session cannot be resumed, whatever the client; None where it can, or is not asked for."""
    if call[SESSION] != RESUMED:
        return None
    if call[TLS] != TLS_1_3:
        return f"{SESSION}: {RESUMED} is of TLS, and a connection with {TLS}: {call[TLS]} has no session"
    if call["connection"] != "per-request":
        return f"{SESSION}: {RESUMED} is of new connections: one that is kept has a single handshake, and nothing to resume"
    return None


def way_out(entry: Entry, client: Client, operation: str, call: Values, kind: Kind = "call") -> str:
    """What to write instead of a combination that is refused."""
    for factor in OF_THE_CALL:
        values: list[Value] = [level.value for level in factor.levels]
        for value in values or [factor.default]:
            if refusal(entry, client, operation, {**call, factor.name: value}, kind) is None:
                return f"Give the stack `{factor.name}: {value}`, or leave this part out with `exclude`."
    return "Change the stack, or leave this part out with `exclude`."


def omitting(stack: Stack, protocol: Protocol) -> Iterator[str]:
    """Names of the stack's ends that leave out what others do: no label hides them."""
    ends = (_responder(stack, protocol), protocol.client(stack.client))
    return (end.name for end in ends if end is not None and end.omits)


def _responder(stack: Stack, protocol: Protocol) -> Responder | None:
    """Who answers, None where nobody is asked; a stand-in where that runs already and nobody knows it."""
    if stack.external is not None:
        return external.responder(protocol, stack.responder)
    return None if stack.responder == NOBODY else protocol.responder(stack.responder)


def label_stacks(stacks: Iterable[Stack], always_named: Container[str] = ()) -> tuple[Stack, ...]:
    """Stacks with the shortest labels that tell them apart: the protocol, and what differs among its stacks.

    Responders and clients in `always_named` stand in every label of theirs, and so does a responder that runs already.
    """
    every = list(stacks)
    labelled = []
    for stack in every:
        siblings = [other for other in every if other.protocol == stack.protocol]
        parts = [
            getattr(stack, part)
            for part in ("responder", "client")
            if len({getattr(other, part) for other in siblings}) > 1
            or getattr(stack, part) in always_named
            or (part == "responder" and stack.external is not None)
        ]
        label = f"{stack.protocol} ({', '.join(parts)})" if parts else stack.protocol
        labelled.append(replace(stack, label=label))
    return tuple(labelled)


def describe_stack(stack: Stack, protocol: Protocol, *, is_chosen: bool, flights: tuple[bool, bool]) -> dict[str, Any]:
    """Every default of a stack resolved: settings, versions installed here, and why this client.

    `flights`: whether it is used with one request in flight, and with several.
    """
    responder, client = _responder(stack, protocol), protocol.client(stack.client)
    if responder is None:
        ends: tuple[Responder | Client, ...] = (client,)
        parts = parts_alone(protocol, client)
    else:
        ends, parts = (responder, client), parts_of(responder, client)
    fields = ALL_READ if not any(end.omits for end in ends) else SOME_UNREAD
    at = [text for text, is_used in zip(("1", "more than 1"), flights, strict=True) if is_used]
    chosen = (
        "named in the experiment" if is_chosen else f"thin and comparable: the default at {' and '.join(at)} in flight"
    )
    return {
        "protocol": protocol.title,
        "settings": {
            "protocol": dict(protocol.settings),
            "responder": {} if responder is None else dict(responder.settings),
            "client": dict(client.settings),
        },
        "parts": parts if stack.external is None else external.parts(parts, protocol, stack.responder, client),
        "documents": carried_alone(parts) if responder is None else carried_by(responder, client),
        "own_work": declared(*ends),
        "fields": fields if stack.external is None else NOT_KNOWN,
        "client_style": client.style,
        "round_trips_to_open": protocol.round_trips(client.name),
        "client_reason": chosen,
        "versions": _versions(package for end in ends for package in end.packages),
    }


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for package in sorted(set(packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed here"
    return found
