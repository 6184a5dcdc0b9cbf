"""Protocols of our own, so that these tests do not depend on which ones exist."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.catalogue.offers import Client, Language, Parts, Protocol, Responder

PARTS = Parts(codec="JSON", transport="HTTP/1.1", server="uvicorn")
LANGUAGE = Language(name="tongue", title="Tongue", precedence=0)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_experiment(text: str) -> Path:
        path = tmp_path / "example.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_experiment


def client(name: str, style: str = "sync", **more: Any) -> Client:
    return Client(name=name, language=LANGUAGE, style=style, **more)


def responder(name: str, parts: Parts, **more: Any) -> Responder:
    return Responder(name=name, language=LANGUAGE, parts=parts, **more)


@pytest.fixture
def known() -> dict[str, Protocol]:
    every = frozenset({"timestamp", "add", "echo", "image"})
    rest = Protocol(
        name="rest",
        title="REST",
        summary="",
        operations=every,
        responders=(
            responder("fastapi", replace(PARTS, framework="FastAPI"), packages=("typer", "no-such-package")),
            responder("flask", replace(PARTS, framework="Flask"), refuses={"reuse": "it closes every connection"}),
        ),
        clients=(
            client("thin"),
            client("parallel", "async"),
            client("slow", refuses={"image": "it keeps bodies as text"}),
        ),
        sequential="thin",
        concurrent="parallel",
    )
    grpc = Protocol(
        name="grpc",
        title="gRPC",
        summary="",
        operations=every - {"image"},
        responders=(responder("grpcio", replace(PARTS, codec="Protocol Buffers", transport="gRPC")),),
        clients=(client("grpcio"),),
        sequential="grpcio",
        concurrent="grpcio",
        round_trips_to_open=2,
    )
    tcp = Protocol(
        name="tcp",
        title="TCP",
        summary="",
        operations=every | {"exchange"},
        responders=(responder("threads", replace(PARTS, transport="TCP")),),
        clients=(client("socket"),),
        sequential="socket",
        concurrent="socket",
        is_floor=True,
    )
    return {protocol.name: protocol for protocol in (grpc, rest, tcp)}
