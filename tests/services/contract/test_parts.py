"""What each responder says that it is made of is what its code imports, needs, and does."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import httpx
import pytest

from services.python.contract.offers import NONE, Protocol, Responder, protocols
from services.python.protocols import bodies
from tests.support import wire

ROOT = Path(__file__).parents[3]
ENDS = [pytest.param(p, r, id=f"{p.name}-{r.name}") for p in protocols().values() for r in p.responders]

# The libraries by the names that declarations use.
FRAMEWORKS = {
    "FastAPI": "fastapi",
    "Flask": "flask",
    "Starlette": "starlette",
    "Strawberry": "strawberry",
    "grpcio": "grpc",
    "python-socketio": "socketio",
}
CODECS = {"CBOR": "cbor2", "Avro": "fastavro", "MessagePack": "msgpack", "Protocol Buffers": "google.protobuf"}


@cache
def imported(module: str) -> frozenset[str]:
    """Full names that a module of ours imports, anywhere in it."""
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    if not path.exists():
        return frozenset()
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.update({str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)})
    return frozenset(found)


def closure(*modules: str) -> Iterator[str]:
    """All that these modules import, and what those of ours among it do."""
    seen, waiting = set[str](), set(modules)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= {found for found in imported(name) if found.startswith("services.")} - seen
        yield from imported(name)


def uses(responder: Responder, library: str) -> bool:
    return any(name == library or name.startswith(f"{library}.") for name in closure(*responder.modules))


@pytest.mark.parametrize(("protocol", "responder"), ENDS)
def test_the_framework_that_is_named_is_the_one_that_the_responder_imports(
    protocol: Protocol, responder: Responder
) -> None:
    found = {name for name, library in FRAMEWORKS.items() if uses(responder, library)}
    if responder.parts.framework in ("Strawberry", "FastAPI"):
        found.discard("Starlette")  # their applications are Starlette's
    assert found == {responder.parts.framework} - {NONE}, protocol.name


@pytest.mark.parametrize(("protocol", "responder"), ENDS)
def test_the_codec_that_is_named_is_the_one_that_the_responder_imports(
    protocol: Protocol, responder: Responder
) -> None:
    found = {name for name, library in CODECS.items() if uses(responder, library)}
    if found:
        assert found == {responder.parts.codec}, protocol.name
    else:
        assert "JSON" in responder.parts.codec


@pytest.mark.parametrize(
    ("protocol", "responder"),
    [
        end
        for end in ENDS
        if end.id.startswith(("http+json-", "rest-")) and end.id not in {"rest-starlette-granian", "rest-flask"}
    ],
)
def test_a_responder_with_validation_refuses_records_of_another_shape_and_no_other_does(
    protocol: Protocol, responder: Responder
) -> None:
    body = [{"id": "no number"}]
    with wire.responding(protocol.name, responder.name) as running:
        reply = httpx.post(
            f"http://{wire.HOST}:{running.port}/echo/records",
            content=json.dumps({"records": body} if protocol.name == "http+json" else body),
            headers={"Content-Type": "application/json"},
        )
    assert reply.status_code == (422 if responder.parts.validation == "pydantic models" else 200)


@pytest.mark.parametrize("framework", ["asgi", "asgi-granian", "starlette", "fastapi"])
def test_on_one_framework_codecs_alone_differ(framework: str) -> None:
    responders = [protocols()[name].responder(framework) for name in bodies.NAMES]
    assert len({r.parts.codec for r in responders}) == len(responders)
    assert len({(r.parts.transport, r.parts.framework, r.parts.server, r.parts.validation) for r in responders}) == 1
