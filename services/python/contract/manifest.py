"""What a language's folder offers, as `services/<language>/manifest.json` says it: the shape of the file, for any language.

`protos/schemas/manifest.json` is written from these types, and the file of Python by `python_manifest`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Final, Literal

from services.python.contract.limits import Kind
from services.python.contract.lines import VERSION as CONTRACT
from services.python.contract.messages import Field
from services.python.contract.strict import Between, Part, decode, part

VERSION: Final = 1  # of the manifest; a reader refuses another version, and names both
FILE: Final = "manifest.json"


@part
class Role(Part):
    """How a program of this language is started on a host.

    In `argv` the word `{python}` stands for the host's Python with `services` importable, which is several words, and
    `{folder}`, also within a word, for the language's folder on that host.
    """

    argv: list[str]


@part
class Roles(Part):
    """The programs that there are: what answers, what asks, what pings another host, describes its own.

    `sample` asks somebody's own service for its first replies, `own` holds one (protos/calls.md).
    """

    respond: Role | None = None
    request: Role | None = None
    ping: Role | None = None
    describe: Role | None = None
    sample: Role | None = None
    own: Role | None = None


@part
class Knob(Part):
    """A setting of the requests that both ends can be told; the default is one of the values."""

    type: Literal["string"] = "string"
    default: str
    values: list[str]


@part
class Responder(Part):
    """One implementation that answers, the parts it is made of, and what it does beyond its protocol, or not.

    `codec` turns values into bytes, `transport` carries them, `framework` stands between the transport and the operation
    (`none`: nothing does), `server` accepts connections, `validation` says what a decoded message is held against,
    `bytes_as` how bytes and pictures travel (`raw`, `base64`). `adds`: which work of every request is its own, `without`
    names the responder that is spared it. `packages`: the libraries whose versions count. `refuses`: the reason for each
    thing it cannot do, by connection policy, operation, kind, or knob with its value (`http: 2`) or without. `settings`:
    what a reader should know of how it is set up. `most_streams`: how many streams it serves at once, null where that is
    not bounded. `drivers`: the libraries by which it asks PostgreSQL, the first one unless it is told otherwise.
    """

    name: str
    codec: str
    transport: str
    server: str
    framework: str = "none"
    validation: str = "none"
    bytes_as: str = "raw"
    adds: str = ""
    without: str = ""
    packages: list[str] = field(default_factory=list)
    refuses: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    most_streams: Annotated[int, Between(1)] | None = None
    drivers: list[str] = field(default_factory=list)


@part
class Client(Part):
    """One client library that asks; keys as of a responder, and `omits`: what it leaves unread of `fields.md`.

    `style`: whether its calls block a thread (`sync`) or are awaited (`async`). `round_trips_to_open` and `transport` where
    they differ from the protocol's and the responder's. One of `kind` `codec` asks nobody: it
    encodes and decodes the protocol's messages (`process.md`). `native`: its place among the clients that `client: native`
    stands for, the lowest first; null for one that it never stands for. Such a client is compiled to machine code and asks
    without an interpreter.
    """

    name: str
    style: Literal["sync", "async"]
    adds: str = ""
    omits: str = ""
    packages: list[str] = field(default_factory=list)
    refuses: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    round_trips_to_open: int | None = None
    transport: str | None = None
    kind: Literal["call", "codec"] = "call"
    native: Annotated[int, Between(0)] | None = None


@part
class Protocol(Part):
    """A protocol as this language speaks it.

    The first responder is the default one; `sequential` and `concurrent` name the default client at one request in flight
    and beyond (null where this language does not ask). `round_trips_to_open` counts what opening a connection costs before
    the first request can be sent. `is_floor`: it is what every other one is measured against. `knobs`: what its
    responders and clients can be told, but for what one of them refuses; `without_knobs`: why there is no other value, or no
    such knob, by the knob's name.
    """

    name: str
    title: str
    summary: str
    operations: list[str]
    responders: list[Responder]
    clients: list[Client]
    sequential: str | None = None
    concurrent: str | None = None
    round_trips_to_open: int = 1
    is_floor: bool = False
    knobs: dict[str, Knob] = field(default_factory=dict)
    without_knobs: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


@part
class Operation(Part):
    """One thing that can be asked, by every protocol that lists it.

    `message` is the name of its message, `request` and `reply` the type of each field of that; an operation with the
    message of another one travels as that one does. `kind`: what of it is timed. `payloads`: the kinds of content that it
    can be asked with (`none`: it takes no options). `resources`: the settings that it takes from a serve line.
    `made_of`: operations that can be asked in its place, whose requests and replies are its own together. `has_shown`:
    whether a reader may need less than all of its reply (the knob `fields`).
    """

    name: str
    message: str
    request: dict[str, Field]
    reply: dict[str, Field]
    kind: Kind = "call"
    payloads: list[str] = field(default_factory=lambda: ["none"])
    resources: list[str] = field(default_factory=list)
    made_of: list[str] = field(default_factory=list)
    has_shown: bool = False


@part
class Tool(Part):
    """A program that a build or a host needs.

    `version`: the command that prints its version, of which the first number counts; `at_least`: the least that will do
    (`1.26`); `install`: how to get it, in a sentence.
    """

    program: str
    at_least: str
    version: list[str]
    install: str


@part
class Manifest(Part):
    """What the programs of one language offer, how they are built and how they are started.

    `manifest` is the version of this file's shape, `contract` that of the lines that its programs speak. `language` is the
    name of the folder, `title` the language's name in tables. Where several languages speak a protocol, the defaults are
    those of the lowest `precedence`. `operations` describes those that the protocols list. `build`: commands, run in the
    folder, that make the programs below it; none where they run as they are. They read nothing outside of the folder but
    `sources` (files and folders, by their path from the top of the repository) and the caches of their toolchain, change
    nothing in it but below `build`, `target` and `node_modules`, and make the same bytes of the same source. `toolchain`:
    what they need. `needs`: what a host needs to run the programs. `artifacts`: the files that a host needs, by their path
    in the folder, besides those that `roles` name as words of their own (`{folder}/...`). `lint`: commands, run in the
    folder, that read the source and find fault with it. `turns`: whether its requesters measure in turns (`process.md`).
    """

    manifest: Literal[1] = VERSION
    contract: Literal[2] = CONTRACT
    language: str
    title: str
    precedence: int
    roles: Roles
    protocols: list[Protocol]
    operations: list[Operation] = field(default_factory=list)
    build: list[list[str]] = field(default_factory=list)
    toolchain: list[Tool] = field(default_factory=list)
    needs: list[Tool] = field(default_factory=list)
    artifacts: list[str] = field(default_factory=list)
    lint: list[list[str]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    turns: bool = False


def decoded(raw: Mapping[str, Any]) -> Manifest:
    """The manifest in a JSON document; ValueError says in one sentence why it is none, its version first."""
    for key, mine in (("manifest", VERSION), ("contract", CONTRACT)):
        if type(raw.get(key)) is not int or raw[key] != mine:
            raise ValueError(f"it is of {key} {json.dumps(raw.get(key))}; this reader knows {key} {mine}")
    return decode(Manifest, raw)
