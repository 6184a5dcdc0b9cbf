"""The verb `services`: protocols with their servers and clients, or one protocol in full."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from orchestrator.cli.console import console
from orchestrator.cli.shared_options import AsJson
from orchestrator.cli.tables import table, width
from orchestrator.errors import UsageError, did_you_mean
from orchestrator.quantities import count

_WIDEST = 100
_NOT_BUILT = "not built"


def services(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROTOCOL]",
            help="Show this one in full.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List protocols with their servers and clients, and the languages; or everything about one protocol."""
    from orchestrator.catalogue import builds
    from orchestrator.catalogue.platforms import here
    from orchestrator.catalogue.read import catalogue

    console.as_json = as_json
    offers = catalogue()
    answered = {protocol.name: protocol for protocol in offers.protocols.values() if protocol.responders}
    if name is not None and name not in answered:
        raise UsageError(f"there is no protocol {name!r}", hint=did_you_mean(name, answered))
    described = [_describe(protocol) for protocol in answered.values() if name in (None, protocol.name)]
    languages = [(language, builds.look(language, offers.folder, here())) for language in offers.languages.values()]
    states = {language.name: _NOT_BUILT if state.kind == "absent" else state.kind for language, state in languages}
    for line in _overview(described, languages) if name is None else _details(described[0], states):
        console.result(line)
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
    yield ""
    yield "one in full: orch services PROTOCOL"


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


def _details(protocol: dict[str, Any], states: dict[str, str]) -> Iterator[str]:
    """Yield everything about one protocol, a table for each part of it."""
    yield from _table(("",), [(f"{protocol['title']}: {protocol['summary']}",)])
    yield ""
    heads = ("server", "language", "framework", "server program", "validation")
    yield from _table(
        heads,
        [
            (part["name"], *(part["parts"][key] for key in ("language", "framework", "server", "validation")))
            for part in protocol["responders"]
        ],
    )
    yield ""
    yield from _table(
        ("client", "language", "is"),
        [
            (name, client["language"], _what_a_client_is(client, protocol, states))
            for name, client in zip(_client_names(protocol), protocol["clients"], strict=True)
        ],
    )
    yield from _titled("operations", [("", ", ".join(protocol["operations"]))])
    yield from _titled("latencies include or leave out", _own_work(protocol))
    yield from _titled("cannot do", _refusals(protocol))
    yield from _titled("settings", list(protocol["settings"].items()))


def _what_a_client_is(client: dict[str, Any], protocol: dict[str, Any], states: dict[str, str]) -> str:
    """What a client is for, with the state of its program where `client: native` may stand for it."""
    if client["kind"] == "codec":
        return "the codec alone, without a network"
    opening = client["round_trips_to_open"]
    style = {"sync": "blocking", "async": "asynchronous"}.get(client["style"], client["style"])
    opens = "" if opening is None else f", {count(opening, 'round trip')} to open a connection"
    native = f", native ({states[client['language']]})" if client["name"] in protocol["native"] else ""
    return f"{style}{opens}{native}"


def _own_work(protocol: dict[str, Any]) -> list[tuple[str, str]]:
    """What servers and clients do of their own, or leave out."""
    return [
        (part["name"], phrase + (f" ({part['without']} does not)" if phrase == part["adds"] and without else ""))
        for part in (*protocol["responders"], *protocol["clients"])
        for without in (part.get("without"),)
        for phrase in filter(None, (part["adds"], part["omits"]))
    ]


def _refusals(protocol: dict[str, Any]) -> list[tuple[str, str]]:
    """What servers and clients cannot do, with the reason; what has one reason is one row."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for part in (*protocol["responders"], *protocol["clients"]):
        for what, reason in part["refuses"].items():
            reasons.setdefault((part["name"], reason), []).append(what)
    return [(name, f"{', '.join(sorted(set(whats)))}: {reason}") for (name, reason), whats in reasons.items()]


def _titled(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    if rows:
        yield ""
        yield title
        yield from _table(("", ""), [(f"  {name}", text) for name, text in rows])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return table(heads, rows, min(width(), _WIDEST))
