"""The verb `services`: protocols with their servers and clients, or one protocol in full."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from orchestrator.catalogue import builds
from orchestrator.catalogue.builds import State, in_words
from orchestrator.catalogue.offers import Client, Language, Protocol
from orchestrator.catalogue.platforms import here
from orchestrator.catalogue.read import catalogue
from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table, width
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.quantities import count

_WIDEST = 100


def services(
    name: Annotated[
        str | None, typer.Argument(metavar="[PROTOCOL]", help="Show this one in full.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List protocols with their servers and clients, and the languages; or everything about one protocol."""
    console.as_json = as_json
    offers = catalogue()
    answered = {protocol.name: protocol for protocol in offers.protocols.values() if protocol.responders}
    if name is not None and name not in answered:
        raise UsageError(f"there is no protocol {name!r}", hint=did_you_mean(name, answered))
    languages = [(language, builds.look(language, offers.folder, here())) for language in offers.languages.values()]
    states = {language.name: state.kind for language, state in languages}
    console.lines(_overview(answered.values(), languages) if name is None else _details(answered[name], states))
    console.emit(
        {
            "protocols": [_plain(protocol) for protocol in answered.values() if name in (None, protocol.name)],
            "languages": [asdict(language) | asdict(state) for language, state in languages],
        }
    )


def _plain(protocol: Protocol) -> dict[str, Any]:
    document = asdict(protocol) | {"operations": sorted(protocol.operations)}
    for end in (*document["responders"], *document["clients"]):
        end["language"] = end["language"]["name"]
    default_client = {"sequential": protocol.sequential, "concurrent": protocol.concurrent}
    return document | {"default_responder": protocol.responders[0].name, "default_client": default_client}


def _overview(protocols: Iterable[Protocol], languages: Sequence[tuple[Language, State]]) -> Iterator[str]:
    rows = []
    for protocol in protocols:
        parts = protocol.responders[0].parts
        kind = f"{parts.codec} over {parts.transport}{', the floor' if protocol.is_floor else ''}"
        servers = ", ".join(responder.name for responder in protocol.responders)
        rows.append((protocol.name, kind, servers, ", ".join(_client_names(protocol))))
    yield from _table(("protocol", "is", "servers", "clients"), rows)
    yield ""
    yield "Defaults: the first server; of clients * with one request in flight, + with several."
    yield ""
    programs = [
        (language.title, f"services/{language.name}", _programs(language, state)) for language, state in languages
    ]
    yield from _table(("language", "folder", "programs"), programs)
    yield ""
    yield "one in full: orch services PROTOCOL"


def _programs(language: Language, state: State) -> str:
    if state.why:
        commands = "; ".join(shlex.join(command) for command in language.build)
        return f"{state.why}; `orch setup build {language.name}` makes them ({commands})"
    return in_words(state.built.toolchain, state.built.source) if state.built is not None else state.kind


def _client_names(protocol: Protocol) -> list[str]:
    marks = {protocol.sequential: "*"}
    marks[protocol.concurrent] = marks.get(protocol.concurrent, "") + "+"
    return [client.name + marks.get(client.name, "") for client in protocol.clients]


def _details(protocol: Protocol, states: Mapping[str, str]) -> Iterator[str]:
    yield f"{protocol.title}: {protocol.summary}"
    yield f"operations: {', '.join(sorted(protocol.operations))}"
    servers = [
        (each.name, each.language.title, each.parts.framework, each.parts.server, each.parts.validation)
        for each in protocol.responders
    ]
    clients = [
        (name, client.language.name, _what_a_client_is(client, protocol, states))
        for name, client in zip(_client_names(protocol), protocol.clients, strict=True)
    ]
    ends = (*protocol.responders, *protocol.clients)
    own_work = [(end.name, text) for end in ends for text in (end.adds, end.omits) if text]
    refused = [(end.name, what, reason) for end in ends for what, reason in end.refuses.items()]
    for heads, rows in (
        (("server", "language", "framework", "server", "validation"), servers),
        (("client", "language", "is"), clients),
        (("end", "its latencies include or leave out"), own_work),
        (("end", "cannot do", "reason"), refused),
        (("setting", "value"), list(protocol.settings.items())),
    ):
        if rows:
            yield ""
            yield from _table(heads, rows)


def _what_a_client_is(client: Client, protocol: Protocol, states: Mapping[str, str]) -> str:
    """What a client is for, with the state of its program where `client: native` may be it."""
    if client.kind == "codec":
        return "the codec alone, without a network"
    style = {"sync": "blocking", "async": "asynchronous"}[client.style]
    opening = count(protocol.round_trips(client.name), "round trip")
    native = "" if client.native is None else f", native ({states[client.language.name]})"
    return f"{style}, {opening} to open a connection{native}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return table(heads, rows, min(width(), _WIDEST))
