"""Which implementations and clients the file names, and what tables call them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from orchestrator.catalogue.offers import NATIVE, Client, Language, Protocol, Responder
from orchestrator.errors import did_you_mean
from orchestrator.experiment.model.address import is_loopback, parse_address, resolve
from orchestrator.experiment.model.experiment import StackSpec
from orchestrator.experiment.model.factor import Value, Values
from orchestrator.experiment.model.factors import DRIVER, KNOBS, OF_THE_CALL, choices, without_call
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan import contrasts, stacks
from orchestrator.experiment.plan.cells import by_own_driver
from orchestrator.experiment.plan.contrasts import (
    ALL_READ,
    NOT_KNOWN,
    READING_NOT_KNOWN,
    SOME_UNREAD,
    declared_work,
    parts_alone,
    parts_of,
)
from orchestrator.experiment.plan.documents import carried_alone, carried_by
from orchestrator.experiment.plan.plan import NOBODY, External, Stack
from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE
from orchestrator.experiment.read.tree import Key
from services.python.contract.knobs import READ_RATE, READ_RATES
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

if TYPE_CHECKING:
    from orchestrator.experiment.plan.stacks import Entry

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
    names_driver: bool = False  # whether the file says by which library PostgreSQL is asked
    natives: tuple[Client, ...] = ()  # those that its client is one of, where that is `native`
    why_client: str = ""  # why its client is this one, where that is `native`

    @property
    def kind(self) -> Kind:
        """What its cells measure."""
        return "call" if self.client is None else self.client.kind

    @property
    def calls(self) -> tuple[Values, ...]:
        """Every way in which its requests are to be made: a value for each factor of the call, none where nobody is."""
        if self.kind != "call":
            return (without_call(),)
        own = self.responder is not None and not self.names_driver
        return tuple(by_own_driver(call, self.responder) if own else call for call in choices(self.chosen))

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
    externals = stacks.resolve_externals(located)
    names = stacks.external_names(externals.values())
    return tuple(
        entry if given is None else _answered_by(entry, given, names[given])
        for index, spec in enumerate(located.experiment.stacks)
        for given in [externals.get(index)]
        for entry in _expand(located, ("stacks", index), spec, known)
    )


def _answered_by(entry: Entry, given: External, name: str) -> Entry:
    return replace(entry, responder=stacks.external_responder(entry.protocol, name), external=given)


def _expand(located: Located, path: tuple[Key, ...], spec: StackSpec, known: Mapping[str, Protocol]) -> Iterator[Entry]:
    if spec.external and (spec.protocol == ALL or spec.responder):
        located.add(
            path,
            "a responder that runs already answers one protocol, by an implementation that orch does not know: name the"
            " protocol, and no `responder`.",
        )
        return
    chosen = {f.name: getattr(spec, f.name) or getattr(located.experiment, f.name) for f in OF_THE_CALL}
    names_driver = DRIVER in spec.model_fields_set or DRIVER in located.experiment.model_fields_set
    if spec.protocol == ALL:
        if spec.responder or spec.client:
            located.add(
                path, "`all` takes every protocol with its defaults; name a protocol to choose a responder or client."
            )
        asked = {name for operation in located.experiment.operations for name in operation.names}
        for protocol in known.values():
            if not protocol.is_floor and protocol.operations & asked:
                yield Entry(
                    path=path,
                    protocol=protocol,
                    responder=protocol.responder(),
                    client=None,
                    chosen=chosen,
                    names_driver=names_driver,
                )
        return
    if spec.protocol not in known:
        several = [name.strip() for name in spec.protocol.split(",")]
        meant = did_you_mean(spec.protocol, [*known, ALL])
        if len(several) > 1:
            meant = f"Several stand in brackets: [{', '.join(several)}]."
        located.add((*path, "protocol"), f"unknown protocol '{spec.protocol}'. {meant}")
        return
    protocol = known[spec.protocol]
    responders = [
        responder
        for name in spec.responder or (protocol.responders[0].name,)
        if (responder := _named(located, (*path, "responder"), protocol, name, protocol.responders, known))
    ]
    clients = [
        choice for name in spec.client or () for choice in _choices(located, (*path, "client"), protocol, name, known)
    ]
    alone = [client for client, _ in clients if client.kind == "codec"]
    for key in ("responder", "external"):
        if alone and getattr(spec, key):
            located.add((*path, key), f"nobody answers {alone[0].name}, a codec alone: leave `{key}` out.")
    for codec in alone:
        yield Entry(path=path, protocol=protocol, responder=None, client=codec, chosen=chosen)
    if not spec.client:
        yield from (
            Entry(
                path=path, protocol=protocol, responder=responder, client=None, chosen=chosen, names_driver=names_driver
            )
            for responder in responders
        )
    for responder, (client, natives) in product(responders, clients):
        if client not in alone:
            yield Entry(
                path=path,
                protocol=protocol,
                responder=responder,
                client=client,
                chosen=chosen,
                names_driver=names_driver,
                natives=natives,
            )


def _choices(
    located: Located, path: tuple[Key, ...], protocol: Protocol, name: str, every: Mapping[str, Protocol]
) -> Iterator[tuple[Client, tuple[Client, ...]]]:
    """The client of that name; for `native` the first of those that it may stand for, and all of them."""
    natives = protocol.natives
    if name != NATIVE:
        known = [*protocol.clients, *([replace(natives[0], name=NATIVE)] if natives else [])]
        if client := _named(located, path, protocol, name, known, every):
            yield client, ()
    elif natives:
        yield natives[0], natives
    else:
        has = ", ".join(client.name for client in protocol.clients)
        located.add(path, f"no client of protocol {protocol.name} is compiled: `{NATIVE}` stands for none of {has}.")


def _named(
    located: Located,
    path: tuple[Key, ...],
    protocol: Protocol,
    name: str,
    parts: Sequence[Part],
    every: Mapping[str, Protocol],
) -> Part | None:
    """The part of that name; where there is none, what the name may stand for instead is noted."""
    by_name = {part.name: part for part in parts}
    if name not in by_name:
        role = str(path[-1])
        located.add(path, f"protocol {protocol.name} has no {role} '{name}'{_meant(name, role, by_name, every)}")
    return by_name.get(name)


def _meant(name: str, role: str, by_name: Mapping[str, Part], every: Mapping[str, Protocol]) -> str:
    """What a name may stand for that no part of a protocol has, as the end of a sentence with what follows it.

    A language's name stands for its parts, and one that another protocol has is told as such.
    """
    ends: list[Responder | Client] = []
    for protocol in every.values():
        ends.extend(protocol.responders)
        ends.extend(protocol.clients)
    spoken = next((end.language for end in ends if name.casefold() in _names(end.language)), None)
    if spoken is not None:
        mine = [part.name for part in by_name.values() if part.name != NATIVE and part.language == spoken]
        if mine:
            return f": in {spoken.title} it has {', '.join(mine)}."
        return f", and none in {spoken.title}. Known: {', '.join(sorted(by_name))}."
    elsewhere = [
        protocol.name
        for protocol in every.values()
        if name in {end.name for end in (protocol.clients if role == "client" else protocol.responders)}
    ]
    if elsewhere:
        return f", which is of {', '.join(elsewhere)}. Known: {', '.join(sorted(by_name))}."
    return f". {did_you_mean(name, by_name)}"


def _names(language: Language) -> tuple[str, str]:
    return language.name.casefold(), language.title.casefold()


def omitting(stack: Stack, protocol: Protocol) -> Iterator[str]:
    """Names of the stack's ends that leave out what others do: no label hides them."""
    ends = (_responder(stack, protocol), protocol.client(stack.client))
    return (end.name for end in ends if end is not None and end.omits)


def _responder(stack: Stack, protocol: Protocol) -> Responder | None:
    """Who answers, None where nobody is asked; a stand-in where that runs already and nobody knows it."""
    if stack.external is not None:
        return stacks.external_responder(protocol, stack.responder)
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


def describe_stack(stack: Stack, entry: Entry, *, flights: tuple[bool, bool]) -> dict[str, Any]:
    """Every default of a stack resolved: settings, versions installed here, and why this client.

    `flights`: whether it is used with one request in flight, and with several.
    """
    protocol = entry.protocol
    responder, client = _responder(stack, protocol), protocol.client(stack.client)
    if responder is None:
        ends: tuple[Responder | Client, ...] = (client,)
        parts = parts_alone(protocol, client)
    else:
        ends, parts = (responder, client), parts_of(responder, client)
    fields = ALL_READ if not any(end.omits for end in ends) else SOME_UNREAD
    at = [text for text, is_used in zip(("1", "more than 1"), flights, strict=True) if is_used]
    chosen = entry.why_client or (
        f"thin and comparable: the default at {' and '.join(at)} in flight"
        if entry.client is None
        else "named in the experiment"
    )
    return {
        "protocol": protocol.title,
        "settings": {
            "protocol": dict(protocol.settings),
            "responder": {} if responder is None else dict(responder.settings),
            "client": dict(client.settings),
        },
        "parts": parts if stack.external is None else stacks.external_parts(parts, protocol, stack.responder, client),
        "documents": carried_alone(parts) if responder is None else carried_by(responder, client),
        "own_work": declared_work(*ends),
        "fields": fields if stack.external is None else READING_NOT_KNOWN,
        "client_style": client.style,
        contrasts.LANGUAGES: contrasts.languages_of_ends(responder if stack.external is None else None, client),
        **({"native": True} if client.native is not None else {}),
        "round_trips_to_open": protocol.round_trips(client.name),
        "client_reason": chosen,
        "versions": _versions(package for end in ends if not end.language.build for package in end.packages),
    }


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {}
    for package in sorted(set(packages)):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed here"
    return found


WhyNot: TypeAlias = Callable[[Language], str]
"""Why the programs of a language cannot be started, as a clause with what to do; empty where they can."""
CHOSEN = f"`{NATIVE}` in the experiment"


def resolve_natives(
    located: Located, entries: Sequence[Entry], refusal: Callable[[Entry, Client], str], why_not: WhyNot
) -> tuple[Entry, ...]:
    """The entries, those with `client: native` with the client that it stands for; where there is none, that is noted.

    `refusal`: why a client cannot do all that an entry is asked, as a clause; empty where it can. The first one that can do
    it and be started is taken.
    """
    found: dict[tuple[object, ...], tuple[Client, str] | None] = {}
    resolved = []
    for entry in entries:
        if not entry.natives:
            resolved.append(entry)
            continue
        if entry.path not in found:
            alike = [other for other in entries if other.path == entry.path and other.natives]
            found[entry.path] = _first(located, alike, refusal, why_not)
        if chosen := found[entry.path]:
            resolved.append(replace(entry, client=chosen[0], why_client=chosen[1]))
    return tuple(resolved)


def _first(
    located: Located, entries: Sequence[Entry], refusal: Callable[[Entry, Client], str], why_not: WhyNot
) -> tuple[Client, str] | None:
    """The client of these entries of one item, with why it is this one; None where none will do, which is noted."""
    entry = entries[0]
    passed_over: list[str] = []
    name_another = "Name another client"
    for client in entry.natives:
        refused = next(filter(None, (refusal(one, client) for one in entries)), "")
        reason = refused or why_not(client.language)
        if not reason:
            return client, "; ".join([CHOSEN, *(f"not {text}" for text in passed_over)])
        if not refused:  # its reason says what to do
            name_another = "Or name another client"
        passed_over.append(f"{client.name} ({reason})")
    what = f"no client that `{NATIVE}` stands for in {entry.protocol.name} will do"
    located.add((*entry.path, "client"), f"{what}: {', '.join(passed_over)}. {name_another}: `orch services`.")
    return None


EXTERNAL = "external"
"""What stands for the implementation that answers: nobody here knows it."""
_UNTOLD = "the responder runs already, and orch tells it nothing"


def resolve_externals(located: Located) -> Mapping[int, External]:
    """The responder that runs already of each stack item that names one, by the item's number.

    Names are looked up once, here. What cannot be is noted in `located`: another provider than this machine, a name
    without an address, a distance that is not the same for all.
    """
    experiment = located.experiment
    named = {n: spec.external for n, spec in enumerate(experiment.stacks) if spec.external is not None}
    if not named:
        return {}
    if PROVIDERS[experiment.provider].makes_hosts:
        for number in named:
            located.add(
                ("stacks", number, "external"),
                f"provider {experiment.provider} makes its own hosts, which need not reach this address; only"
                f" `provider: {THIS_MACHINE}` asks a responder that runs already.",
            )
        return {}
    if "together" in experiment.pin or len(experiment.pin) > 1:
        located.add(("pin",), "orch cannot pin a responder that it does not start: leave `pin` out, or turn it off.")
    known: dict[str, str] = {}
    found = {}
    for number, spec in named.items():
        host, port = parse_address(spec.address)
        try:
            known[host] = known.get(host) or resolve(host)
        except ValueError as error:
            located.add(("stacks", number, "external"), f"{error}.")
            continue
        found[number] = External(given=host, host=known[host], port=port, is_anonymous=spec.identity == "none")
    _refuse_several_distances(located, found)
    return found


def _refuse_several_distances(located: Located, found: Mapping[int, External]) -> None:
    """Stacks at different distances cannot be compared: a difference would be the network's."""
    for number, reason in several_distances([found.get(number) for number in range(len(located.experiment.stacks))]):
        located.add(
            ("stacks", number), f"{reason} Measure them in two experiments, or have both answer on one machine."
        )


def several_distances(answering: Sequence[External | None]) -> Iterator[tuple[int, str]]:
    """The stacks, by number, that answer from elsewhere than the first on another machine, and why that cannot be.

    `answering`: who answers each stack; None where orch starts the responder, on this machine.
    """
    away = [external for external in answering if external is not None and not is_loopback(external.host)]
    if not away:
        return
    first = away[0]
    for number, external in enumerate(answering):
        if external is None or external.host != first.host:
            where = "this machine" if external is None or is_loopback(external.host) else external.host
            yield (
                number,
                f"it answers from {where}, another stack from {first.host}: their difference would be the network's.",
            )


def is_elsewhere(externals: Iterable[External]) -> bool:
    """Whether their addresses are of another machine than this one; who answers behind one of this machine is not known."""
    return any(not is_loopback(external.host) for external in externals)


def external_names(externals: Iterable[External]) -> Mapping[External, str]:
    """What stands for each in ids, labels and tables: `external`, `external-2`."""
    every = dict.fromkeys(externals)
    return {external: EXTERNAL if not number else f"{EXTERNAL}-{number + 1}" for number, external in enumerate(every)}


def external_responder(protocol: Protocol, name: str) -> Responder:
    """What takes a responder's place in a stack: one that can do what the protocol can, and is told nothing."""
    codec, unknown = protocol.responder().parts, _unknown(protocol, name)
    return Responder(
        name=name,
        language=protocol.responder().language,
        knobs={READ_RATE: READ_RATES},  # which is the requester's alone
        without_knobs={factor.name: _UNTOLD for factor in KNOBS if factor.name != READ_RATE},
        parts=replace(codec, server=unknown, framework=unknown, validation=unknown),
    )


def external_parts(known: Mapping[str, str], protocol: Protocol, name: str, client: Client) -> dict[str, str]:
    """The parts of a stack whose responder is of that name, out of those that it would have if it were known."""
    unknown = _unknown(protocol, name)
    language = f"{unknown}, asked in {client.language.title}"
    return {**known, "framework": unknown, "language": language, "reading": unknown}


def _unknown(protocol: Protocol, name: str) -> str:
    """Of two responders nobody knows whether what is not known is alike: each has its own text.

    So have two protocols at one address: a proxy there may have a responder for each.
    """
    return f"{NOT_KNOWN} ({protocol.name}, {name})"
