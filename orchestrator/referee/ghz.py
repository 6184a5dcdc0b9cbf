"""ghz (gRPC): told by flags, the messages in a file of their bytes; reports JSON with every latency that it measured."""

from __future__ import annotations

from math import ceil
from statistics import median

from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.readings import Figures, Unreadable, counts, document, number

MESSAGES = "ghz.messages"
_MOST_DETAILS = 1_000_000  # ghz keeps no more latencies
_MOST_MESSAGE = str(1 << 30)


def files(asked: Asked) -> dict[str, bytes]:
    """What lies in its folder, by name: the messages, each after its length, which are sent in turn."""
    return {MESSAGES: b"".join(_varint(len(body)) + body for body in asked.bodies)}


def argv(program: str, asked: Asked, turn: Turn) -> list[str]:
    """The command: one CPU, so many workers on so many connections; what is in flight at the end is waited for."""
    trust = ["--insecure"] if turn.authority is None else ["--cacert", turn.authority]
    what = ["--proto", str(turn.proto), "--call", asked.path, "--binary-file", str(turn.folder / MESSAGES)]
    load = ["-c", str(turn.in_flight), "--connections", str(turn.connections), "-z", f"{turn.window_s}s"]
    end = ["--duration-stop", "wait", "-t", f"{turn.timeout_s:g}s"]
    how = ["--cpus", "1", "--disable-template-functions", "--disable-template-data", "-O", "pretty"]
    sizes = ["--max-recv-message-size", _MOST_MESSAGE, "--max-send-message-size", _MOST_MESSAGE]
    return [program, *trust, *what, *load, *end, *how, *sizes, f"{turn.host}:{turn.port}"]


def read(text: str, in_flight: int) -> Figures:  # noqa: ARG001 - as every program's
    """Its figures out of what it printed; Unreadable says what is wrong with that."""
    report = document(text)
    statuses, errors = counts(report, "statusCodeDistribution"), counts(report, "errorDistribution")
    if wrong := {status: count for status, count in statuses.items() if status != "OK"} | errors:
        raise Unreadable(f"requests failed: {wrong}")
    requests, details = int(number(report, "count")), report.get("details")
    if sum(statuses.values()) != requests or not isinstance(details, list):
        raise Unreadable(f"{sum(statuses.values())} statuses of {requests} requests")
    if len(details) != min(requests, _MOST_DETAILS) or not details:
        raise Unreadable(f"{len(details)} latencies of {requests} requests")
    latencies_ns = sorted(number(detail, "latency") for detail in details)
    if latencies_ns[0] <= 0:
        raise Unreadable("a latency is not above zero")
    p99_ns = latencies_ns[ceil(0.99 * len(latencies_ns)) - 1]
    window_s = number(report, "total") / 1e9
    return Figures(requests=requests, window_s=window_s, median_ns=median(latencies_ns), p99_ns=p99_ns)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
