"""What each responder says of its validation and of what it differs in from others is what it does."""

from __future__ import annotations

import json

import httpx
import pytest

from services.python.contract.offers import Protocol, Responder, protocols
from services.python.protocols import bodies
from tests.support import wire

ENDS = [pytest.param(p, r, id=f"{p.name}-{r.name}") for p in protocols().values() for r in p.responders]


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
