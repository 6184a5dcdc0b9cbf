"""Trials of calls to a service that knows nothing of orch."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from services.python.contract.lines import Authority, Load, Payload, Target, Trial, Warmup
from services.python.trial.parts import Parts
from tests.support import ends
from tests.support.certificates import HOST, TLS

_USUAL: dict[str, Any] = {"headers": {}, "decode": True, "expect": {}}
_SHARED: dict[str, Any] = {"order": "file", "same": {}, "rows": [{"id": 1}]}


def step(request: str, **changes: Any) -> dict[str, Any]:
    """A step by HTTP, such as `GET /`."""
    method, _, path = request.partition(" ")
    return {**_USUAL, "kind": "http", "body": {}, "method": method, "path": path, **changes}


def step_of(kind: str, **changes: Any) -> dict[str, Any]:
    """A step of another kind."""
    return {**_USUAL, "kind": kind, **changes}


def trial_of(
    folder: Path,
    client: str,
    port: int,
    *steps: dict[str, Any],
    authority: Authority | None = None,
    requests: int = 0,
    knobs: dict[str, str] | None = None,
    **shared: Any,
) -> Trial:
    """A trial of one call, or of the steps of a task; `shared` are further keys of its call file."""
    kind = steps[0]["kind"]
    steps_or_call = {"steps": steps} if len(steps) > 1 else steps[0]
    content = json.dumps({**_SHARED, **steps_or_call, "kind": kind, **shared}).encode()
    path = folder / "call.json"
    path.write_bytes(content)
    return Trial(
        target=Target(host=HOST, port=port, anonymous=True),
        protocol=f"own_{kind}",
        client=client,
        operation="call",
        record=str(folder / "record"),
        payload=Payload(kind="call", path=str(path), sha256=hashlib.sha256(content).hexdigest()),
        connection="reuse",
        load=Load(requests=requests, concurrency=2 if requests else 1),
        warmup=Warmup(requests=2, at_least_s=0.0),
        calls=len(steps),
        knobs={**({} if authority is None else TLS), **(knobs or {})},
        tls=authority,
        timeout_s=10.0,
    )


def checked(*arguments: Any, **named: Any) -> tuple[Parts, tuple[int, int]]:
    """The parts of such a trial, once its check is right, and both bodies' sizes; CannotTry otherwise."""
    return ends.checked(trial_of(*arguments, **named))


@contextmanager
def serving(server: Any) -> Iterator[int]:
    """A server of `socketserver` in a thread; its port."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
