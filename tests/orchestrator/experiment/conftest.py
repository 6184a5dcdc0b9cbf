"""Protocols of our own, so that these tests do not depend on which ones exist."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

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


@pytest.fixture
def known() -> dict[str, Protocol]:
    every = frozenset({"timestamp", "add", "echo", "image"})
    rest = Protocol(
        name="rest",
        title="REST",
        summary="",
        operations=every,
        responders=(
            Responder(
                name="fastapi",
                language=LANGUAGE,
                parts=replace(PARTS, framework="FastAPI"),
                packages=("typer", "no-such-package"),
            ),
            Responder(
                name="flask",
                language=LANGUAGE,
                parts=replace(PARTS, framework="Flask"),
                refuses={"reuse": "it closes every connection"},
            ),
        ),
        clients=(
            Client(name="thin", language=LANGUAGE, style="sync"),
            Client(name="parallel", language=LANGUAGE, style="async"),
            Client(name="slow", language=LANGUAGE, style="sync", refuses={"image": "it keeps bodies as text"}),
        ),
        sequential="thin",
        concurrent="parallel",
    )
    grpc = Protocol(
        name="grpc",
        title="gRPC",
        summary="",
        operations=every - {"image"},
        responders=(
            Responder(
                name="grpcio", language=LANGUAGE, parts=replace(PARTS, codec="Protocol Buffers", transport="gRPC")
            ),
        ),
        clients=(Client(name="grpcio", language=LANGUAGE, style="sync"),),
        sequential="grpcio",
        concurrent="grpcio",
        round_trips_to_open=2,
    )
    tcp = Protocol(
        name="tcp",
        title="TCP",
        summary="",
        operations=every | {"exchange"},
        responders=(Responder(name="threads", language=LANGUAGE, parts=replace(PARTS, transport="TCP")),),
        clients=(Client(name="socket", language=LANGUAGE, style="sync"),),
        sequential="socket",
        concurrent="socket",
        is_floor=True,
    )
    return {protocol.name: protocol for protocol in (grpc, rest, tcp)}
