"""The verb `services`: protocols with their servers and clients."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table, width

_WIDEST = 100
_NOT_BUILT = "not built"


def services(as_json: AsJson = False) -> None:
    """List protocols with their servers and clients, and the languages; --json has everything about each."""
    from orchestrator.catalogue import builds
    from orchestrator.catalogue.platforms import here
    from orchestrator.catalogue.read import catalogue

    console.as_json = as_json
    offers = catalogue()
    protocols = [_describe(protocol) for protocol in offers.protocols.values()]
    languages = [(language, builds.look(language, offers.folder, here())) for language in offers.languages.values()]
    for line in _overview(protocols, languages):
        console.result(line)
    console.emit({"protocols": protocols, "languages": [_language(*known) for known in languages]})


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
        "judgements": {
            name: {"answer": judged.answer, "why": judged.why}
            for name in ("browser", "schema")
            if (judged := getattr(protocol, name)) is not None
        },
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
    from orchestrator.catalogue.builds import in_words

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
    rows = [
        (
            protocol["name"],
            _over(protocol),
            ", ".join(part["name"] for part in protocol["responders"]),
            ", ".join(_client_names(protocol)),
        )
        for protocol in protocols
    ]
    yield from _table(("protocol", "is", "servers", "clients"), rows)
    yield ""
    yield from _table(("Defaults: the first server; of clients * with one request in flight, + with several.",), [])
    yield ""
    yield from _table(
        ("language", "folder", "programs"),
        [(language.title, f"services/{language.name}", _programs(language, state)) for language, state in languages],
    )


def _over(protocol: dict[str, Any]) -> str:
    """Codec and transport, by the first server."""
    parts = protocol["responders"][0]["parts"]
    floor = ", the floor" if protocol["is_floor"] else ""
    return f"{parts['codec']} over {parts['transport']}{floor}"


def _client_names(protocol: dict[str, Any]) -> list[str]:
    default = protocol["default_client"]
    marks = {default["sequential"]: "*"}
    marks[default["concurrent"]] = marks.get(default["concurrent"], "") + "+"
    return [client["name"] + marks.get(client["name"], "") for client in protocol["clients"]]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return table(heads, rows, min(width(), _WIDEST))
