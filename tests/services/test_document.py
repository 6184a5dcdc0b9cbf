"""The user's own JSON as a typed message and as `google.protobuf.Value`: every end that has Protocol Buffers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Payload, Trial
from services.python.contract.offers import AS_IT_IS, protocols
from tests.support.documents import schema_file
from tests.support.ends import checked, responder, trial_of
from tests.support.matrix import is_default_responder, others_slow

pytestmark = pytest.mark.busy

DOCUMENT = {
    "__proto__": "x",
    "rows": [{"id": 2**53 + n, "name": f"row {n}", "part": n / 3, "note": None if n % 2 else "é"} for n in range(50)],
    "mixed": [1, "a", None],
}
WITH = [name for name, protocol in protocols().items() if "document" in protocol.knobs]
ENDS = [(name, r.name) for name in WITH for r in protocols()[name].responders]


def payload(document: Any, folder: Path) -> Payload:
    path = folder / "document.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return Payload(kind="json", path=str(path))


def trial(protocol: str, client: str, port: int, asked: Payload, **changes: Any) -> Trial:
    return trial_of(protocol, client, port, operation="echo", payload=asked, **changes)


def test_those_with_protocol_buffers_carry_documents_in_both_ways() -> None:
    assert WITH == ["connect", "grpc", "http+protobuf"]
    assert protocols()["rest"].lacks("document", "typed") == AS_IT_IS["document"]


@pytest.mark.parametrize(("protocol", "implementation"), others_slow(ENDS, is_default_responder))
def test_every_client_gets_a_typed_document_back(tmp_path: Path, protocol: str, implementation: str) -> None:
    asked, schema = payload(DOCUMENT, tmp_path), schema_file(DOCUMENT, tmp_path)
    with responder(protocol, implementation=implementation, schema=schema) as (_, ready):
        for client in [c for c in protocols()[protocol].clients if c.kind == "call"]:
            _, (sent, received) = checked(trial(protocol, client.name, ready["port"], asked, schema=schema))
            assert sent == received < len(json.dumps(DOCUMENT)) / 2
