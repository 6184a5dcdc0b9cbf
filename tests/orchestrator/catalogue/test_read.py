"""Manifests of several languages become one catalogue; one that is none is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.catalogue.offers import Catalogue
from orchestrator.catalogue.read import SERVICES, read_catalogue
from orchestrator.errors import UsageError
from services.python.contract.manifest import decoded
from tests.support.hosts import FakeHost, FakeTime

Change = Callable[[dict[str, Any]], None]


def manifest(language: str, precedence: int, responder: str, client: str) -> dict[str, Any]:
    return {
        "manifest": 1,
        "contract": 2,
        "language": language,
        "title": language.title(),
        "precedence": precedence,
        "roles": {role: {"argv": [f"{{folder}}/{role}", "--quiet"]} for role in ("respond", "request")},
        "build": [["make", "all"]],
        "protocols": [
            {
                "name": "tcp",
                "title": "TCP",
                "summary": f"as {language} has it",
                "operations": ["echo"],
                "responders": [{"name": responder, "codec": "bytes", "transport": "TCP", "server": "threads"}],
                "clients": [{"name": client, "style": "sync"}],
                "sequential": client,
                "concurrent": client,
            }
        ],
    }


def merged(folder: Path, *manifests: dict[str, Any]) -> Catalogue:
    for raw in manifests:
        (folder / raw["language"]).mkdir(parents=True, exist_ok=True)
        (folder / raw["language"] / "manifest.json").write_text(json.dumps(raw), encoding="utf-8")
    return read_catalogue(folder)


def test_a_protocol_has_the_ends_of_all_languages_and_the_defaults_of_the_first(tmp_path: Path) -> None:
    one, two = manifest("alpha", 2, "a", "ask-a"), manifest("beta", 1, "b", "ask-b")
    one["protocols"][0]["operations"] = ["add", "echo"]
    one["protocols"][0]["settings"] = {"TCP_NODELAY": "off"}
    two["protocols"][0]["knobs"] = {"compression": {"type": "string", "default": "none", "values": ["none", "gzip"]}}
    offers = merged(tmp_path, one, two)
    tcp = offers.protocols["tcp"]
    assert list(offers.languages) == ["beta", "alpha"]
    assert [(r.name, r.language.title) for r in tcp.responders] == [("b", "Beta"), ("a", "Alpha")]
    assert (tcp.responder().name, tcp.default_client(1).name, tcp.summary) == ("b", "ask-b", "as beta has it")
    assert tcp.operations == {"add", "echo"}
    assert tcp.responder("b").refuses == {"add": "Beta does not carry it"}
    assert tcp.responder("a").refuses == {}
    assert tcp.client("ask-a").settings == {"TCP_NODELAY": "off"}
    gzip = {"compression": "gzip"}
    assert tcp.refusal_of(gzip, (tcp.responder("b"), tcp.client("ask-b"))) is None
    assert tcp.refusal_of(gzip, (tcp.responder("b"), tcp.client("ask-a"))) == (
        "compression",
        "tcp with its client ask-a cannot do compression: gzip: it has no such knob",
    )


def test_programs_are_started_as_their_manifest_says(tmp_path: Path) -> None:
    host = FakeHost(tmp_path / "host", FakeTime(), [])
    other = manifest("alpha", 1, "a", "ask-a")
    other["roles"]["ping"] = {"argv": ["{python}", "-X", "dev", "{folder}/ping.py"]}
    offers = merged(tmp_path / "services", other)
    language = offers.protocols["tcp"].responder().language
    assert language.argv("respond", host) == [str(PurePosixPath("/services/alpha/respond")), "--quiet"]
    assert offers.of_role("ping").argv("ping", host) == ["python", "-X", "dev", "/services/alpha/ping.py"]
    assert language.build == (("make", "all"),)


def _adding(*operations: dict[str, Any]) -> list[dict[str, Any]]:
    integers = {"a": "integer", "b": "integer"}
    return [
        {"message": "add", "request": integers, "reply": {"sum": "integer"}, **operation} for operation in operations
    ]


def test_operations_are_those_of_all_languages_with_their_kind_and_message(tmp_path: Path) -> None:
    one, two = manifest("alpha", 1, "a", "ask-a"), manifest("beta", 2, "b", "ask-b")
    one["operations"] = _adding({"name": "add"}, {"name": "watch", "kind": "stream", "payloads": ["events"]})
    two["operations"] = _adding({"name": "add"}, {"name": "stock", "resources": ["database"]})
    offers = merged(tmp_path, one, two).operations
    assert list(offers) == ["add", "watch", "stock"]
    assert (offers["add"].kind, offers["add"].payloads, offers["add"].reply) == ("call", ["none"], {"sum": "integer"})
    assert (offers["watch"].kind, offers["watch"].payloads) == ("stream", ["events"])
    assert (offers["stock"].message, offers["stock"].resources) == ("add", ["database"])


def _drop(*path: str | int) -> Change:
    def change(raw: Any) -> None:
        for step in path[:-1]:
            raw = raw[step]
        del raw[path[-1]]

    return change


def _set(value: Any, *path: str | int) -> Change:
    def change(raw: Any) -> None:
        for step in path[:-1]:
            raw = raw[step]
        raw[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (_set(7, "manifest"), "it is of manifest 7"),
        (_set(1, "contract"), "it is of contract 1"),
        (_set(1, "colour"), "colour is not a key"),
        (_drop("title"), "title is missing"),
    ],
)
def test_a_manifest_that_is_none_is_refused_by_name(tmp_path: Path, change: Change, complaint: str) -> None:
    raw = manifest("alpha", 1, "a", "ask-a")
    change(raw)
    with pytest.raises(UsageError) as refused:
        merged(tmp_path, raw)
    assert refused.value.message.startswith(f"{tmp_path.name}/alpha/manifest.json cannot be used: ")
    assert complaint in refused.value.message


def test_the_manifests_of_this_repository_fit_together() -> None:
    manifests = {path.parent.name: decoded(json.loads(path.read_text())) for path in SERVICES.glob("*/manifest.json")}
    assert {each.language for each in manifests.values()} == manifests.keys()
    operations = {name: o for each in manifests.values() for name, o in ((o.name, o) for o in each.operations)}
    assert all(operations[o.name] == o for each in manifests.values() for o in each.operations)
    protocols = [protocol for each in manifests.values() for protocol in each.protocols]
    for name in {protocol.name for protocol in protocols}:
        spoken = [protocol for protocol in protocols if protocol.name == name]
        for ends in ([r.name for p in spoken for r in p.responders], [c.name for p in spoken for c in p.clients]):
            assert len(set(ends)) == len(ends), name
        assert any(protocol.sequential for protocol in spoken), name
    for protocol in protocols:
        clients = {client.name for client in protocol.clients if client.kind == "call"}
        assert {protocol.sequential, protocol.concurrent} <= (clients or {None}), protocol.name
