"""`python -m benchmarks.harness.startup`: CPU seconds from start to ready, of every responder and every client.

A responder is read by its ready line and its own `stats`. A requester is given a smoke trial (`requests: 0`): its CPU is
that of its whole life, the check of both ends included.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import IDENTITY, responder
from services.python.contract.lines import Load, Target, Trial
from services.python.contract.offers import Protocol, protocols

ROUNDS = 3
_LIGHT = ("tcp", "grpc")


def limit_s(protocol: str) -> float:
    """What a start may cost."""
    return 0.5 if protocol in _LIGHT else 1.0


def responder_cpu_s(protocol: Protocol, name: str) -> float:
    """CPU seconds of one responder when it is ready."""
    with responder(protocol.name, name) as (process, _):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("stats\n")
        process.stdin.flush()
        return float(json.loads(process.stdout.readline())["cpu_s"])


def requester_cpu_s(protocol: Protocol, client: str, port: int) -> float:
    """CPU seconds of one smoke trial."""
    trial = Trial(
        target=Target(host="127.0.0.1", port=port, identity=IDENTITY),
        protocol=protocol.name,
        client=client,
        operation="timestamp",
        record=os.devnull,
        load=Load(requests=0),
    )
    argv = [sys.executable, "-m", "services.python.programs.request"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdin is not None
        assert asking.stdout is not None
        asking.stdin.write(trial.to_json() + "\n")
        asking.stdin.flush()
        last = [json.loads(line) for line in asking.stdout][-1]
    assert last["type"] == "done", last
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table and keep the raw numbers."""
    before = conditions()
    starts: list[dict[str, Any]] = []
    for protocol in (protocol for protocol in protocols().values() if protocol.responders):
        for answering in protocol.responders:
            times_s = [responder_cpu_s(protocol, answering.name) for _ in range(ROUNDS)]
            starts.append({"protocol": protocol.name, "end": "responder", "name": answering.name, "cpu_s": times_s})
        with responder(protocol.name, protocol.responder().name) as (_, ready):
            for client in (client for client in protocol.clients if client.kind == "call"):
                times_s = [requester_cpu_s(protocol, client.name, ready["port"]) for _ in range(ROUNDS)]
                starts.append({"protocol": protocol.name, "end": "requester", "name": client.name, "cpu_s": times_s})
    print(f"before: {told(before)}\nafter:  {told(conditions())}\n")
    print(f"{'protocol':12}{'end':12}{'name':22}{'CPU s':>8}   median of {ROUNDS}")
    for start in starts:
        cpu_s, most_s = statistics.median(start["cpu_s"]), limit_s(start["protocol"])
        verdict = "ok" if cpu_s <= most_s else "ABOVE"
        print(f"{start['protocol']:12}{start['end']:12}{start['name']:22}{cpu_s:8.3f}   {verdict} (at most {most_s})")
    path = keep("harness_startup", {"before": before, "after": conditions(), "starts": starts})
    print(f"\n{os.path.relpath(path)}")


if __name__ == "__main__":
    main()
