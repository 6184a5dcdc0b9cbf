"""List protocols x operations, who answers them, who asks, and what cannot be combined."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table

_NOT_BUILT = "not built"


def command(as_json: AsJson = False) -> None:
    """Print the table."""
    from orchestrator.catalogue import builds
    from orchestrator.catalogue.platforms import here
    from orchestrator.catalogue.read import catalogue

    console.as_json = as_json
    found = catalogue()
    every = [_describe(protocol) for protocol in found.protocols.values()]
    languages = [(language, builds.look(language, found.folder, here())) for language in found.languages.values()]
    for line in _lines(every):
        console.result(line)
    for line in _natives(found.protocols.values(), {language.name: state.kind for language, state in languages}):
        console.result(line)
    for line in _programs(languages):
        console.result(line)
    console.emit({"protocols": every, "languages": [_language(*known) for known in languages]})


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


def _programs(languages: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    """The languages, and whether their programs are built; nothing to say of the only one when it needs no making."""
    from orchestrator.catalogue.builds import in_words

    for language, state in languages if len(languages) > 1 or languages[0][0].build else ():
        told = state.kind
        if state.why:
            known = _NOT_BUILT if state.kind == "absent" else state.kind
            why = known if state.why == f"they are {_NOT_BUILT}" else f"{known}: {state.why}"
            told = f"{why}; `orch build {language.name}` makes them ({_commands(language)})"
        elif state.built is not None:
            told = in_words(state.built.toolchain, state.built.source)
        yield f"{language.title} (services/{language.name}): {told}"


def _natives(protocols: Iterable[Any], states: Mapping[str, str]) -> Iterator[str]:
    """What `client: native` may stand for in each protocol that has such clients."""
    found = [protocol for protocol in protocols if protocol.natives]
    if found:
        yield ""
        yield "`client: native` is the first of these that does all that is asked of its stack and whose program is built:"
    for protocol in found:
        told = (
            f"{c.name} ({c.language.title}, {_NOT_BUILT if (state := states[c.language.name]) == 'absent' else state})"
            for c in protocol.natives
        )
        yield f"{protocol.name}: {', '.join(told)}"
    if found:
        yield ""


def _commands(language: Any) -> str:
    return "; ".join(shlex.join(command) for command in language.build)


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
    yield from _refusals(protocols)
    yield ""
    yield from _spoken(protocols)
    yield "what each is made of: codec over transport; framework, server and validation of each responder"
    yield from (_made_of(protocol) for protocol in protocols)
    yield ""
    yield from _own_work(protocols)


def _refusals(protocols: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What responders and clients cannot do: what has one reason on one line, with the protocols in which it is so."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for protocol in protocols:
        for part in (*protocol["responders"], *protocol["clients"]):
            by_reason: dict[str, list[str]] = {}
            for what, reason in part["refuses"].items():
                by_reason.setdefault(reason, []).append(what)
            for reason, those in by_reason.items():
                found.setdefault((part["name"], f"{', '.join(sorted(those))}: {reason}"), {})[protocol["name"]] = None
    yield from (f"{', '.join(names)} / {part} cannot do {what}" for (part, what), names in found.items())


def _spoken(protocols: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Which responders and clients each language has; nothing where there is one language."""
    titles = {part["language"]: part["parts"]["language"] for p in protocols for part in p["responders"]}
    if len(titles) < 2:
        return
    yield "which language has which: responders; clients"
    for name, title in titles.items():
        ends = (
            dict.fromkeys(part["name"] for p in protocols for part in p[role] if part["language"] == name)
            for role in ("responders", "clients")
        )
        yield f"{title}: {'; '.join(', '.join(of) or 'none' for of in ends)}"
    yield ""


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
