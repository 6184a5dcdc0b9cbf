"""Manifests of several languages become one catalogue; what does not fit together is refused, and named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from orchestrator.catalogue.offers import Catalogue
from orchestrator.catalogue.read import read_catalogue
from orchestrator.errors import UsageError
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
    with pytest.raises(UsageError, match=r"no language in .* has a program for the role `describe`"):
        offers.of_role("describe")


@pytest.mark.parametrize(("responder", "client", "what"), [("a", "x", "responder"), ("x", "ask-a", "client")])
def test_a_name_that_two_languages_have_is_refused_with_both(
    tmp_path: Path, responder: str, client: str, what: str
) -> None:
    with pytest.raises(UsageError, match=f"tcp has two {what}s '.*': alpha/manifest.json and beta/manifest.json"):
        merged(tmp_path, manifest("alpha", 1, "a", "ask-a"), manifest("beta", 2, responder, client))


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
        (_set("nobody", "protocols", 0, "sequential"), "must each name a client of it"),
        (_set("codec", "protocols", 0, "clients", 0, "kind"), "must each name a client of it of kind `call`"),
    ],
)
def test_a_manifest_that_is_none_is_refused_by_name(tmp_path: Path, change: Change, complaint: str) -> None:
    raw = manifest("alpha", 1, "a", "ask-a")
    change(raw)
    with pytest.raises(UsageError) as refused:
        merged(tmp_path, raw)
    assert refused.value.message.startswith(f"{tmp_path.name}/alpha/manifest.json cannot be used: ")
    assert complaint in refused.value.message


def test_a_manifest_lies_in_the_folder_of_its_language(tmp_path: Path) -> None:
    merged(tmp_path, manifest("alpha", 1, "a", "ask-a"))
    (tmp_path / "alpha").rename(tmp_path / "beta")
    read_catalogue.cache_clear()
    with pytest.raises(UsageError, match="it is of language 'alpha', in the folder of 'beta'"):
        read_catalogue(tmp_path)


def test_a_protocol_has_who_asks_in_some_language(tmp_path: Path) -> None:
    raw = manifest("alpha", 1, "a", "ask-a")
    raw["protocols"][0] |= {"clients": [], "sequential": None, "concurrent": None}
    with pytest.raises(UsageError, match="protocol tcp of alpha is of no use: it has no client"):
        merged(tmp_path, raw)
