"""ghz (gRPC): called with flags, the messages in a file of their bytes; reports JSON with every latency."""

from __future__ import annotations

import json

from orchestrator.referee.exchange import Exchange, Figures, Turn, Unreadable, of_latencies, reader, require_succeeded

MESSAGES = "ghz.messages"
_MOST_DETAILS = 1_000_000  # ghz keeps no more latencies
_MOST_MESSAGE = str(1 << 30)


def files(exchange: Exchange) -> dict[str, bytes]:
    """Return what lies in its folder, by name: the messages, each after its length, which are sent in turn."""
    return {MESSAGES: b"".join(_varint(len(body)) + body for body in exchange.bodies)}


def argv(program: str, exchange: Exchange, turn: Turn) -> list[str]:
    """Return the command: one CPU, so many workers on so many connections; what is in flight at the end is waited for."""
    trust = ["--insecure"] if turn.authority is None else ["--cacert", turn.authority]
    what = ["--proto", str(turn.proto), "--call", exchange.path, "--binary-file", str(turn.folder / MESSAGES)]
    load = ["-c", str(turn.in_flight), "--connections", str(turn.connections), "-z", f"{turn.window_s}s"]
    end = ["--duration-stop", "wait", "-t", f"{turn.timeout_s:g}s"]
    how = ["--cpus", "1", "--disable-template-functions", "--disable-template-data", "-O", "pretty"]
    sizes = ["--max-recv-message-size", _MOST_MESSAGE, "--max-send-message-size", _MOST_MESSAGE]
    return [program, *trust, *what, *load, *end, *how, *sizes, f"{turn.host}:{turn.port}"]


@reader
def read(text: str, in_flight: int) -> Figures:  # noqa: ARG001 - as every program's
    """Return the figures in what it printed."""
    report = json.loads(text)
    requests = require_succeeded(report["statusCodeDistribution"], report["errorDistribution"], "OK")
    figures = of_latencies((detail["latency"] for detail in report["details"]), report["total"] / 1e9)
    if report["count"] != requests or figures.requests != min(requests, _MOST_DETAILS):
        raise Unreadable(f"{requests} statuses and {figures.requests} latencies of {report['count']} requests")
    return Figures(**{**vars(figures), "requests": requests})


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
