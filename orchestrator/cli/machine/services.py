"""The verb `services`: protocols with their servers and clients, or one protocol in full."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from orchestrator.catalogue import builds
from orchestrator.catalogue.builds import in_words
from orchestrator.catalogue.platforms import here
from orchestrator.catalogue.read import catalogue
from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table, width
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.quantities import count

_WIDEST = 100
_NOT_BUILT = "not built"


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
    described = [_describe(protocol) for protocol in answered.values() if name in (None, protocol.name)]
    languages = [(language, builds.look(language, offers.folder, here())) for language in offers.languages.values()]
    states = {language.name: _NOT_BUILT if state.kind == "absent" else state.kind for language, state in languages}
    console.lines(_overview(described, languages) if name is None else _details(described[0], states))
    console.emit({"protocols": described, "languages": [_language(*known) for known in languages]})


def _describe(protocol: Any) -> dict[str, Any]:
    return {
        "name": protocol.name,
        "title": protocol.title,
        "summary": protocol.summary,
        "is_floor": protocol.is_floor,
        "operations": sorted(protocol.operations),
        "responders": [
            {**_part(part), "without": part.without, "parts": {**asdict(part.parts), "language": part.language.title}}
            for part in protocol.responders
        ],
        "clients": [_client(part, protocol) for part in protocol.clients],
        "default_responder": protocol.responders[0].name,
        "native": [client.name for client in protocol.natives],
        "default_client": {"sequential": protocol.sequential, "concurrent": protocol.concurrent},
        "settings": dict(protocol.settings),
    }


def _language(language: Any, state: Any) -> dict[str, Any]:
    return {
        "name": language.name,
        "title": language.title,
        "start": {role: list(argv) for role, argv in language.start.items()},
        "build": [list(command) for command in language.build],
        "artifacts": list(language.artifacts),
        "state": state.kind,
        "why": state.why,
        "toolchain": dict(state.built.toolchain) if state.built else {},
        "source": state.built.source if state.built else None,
    }


def _programs(language: Any, state: Any) -> str:
    """Whether a language's programs are built, or what makes them."""
    if state.why:
        known = _NOT_BUILT if state.kind == "absent" else state.kind
        why = known if state.why == f"they are {_NOT_BUILT}" else f"{known}: {state.why}"
        commands = "; ".join(shlex.join(command) for command in language.build)
        return f"{why}; `orch setup build {language.name}` makes them ({commands})"
    return in_words(state.built.toolchain, state.built.source) if state.built is not None else state.kind


def _part(part: Any) -> dict[str, Any]:
    return {
        "name": part.name,
        "language": part.language.name,
        "packages": list(part.packages),
        "refuses": dict(part.refuses),
        "knobs": {name: list(values) for name, values in part.knobs.items()},
        "adds": part.adds,
        "omits": part.omits,
        "settings": dict(part.settings),
    }


def _client(part: Any, protocol: Any) -> dict[str, Any]:
    opening = protocol.round_trips(part.name) if part.kind == "call" else None
    return {**_part(part), "kind": part.kind, "style": part.style, "round_trips_to_open": opening}


def _overview(protocols: Sequence[dict[str, Any]], languages: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """Yield a row for each protocol, then one for each language."""
    rows = []
    for protocol in protocols:
        parts = protocol["responders"][0]["parts"]
        floor = ", the floor" if protocol["is_floor"] else ""
        servers = ", ".join(part["name"] for part in protocol["responders"])
        kind = f"{parts['codec']} over {parts['transport']}{floor}"
        rows.append((protocol["name"], kind, servers, ", ".join(_client_names(protocol))))
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


def _client_names(protocol: dict[str, Any]) -> list[str]:
    default = protocol["default_client"]
    marks = {default["sequential"]: "*"}
    marks[default["concurrent"]] = marks.get(default["concurrent"], "") + "+"
    return [client["name"] + marks.get(client["name"], "") for client in protocol["clients"]]


def _details(protocol: dict[str, Any], states: dict[str, str]) -> Iterator[str]:
    """Yield everything about one protocol, a table for each part of it."""
    yield f"{protocol['title']}: {protocol['summary']}"
    yield f"operations: {', '.join(protocol['operations'])}"
    keys = ("language", "framework", "server", "validation")
    servers = [(part["name"], *(part["parts"][key] for key in keys)) for part in protocol["responders"]]
    clients = [
        (name, client["language"], _what_a_client_is(client, protocol, states))
        for name, client in zip(_client_names(protocol), protocol["clients"], strict=True)
    ]
    ends = (*protocol["responders"], *protocol["clients"])
    own_work = [(part["name"], text) for part in ends for text in (part["adds"], part["omits"]) if text]
    refused = [(part["name"], what, reason) for part in ends for what, reason in part["refuses"].items()]
    for heads, rows in (
        (("server", *keys), servers),
        (("client", "language", "is"), clients),
        (("end", "its latencies include or leave out"), own_work),
        (("end", "cannot do", "reason"), refused),
        (("setting", "value"), list(protocol["settings"].items())),
    ):
        if rows:
            yield ""
            yield from _table(heads, rows)


def _what_a_client_is(client: dict[str, Any], protocol: dict[str, Any], states: dict[str, str]) -> str:
    """What a client is for, with the state of its program where `client: native` may be it."""
    if client["kind"] == "codec":
        return "the codec alone, without a network"
    opening = client["round_trips_to_open"]
    style = {"sync": "blocking", "async": "asynchronous"}.get(client["style"], client["style"])
    opens = "" if opening is None else f", {count(opening, 'round trip')} to open a connection"
    native = f", native ({states[client['language']]})" if client["name"] in protocol["native"] else ""
    return f"{style}{opens}{native}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return table(heads, rows, min(width(), _WIDEST))
