"""List protocols x operations, who answers them, who asks, and what cannot be combined."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.tables import table


def command(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Print the table."""
    from orchestrator.catalogue.read import catalogue

    console.as_json = as_json
    found = catalogue()
    every = [_describe(protocol) for protocol in found.protocols.values()]
    for line in _lines(every):
        console.result(line)
    for line in _programs(found.languages.values()):
        console.result(line)
    console.emit({"protocols": every, "languages": [_language(language) for language in found.languages.values()]})


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
        "default_client": {"sequential": protocol.sequential, "concurrent": protocol.concurrent},
        "settings": dict(protocol.settings),
        "judgements": {
            name: {"answer": judged.answer, "why": judged.why}
            for name in ("browser", "schema")
            if (judged := getattr(protocol, name)) is not None
        },
    }


def _language(language: Any) -> dict[str, Any]:
    return {
        "name": language.name,
        "title": language.title,
        "start": {role: list(argv) for role, argv in language.start.items()},
        "build": [list(command) for command in language.build],
    }


def _programs(languages: Iterable[Any]) -> Iterator[str]:
    """The languages, and how their programs are made; nothing to say of the only one when it needs no making."""
    every = list(languages)
    for language in every if len(every) > 1 or every[0].build else ():
        built = "; ".join(shlex.join(command) for command in language.build) or "nothing to build"
        yield f"{language.title} (services/{language.name}): {built}"


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


def _lines(protocols: Sequence[dict[str, Any]]) -> Iterator[str]:
    operations = sorted({operation for protocol in protocols for operation in protocol["operations"]})
    heads = ("protocol", *operations, "responders", "clients")
    rows = [
        (
            protocol["name"],
            *("yes" if operation in protocol["operations"] else "-" for operation in operations),
            ", ".join(_names(protocol["responders"], {protocol["default_responder"]: "*"})),
            ", ".join(_names(protocol["clients"], _client_marks(protocol))),
        )
        for protocol in protocols
    ]
    yield from table(heads, rows)
    yield ""
    yield "* the default; of clients, 1: with one request in flight, N: with several"
    yield "= a codec alone: it encodes and decodes the protocol's messages, and asks nobody"
    for protocol in protocols:
        if protocol["is_floor"]:
            yield f"{protocol['name']} is the floor that is measured with every cell; it can be a stack as well"
        for part in (*protocol["responders"], *protocol["clients"]):
            for what, reason in part["refuses"].items():
                yield f"{protocol['name']} / {part['name']} cannot do {what}: {reason}"
    yield ""
    yield "what each is made of: codec over transport; framework, server and validation of each responder"
    yield from (_made_of(protocol) for protocol in protocols)
    yield ""
    yield from _own_work(protocols)


def _made_of(protocol: dict[str, Any]) -> str:
    ends = []
    for responder in protocol["responders"]:
        parts = responder["parts"]
        named = [parts[name] for name in ("framework", "server", "validation") if parts[name] != "none"]
        ends.append(f"{responder['name']}: {', '.join(named)}")
    first = protocol["responders"][0]["parts"]
    codec = first["codec"] if first["bytes_as"] == "raw" else f"{first['codec']}, bytes as {first['bytes_as']},"
    return f"{protocol['name']}: {codec} over {first['transport']}; {'; '.join(ends)}"


def _own_work(protocols: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What responders and clients do of their own, or leave out; protocols that share one share the line."""
    found: dict[str, list[str]] = {}
    for protocol in protocols:
        for part in (*protocol["responders"], *protocol["clients"]):
            spared = f" ({part['without']} does not)" if part.get("without") else ""
            for phrase in filter(None, (part["adds"] and part["adds"] + spared, part["omits"])):
                found.setdefault(f"{part['name']} {phrase}", []).append(protocol["name"])
    yield "what latencies include, or leave out, besides the protocol's own work:"
    yield from (f"{', '.join(dict.fromkeys(names))} / {phrase}" for phrase, names in found.items())


def _client_marks(protocol: dict[str, Any]) -> dict[str, str]:
    default = protocol["default_client"]
    codecs = {client["name"]: "=" for client in protocol["clients"] if client["kind"] == "codec"}
    if default["sequential"] == default["concurrent"]:
        return {default["sequential"]: "*", **codecs}
    return {default["sequential"]: "*1", default["concurrent"]: "*N", **codecs}


def _names(parts: Sequence[dict[str, Any]], marks: dict[str, str]) -> list[str]:
    return [part["name"] + marks.get(part["name"], "") for part in parts]
