"""`python -m benchmarks.own_calls [PART ...]`: what calls of somebody's own service cost, by a call file.

`add` of this installation's Go responders stands for somebody's service, over HTTP and gRPC; each call file has 100 rows.

* `cost`: Python's requester over a bare loop around the same client's call, in turns on the same connections, with 1 and 16
  in flight (`harness.pairs`). Goals: at most 1.03 and 1.05.
* `native`: the Go requester against wrk and oha (HTTP) and ghz (gRPC), in turns. With one in flight the ratio of medians, at
  most 1.05 by the goal; with 50 that of rates over the best of the others, at least 0.95. The Go requester verifies.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import native
from benchmarks.harness import generators, programs
from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.ends import pin_requester
from benchmarks.harness.pairs import Stack, pairs_of
from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.own.own_protos import compiled, described_by
from orchestrator.hosts.local.host import LocalHost
from orchestrator.referee.exchange import Exchange
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.load.memory import LEAST_BYTES
from services.python.operations.call import rendered

METHOD = "orch.v1.Orch/Add"
IN_FLIGHT = {"cost": (1, 16), "native": (1, 50)}
HTTP = {"kind": "http", "method": "POST", "path": "/add", "body": {"json": {"a": "{a}", "b": 2}}}
USUAL = {
    "headers": {},
    "rows": [{"a": number, "sum": number + 2} for number in range(100)],
    "order": "random",
    "decode": True,
    "expect": {"values": {"$.sum": "{sum}"}},
    "same": {},
}


def call_of(protocol: str) -> dict[str, Any]:
    """The call file of `rest` or `grpc`."""
    if protocol == native.HTTP:
        return {**USUAL, **HTTP}
    descriptors = base64.b64encode(described_by(compiled(Path(generators.PROTO)), METHOD)).decode()
    message = {"a": "{a}", "b": 2}
    return {**USUAL, "kind": "grpc", "method": METHOD, "message": message, "descriptors": descriptors}


@dataclass(frozen=True, kw_only=True)
class OwnStack(Stack):
    """A client that makes the calls of a file."""

    payload: Payload

    def trial(self, port: int, record: Path) -> Trial:
        """As the orchestrator would have it made."""
        return Trial(
            target=Target(host="127.0.0.1", port=port, anonymous=True),
            protocol=self.protocol,
            client=self.client,
            operation="call",
            payload=self.payload,
            load=Load(requests=1, concurrency=self.in_flight),
            warmup=Warmup(requests=200, at_least_s=0.2),
            record=str(record),
        )


def stack_of(protocol: str, client: str, in_flight: int, folder: Path) -> OwnStack:
    """The stack whose client calls the responder of `rest` or `grpc`; its call file lies in the folder."""
    call, path = call_of(protocol), folder / f"{protocol}-call.json"
    path.write_text(json.dumps(call))
    payload = Payload(kind="call", path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    return OwnStack(protocol=f"own_{call['kind']}", client=client, records=0, in_flight=in_flight, payload=payload)


def asked_of(protocol: str) -> Exchange:
    """The same requests, for load generators."""
    requests = [request for row in rendered(call_of(protocol)) for request in row]
    if protocol == native.HTTP:
        return Exchange(path="/add", fields=requests[0]["headers"], bodies=tuple(each["body"] for each in requests))
    return Exchange(path=METHOD, bodies=tuple(each["message"] for each in requests))


def cost(name: str, in_flight: int, port: int, options: argparse.Namespace, on: LocalHost) -> Iterator[dict[str, Any]]:
    """The Python client by default, over its bare loop."""
    folder = Path(str(on.workspace))
    own = protocols()[f"own_{call_of(name)['kind']}"]
    stack = stack_of(name, own.default_client(in_flight).name, in_flight, folder)
    measured = pairs_of(
        stack, port, folder, pairs=options.pairs, segment_s=options.segment_s, most_kept_bytes=LEAST_BYTES
    )
    for figure in ("p50_ratio", "mean_ratio", "duration_ratio", "cpu_ratio"):
        print(_line(f"{stack.protocol} {stack.client}", in_flight, figure, measured[figure]), flush=True)
    yield measured


def native_calls(
    name: str, in_flight: int, port: int, options: argparse.Namespace, on: LocalHost
) -> Iterator[dict[str, Any]]:
    """The Go requester against the load generators that are here."""
    folder = Path(str(on.workspace))
    protocol, client = protocols()[name], protocols()[f"own_{call_of(name)['kind']}"].natives[0]
    trial = stack_of(name, client.name, in_flight, folder).trial(port, folder / "record")
    trial = replace(trial, load=Load(concurrency=in_flight, duration_s=options.window_s))
    others = {
        generator: generators.Contender(
            found=generators.require(generator),
            asked=asked_of(name),
            port=port,
            in_flight=in_flight,
            window_s=options.window_s,
            folder=folder,
        ).take_turn
        for generator in native.OTHERS[name]
        if generators.find(generator).is_usable
    }
    if not others:
        print(f"no load generator of {name} is here (`make referee`)")
        return
    turns = {client.name: lambda: programs.figures(trial, programs.ask(on, trial)[0])}
    contest = native.Contest(
        protocol=name, responder=protocol.responder(RESPONDERS[name]), natives=turns, others=others
    )
    rounds = native.rounds_of(contest, options.rounds, in_flight)
    of_rates = in_flight > 1
    for other, ratio in native.ratios(rounds, client.name, list(others), of_rates=of_rates).items():
        print(_line(f"{client.name} / {other}", in_flight, "rate" if of_rates else "p50", ratio), flush=True)
    yield {"protocol": name, "in_flight": in_flight, "rounds": rounds}


def _line(who: str, in_flight: int, figure: str, ratio: native.Ratio) -> str:
    return f"{who:28}{in_flight:4} in flight  {figure:15}{ratio[0]:7.3f} ({ratio[1]:.3f}-{ratio[2]:.3f})"


PARTS = {"cost": cost, "native": native_calls}
RESPONDERS = {native.HTTP: "go-net-http", native.GRPC: "grpc-go"}


def main() -> None:
    """Print each part's ratios, and keep its raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.own_calls", description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all unless given")
    parser.add_argument("--pairs", type=int, default=30, help="of segments of `cost`")
    parser.add_argument("--segment-s", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=10, help="of `native`")
    parser.add_argument("--window-s", type=int, default=1, help="of each turn of `native`")
    options = parser.parse_args()
    before, pinning = conditions(), pin_requester()
    print(f"before: {told(before)}\n{pinning}")
    content: dict[str, Any] = {}
    with programs.host() as on:
        for part in options.parts or PARTS:
            content[part] = []
            for name, responder in RESPONDERS.items():
                with programs.serving(on, name, responder) as (port, _):
                    for in_flight in IN_FLIGHT[part]:
                        content[part] += PARTS[part](name, in_flight, port, options, on)
    print(os.path.relpath(keep("own_calls", {"before": before, "after": conditions(), "pinning": pinning, **content})))


if __name__ == "__main__":
    main()
