"""Has a host ping another one by the program of that role; the raw echoes stay in the record it was given."""

from __future__ import annotations

from orchestrator import lines
from orchestrator.catalogue.read import catalogue
from orchestrator.hosts.base import Host
from services.python.contract.ping_lines import Ping, PingDone
from services.python.contract.requester_lines import Failed

_ANSWER_S = 30.0


def ping(host: Host, request: Ping, *, cpus: str | None = None, patience_s: float | None = None) -> PingDone:
    """The program's `done` line (protos/process.md), of a process pinned to `cpus`.

    Without `patience_s` it may take as long as all time-outs together, and 30 s more. ValueError says why there is no
    such line, TimeoutError that none came in time.
    """
    process = host.start(catalogue().of_role("ping").argv("ping", host), cpus=cpus)
    try:
        process.send(request.to_json())
        text = process.read(_ANSWER_S + request.count * request.timeout_s if patience_s is None else patience_s)
    finally:
        process.end()
    if text is None:
        words = process.last_words().strip().splitlines()
        raise ValueError(words[-1] if words else "it ended without an answer")
    answer = lines.pings(text)
    if isinstance(answer, Failed):
        raise ValueError(answer.message)
    return answer
