"""Has a host ping another one through `services.python.programs.ping`; the raw echoes stay in the record it was given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.hosts.base import Host
from orchestrator.strict_json import parse_json

_ANSWER_S = 30.0
_NUMBER = (int, float, type(None))
_SHAPES: Mapping[str, tuple[type, ...]] = {"sent": (int,), "received": (int,), "min_ms": _NUMBER, "avg_ms": _NUMBER}


def ping(host: Host, request: Mapping[str, Any]) -> dict[str, Any]:
    """The program's `done` line (protos/process.md). ValueError with its words otherwise, or TimeoutError."""
    process = host.start([*host.python(), "-m", "services.python.programs.ping"])
    try:
        process.send(json.dumps(dict(request)))
        patience_s = _ANSWER_S + request["count"] * request.get("timeout_s", 1.0)
        line = process.read(patience_s)
        answer = parse_json(line) if line is not None else {"type": "failed"}
    finally:
        process.end()
    if not isinstance(answer, dict) or answer.get("type") != "done":
        words = process.last_words().strip().splitlines()
        said = answer.get("message") if isinstance(answer, dict) else None
        raise ValueError(str(said or (words[-1] if words else "it ended without an answer")))
    for key, kinds in _SHAPES.items():
        if not isinstance(answer.get(key), kinds) or isinstance(answer[key], bool):
            raise ValueError(f"its answer has no such {key}: {answer.get(key)!r:.50}")
    return answer
