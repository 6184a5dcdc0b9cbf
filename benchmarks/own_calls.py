"""`python -m benchmarks.own_calls [PART ...]`: what calls of somebody's own service cost, by a call file.

Four services: a file of 1 kB from nginx, JSON from FastAPI and from Go's net/http, and a unary method of grpc-go.

* `cost`: Python's requester over a bare loop around the same client's call, in turns on the same connections, with 1 and 16
  in flight (`harness.pairs`). Goals: at most 1.03 and 1.05.
* `native`: the Go requester, with decoded replies and with bytes alone, against wrk and oha (HTTP) and ghz (gRPC), in turns.
  With one in flight the ratio of medians, at most 1.05; with 50 that of rates, at least 0.95. The Go requester verifies.

Each service's rows replace its earlier ones in `results/own_calls.json`.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import native
from benchmarks.harness import generators, programs
from benchmarks.harness.conditions import RESULTS, conditions, keep, told
from benchmarks.harness.ends import pin_requester
from benchmarks.harness.pairs import Stack, interval_of_median, pairs_of
from orchestrator.catalogue.read import protocols
from orchestrator.experiment.plan.own.own_protos import compiled, described_by
from orchestrator.hosts.local.host import LocalHost
from orchestrator.referee.exchange import Exchange
from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.load.unverified import LEAST_BYTES
from services.python.operations.call import rendered

METHOD = "orch.v1.Orch/Add"
FILE_BYTES = 1024
PATIENCE_S = 10.0
IN_FLIGHT = {"cost": (1, 16), "native": (1, 50)}
NGINX = """daemon off; master_process off; pid nginx.pid; error_log stderr;
events {{ worker_connections 1024; }}
http {{
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  access_log off; keepalive_requests 1000000000; server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""
ADD: dict[str, Any] = {
    "headers": {},
    "rows": [{"a": number, "sum": number + 2} for number in range(100)],
    "order": "random",
    "decode": True,
    "expect": {"values": {"$.sum": "{sum}"}},
    "same": {},
}
JSON = {**ADD, "kind": "http", "method": "POST", "path": "/add", "body": {"json": {"a": "{a}", "b": 2}}}
FILE = {
    **JSON,
    "method": "GET",
    "path": "/file",
    "body": {},
    "rows": [{}],
    "decode": False,
    "expect": {"size": FILE_BYTES},
}


def grpc_call() -> dict[str, Any]:
    """Return the call file of the method of gRPC."""
    descriptors = base64.b64encode(described_by(compiled(Path(generators.PROTO)), METHOD)).decode()
    message = {"a": "{a}", "b": 2}
    return {**ADD, "kind": "grpc", "method": METHOD, "message": message, "descriptors": descriptors}


Serving = Callable[[LocalHost], AbstractContextManager[int]]


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service: what starts it and gives its port, its call file, and the load generators that can call it."""

    serving: Serving
    call: Callable[[], dict[str, Any]]
    others: str


@contextmanager
def nginx(on: LocalHost) -> Iterator[int]:
    """Start nginx with a configuration of its own; its port."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        raise SystemExit("there is no nginx here: apt-get install nginx-light")
    folder = Path(str(on.workspace))
    (folder / "file").write_bytes(b"x" * FILE_BYTES)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    (folder / "nginx.conf").write_text(NGINX.format(port=port, folder=folder))
    argv = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    process = on.start(argv, cpus=programs.responder_cpus())
    try:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise SystemExit(f"nginx does not answer: {process.last_words()}")
        yield port
    finally:
        process.end()


@contextmanager
def ours(protocol: str, responder: str, on: LocalHost) -> Iterator[int]:
    """Start a responder of this installation; its port."""
    with programs.serving(on, protocol, responder) as (port, _):
        yield port


SERVICES: Mapping[str, Service] = {
    "nginx": Service(serving=nginx, call=lambda: FILE, others=native.HTTP),
    "fastapi": Service(serving=partial(ours, native.HTTP, "fastapi"), call=lambda: JSON, others=native.HTTP),
    "net/http": Service(serving=partial(ours, native.HTTP, "go-net-http"), call=lambda: JSON, others=native.HTTP),
    "grpc-go": Service(serving=partial(ours, native.GRPC, "grpc-go"), call=grpc_call, others=native.GRPC),
}


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


def stack_of(call: Mapping[str, Any], client: str, in_flight: int, folder: Path) -> OwnStack:
    """The stack whose client makes the calls; their file lies in the folder."""
    content = json.dumps(call).encode()
    digest = hashlib.sha256(content).hexdigest()
    path = folder / f"{digest[:12]}.json"
    path.write_bytes(content)
    payload = Payload(kind="call", path=str(path), sha256=digest)
    return OwnStack(protocol=f"own_{call['kind']}", client=client, records=0, in_flight=in_flight, payload=payload)


def exchange_of(call: Mapping[str, Any]) -> Exchange:
    """The same requests, for load generators."""
    requests = [request for row in rendered(call) for request in row]
    if call["kind"] == "grpc":
        return Exchange(path=METHOD, bodies=tuple(each["message"] for each in requests))
    first = requests[0]
    bodies = tuple(each["body"] for each in requests)
    return Exchange(path=first["path"], method=first["method"], fields=first["headers"], bodies=bodies)


def cost(service: Service, in_flight: int, port: int, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Compare the default Python client with its bare loop."""
    call = service.call()
    own = protocols()[f"own_{call['kind']}"]
    stack = stack_of(call, own.default_client(in_flight).name, in_flight, folder)
    measured = pairs_of(
        stack, port, folder, pairs=options.pairs, segment_s=options.segment_s, most_kept_bytes=LEAST_BYTES
    )
    for figure in ("p50_ratio", "mean_ratio", "duration_ratio", "cpu_ratio"):
        print(_line(f"{stack.client} / bare loop", in_flight, figure, measured[figure]), flush=True)
    return measured


def native_calls(
    service: Service, in_flight: int, port: int, options: argparse.Namespace, folder: Path, on: LocalHost
) -> dict[str, Any]:
    """Compare the Go requester with the load generators that are here."""
    call = service.call()
    client = protocols()[f"own_{call['kind']}"].natives[0].name

    def turn(name: str, decode: bool) -> native.Turn:
        trial = stack_of({**call, "decode": decode}, client, in_flight, folder).trial(port, folder / f"{name}.record")
        trial = replace(trial, load=Load(concurrency=in_flight, duration_s=options.window_s))
        return lambda: programs.figures(trial, programs.ask(on, trial)[0])

    ways = {"bytes": False, "decoded": True} if call["decode"] else {"bytes": False}
    turns = {name: turn(name, decode) for name, decode in ways.items()}
    others = {
        name: generators.Contender(
            found=generators.require(name),
            asked=exchange_of(call),
            port=port,
            in_flight=in_flight,
            window_s=options.window_s,
            folder=folder,
        ).take_turn
        for name in native.OTHERS[service.others]
    }
    rounds = native.rounds_of({**turns, **others}, options.rounds, in_flight)
    figure = "p50_ms" if in_flight == 1 else "rate_per_s"
    for name in turns:
        for other in others:
            ratio = interval_of_median([row[name][figure] / row[other][figure] for row in rounds])
            print(_line(f"{client}, {name} / {other}", in_flight, figure, ratio), flush=True)
    return {"in_flight": in_flight, "rounds": rounds}


def _line(who: str, in_flight: int, figure: str, ratio: native.Ratio) -> str:
    return f"  {who:28}{in_flight:4} in flight  {figure:15}{ratio[0]:7.3f} ({ratio[1]:.3f}-{ratio[2]:.3f})"


PARTS = ("cost", "native")


def main() -> None:
    """Print each part's ratios, and keep its raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.own_calls", description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all unless given")
    parser.add_argument("--services", nargs="+", choices=SERVICES, default=[*SERVICES])
    parser.add_argument("--pairs", type=int, default=30, help="of segments of `cost`")
    parser.add_argument("--segment-s", type=float, default=0.2)
    parser.add_argument("--rounds", type=int, default=10, help="of `native`")
    parser.add_argument("--window-s", type=int, default=1, help="of each turn of `native`")
    options = parser.parse_args()
    before, pinning = conditions(), pin_requester()
    print(f"before: {told(before)}\n{pinning}")
    path = RESULTS / "own_calls.json"
    content: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for name in options.services:
        service = SERVICES[name]
        for part in options.parts or PARTS:
            print(f"{name}, {part}", flush=True)
            with programs.host() as on, service.serving(on) as port:
                folder, measure = Path(str(on.workspace)), cost if part == "cost" else partial(native_calls, on=on)
                rows = [measure(service, in_flight, port, options, folder) for in_flight in IN_FLIGHT[part]]
            about = {"before": before, "after": conditions(), "pinning": pinning, "rows": rows}
            content.setdefault(part, {})[name] = about
    print(os.path.relpath(keep("own_calls", content)))


if __name__ == "__main__":
    main()
