"""oha (HTTP/1.1, plain or TLS, kept connections or a new one for each request): called with flags, reports JSON."""

from __future__ import annotations

import json

from orchestrator.referee.exchange import Exchange, Figures, Turn, Unreadable, reader, require_succeeded

BODY = "oha.body"


def files(exchange: Exchange) -> dict[str, bytes]:
    """Return what lies in its folder, by name: the one body, or a line for each, from which it draws at random.

    Unreadable where bodies differ, and are not all lines of text.
    """
    if len(exchange.bodies) == 1:
        return {BODY: exchange.bodies[0]}
    try:
        lines = [body.decode() for body in exchange.bodies]
    except UnicodeDecodeError:
        lines = ["\n"]
    if any({"\n", "\r"} & set(line) for line in lines):
        raise Unreadable("oha sends different bodies only where each is a line of text, and these are not")
    return {BODY: b"".join(body + b"\n" for body in exchange.bodies)}


def argv(program: str, exchange: Exchange, turn: Turn) -> list[str]:
    """Return the command: one thread, a connection for each request in flight; what is in flight is waited for."""
    scheme = "http" if turn.authority is None else "https"
    fields = [part for name, value in exchange.fields.items() for part in ("-H", f"{name}: {value}")]
    how = ["--no-tui", "--output-format", "json", "-w", "--worker-threads", "1", "--redirect", "0", "--ipv4"]
    load = ["-c", str(turn.in_flight), "-z", f"{turn.window_s}s", "-t", f"{turn.timeout_s:g}s"]
    kept = [] if turn.keeps else ["--disable-keepalive"]
    trust = [] if turn.authority is None else ["--cacert", turn.authority]
    body = ["-m", exchange.method, "-D" if len(exchange.bodies) == 1 else "-Z", str(turn.folder / BODY)]
    return [program, *how, *load, *kept, *trust, *body, *fields, f"{scheme}://{turn.host}:{turn.port}{exchange.path}"]


@reader
def read(text: str, in_flight: int) -> Figures:  # noqa: ARG001 - as every program's
    """Return the figures in what it printed."""
    report = json.loads(text)
    requests = require_succeeded(report["statusCodeDistribution"], report["errorDistribution"], "2")
    latencies = sum(report["responseTimeHistogram"].values())
    if latencies != requests:
        raise Unreadable(f"{latencies} latencies of {requests} requests")
    median_ns, p99_ns = (report["latencyPercentiles"][name] * 1e9 for name in ("p50", "p99"))
    window_s = report["summary"]["total"] * 1.0
    return Figures(requests=requests, window_s=window_s, median_ns=median_ns, p99_ns=p99_ns)
