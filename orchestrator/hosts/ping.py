"""Has a host ping another one through `services.harness.ping`; the raw echoes stay in the record it was given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.hosts.base import Host
from orchestrator.strict_json import parse_json

_ANSWER_S = 30.0


def ping(host: Host, request: Mapping[str, Any]) -> dict[str, Any]:
    """The program's `done` line (protos/process.md). ValueError with its words otherwise, or TimeoutError."""
    process = host.start([*host.python(), "-m", "services.harness.ping"])
    try:
        process.send(json.dumps(dict(request)))
        patience_s = _ANSWER_S + request["count"] * request.get("timeout_s", 1.0)
        line = process.read(patience_s)
        answer = parse_json(line) if line is not None else {"type": "failed"}
    finally:
        process.end()
    if not isinstance(answer, dict) or answer.get("type") != "done":
        words = process.last_words().strip().splitlines()
        raise ValueError(str(answer.get("message") or (words[-1] if words else "it ended without an answer")))
    return answer
