"""The catalogue's own types: languages, and the protocols that they speak with all responders and clients of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal
from typing import Protocol as Interface

from services.python.contract.knobs import CONNECTIONS, WHY_NOT, allows, refusal_of_sharing, unfit
from services.python.contract.manifest import Operation as Operation
from services.python.contract.manifest import Tool

NONE = "none"  # no framework, no validation
_PYTHON, _FOLDER = "{python}", "{folder}"
OF_FOLDER = f"{_FOLDER}/"  # how a word begins that is a file of the language


class Place(Interface):
    """What a host is to a program that is started there."""

    @property
    def services(self) -> PurePosixPath:
        """The folder with a folder for each language."""

    def python(self) -> Sequence[str]:
        """How to start Python with `services` importable: an argv prefix."""


@dataclass(frozen=True, kw_only=True)
class Language:
    """A folder of `services/`: how its programs are started, by role, and the commands that build them there.

    `artifacts`: files that a host needs to start them; `toolchain` and `needs`: what a build and a host need; `sources`:
    what a build reads elsewhere, by its path in the folder above `services`.
    """

    name: str
    title: str
    precedence: int
    start: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    build: tuple[tuple[str, ...], ...] = ()
    toolchain: tuple[Tool, ...] = ()
    needs: tuple[Tool, ...] = ()
    artifacts: tuple[str, ...] = ()
    lint: tuple[tuple[str, ...], ...] = ()
    sources: tuple[str, ...] = ()
    turns: bool = False  # whether its requesters measure in turns

    def argv(self, role: str, on: Place) -> list[str]:
        """How to start the program of that role on a host; KeyError when there is none."""
        folder, python = str(on.services / self.name), on.python()
        words = ((*python,) if word == _PYTHON else (word.replace(_FOLDER, folder),) for word in self.start[role])
        return [word for several in words for word in several]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a responder is put together from; `protos/schemas/manifest.json` describes each."""

    codec: str
    transport: str
    server: str
    framework: str = NONE
    validation: str = NONE
    bytes_as: str = "raw"


@dataclass(frozen=True, kw_only=True)
class End:
    """What a responder and a client have in common.

    `refuses` has the reason for each thing it cannot do, by connection policy, operation, kind, factor with its value
    (`http: 2`) or factor alone. `knobs`: the values that it takes for each setting; `without_knobs`: why not.
    """

    name: str
    language: Language
    adds: str = ""
    omits: str = ""
    packages: tuple[str, ...] = ()
    refuses: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    knobs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without_knobs: Mapping[str, str] = field(default_factory=dict)

    def lacks(self, knob: str, value: str) -> str | None:
        """Why it cannot be told so; None when it can."""
        if allows(self.knobs.get(knob, ()), value):
            return None
        return self.without_knobs.get(knob) or WHY_NOT.get(knob) or "it has no such knob"


@dataclass(frozen=True, kw_only=True)
class Responder(End):
    """One implementation that answers; `without` names one of its protocol that is spared what this one adds.

    `most_streams`: how many it serves at once (None: any). `drivers`: its libraries for PostgreSQL, the default first.
    """

    parts: Parts
    without: str = ""
    most_streams: int | None = None
    drivers: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Client(End):
    """One client library. One of kind `codec` sends nothing: it encodes and decodes the protocol's messages.

    `round_trips_to_open` and `transport` where they differ from the protocol's. `native`: its place among compiled clients.
    """

    style: Literal["sync", "async"]
    round_trips_to_open: int | None = None
    transport: str | None = None
    kind: Literal["call", "codec"] = "call"
    native: int | None = None


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A protocol with its responders (the default first) and clients, in all languages.

    `sequential` and `concurrent` name the default client at one request in flight and beyond. `round_trips_to_open`: before
    the first request can be sent, TCP's own handshake included.
    """

    name: str
    title: str
    summary: str
    operations: frozenset[str]
    responders: tuple[Responder, ...]
    clients: tuple[Client, ...]
    sequential: str
    concurrent: str
    round_trips_to_open: int = 1
    is_floor: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    def refusal_of(
        self, knobs: Mapping[str, str], ends: Sequence[End], written: Mapping[str, str] | None = None
    ) -> tuple[str, str] | None:
        """The knob that one of these ends cannot have, and why; None where both have all. `written`: values as shown."""
        shown = {name: (written or {}).get(name, value) for name, value in knobs.items()}
        for name, value in knobs.items():
            for end in ends:
                if reason := end.lacks(name, value):
                    return (
                        name,
                        f"{self.name}{self._by_end(end, name, value)} cannot do {name}: {shown[name]}: {reason}",
                    )
                if name == CONNECTIONS and (reason := refusal_of_sharing(end.knobs, knobs)):
                    return name, f"{self.name} cannot do {name}: {shown[name]}: {reason}"
        for end in ends:
            if reason := unfit(shown, end.knobs):
                without = ({other: shown[other] for other in shown if other != name} for name in reversed(shown))
                fitting = zip(reversed(shown), (unfit(others, end.knobs) is None for others in without), strict=True)
                return next((name for name, is_fit in fitting if is_fit), ""), f"{self.name} cannot do {reason}"
        return None

    def _by_end(self, end: End, name: str, value: str) -> str:
        """The end as the subject of a sentence, ` by its client pycurl`, where others of the protocol can be told so."""
        role = "client" if isinstance(end, Client) else "responder"
        others: Sequence[End] = self.clients if isinstance(end, Client) else self.responders
        can = end in others and any(other.lacks(name, value) is None for other in others)
        return f" with its {role} {end.name}" if can else ""

    def responder(self, name: str | None = None) -> Responder:
        """The responder of that name, the default one without a name; KeyError when there is none."""
        if name is None:
            return self.responders[0]
        return {r.name: r for r in self.responders}[name]

    def client(self, name: str) -> Client:
        """The client of that name; KeyError when there is none."""
        return {c.name: c for c in self.clients}[name]

    @property
    def natives(self) -> tuple[Client, ...]:
        """The compiled clients, in the order of their places; empty where there is none."""
        ranked = [(client.native, client) for client in self.clients if client.native is not None]
        return tuple(
            c for _, c in sorted(ranked, key=lambda pair: (pair[0], pair[1].language.precedence, pair[1].name))
        )

    def round_trips(self, client: str) -> int:
        """What opening a connection costs with that client; the protocol's own figure for one that is not known."""
        own = next((c.round_trips_to_open for c in self.clients if c.name == client), None)
        return self.round_trips_to_open if own is None else own

    def default_client(self, concurrency: int) -> Client:
        """The thin, comparable client for so many requests in flight."""
        return self.client(self.sequential if concurrency == 1 else self.concurrent)


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """All languages of a folder, the defaults' own first, all protocols, in alphabetical order, and all operations."""

    folder: Path
    languages: Mapping[str, Language]
    protocols: Mapping[str, Protocol]
    operations: Mapping[str, Operation] = field(default_factory=dict)

    def of_role(self, role: str) -> Language:
        """The first language with a program for that role."""
        return next(language for language in self.languages.values() if role in language.start)
