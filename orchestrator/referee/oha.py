"""oha (HTTP/1.1, plain or TLS, kept connections or a new one for each request): told by flags, reports JSON."""

from __future__ import annotations

from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.readings import Figures, Unreadable, counts, document, number

BODY = "oha.body"


def files(asked: Asked) -> dict[str, bytes]:
    """What lies in its folder, by name: the one body that it sends, or a line for each, of which it draws at random.

    Unreadable where bodies differ, and are not all lines of text.
    """
    if len(asked.bodies) == 1:
        return {BODY: asked.bodies[0]}
    if not all(map(_is_line, asked.bodies)):
        raise Unreadable("oha sends different bodies only where each is a line of text, and these are not")
    return {BODY: b"".join(body + b"\n" for body in asked.bodies)}


def _is_line(body: bytes) -> bool:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return False
    return not {"\n", "\r"} & set(text)


def argv(program: str, asked: Asked, turn: Turn) -> list[str]:
    """The command: one thread, a connection for each request in flight; what is in flight at the end is waited for."""
    scheme = "http" if turn.authority is None else "https"
    fields = [part for name, value in asked.fields.items() for part in ("-H", f"{name}: {value}")]
    how = ["--no-tui", "--output-format", "json", "-w", "--worker-threads", "1", "--redirect", "0", "--ipv4"]
    load = ["-c", str(turn.in_flight), "-z", f"{turn.window_s}s", "-t", f"{turn.timeout_s:g}s"]
    kept = [] if turn.keeps else ["--disable-keepalive"]
    trust = [] if turn.authority is None else ["--cacert", turn.authority]
    body = ["-m", asked.method, "-D" if len(asked.bodies) == 1 else "-Z", str(turn.folder / BODY)]
    return [program, *how, *load, *kept, *trust, *body, *fields, f"{scheme}://{turn.host}:{turn.port}{asked.path}"]


def read(text: str, in_flight: int) -> Figures:  # noqa: ARG001 - as every program's
    """Its figures out of what it printed; Unreadable says what is wrong with that."""
    report = document(text)
    statuses, errors = counts(report, "statusCodeDistribution"), counts(report, "errorDistribution")
    if wrong := {status: count for status, count in statuses.items() if not status.startswith("2")} | errors:
        raise Unreadable(f"requests failed: {wrong}")
    requests, entered = sum(statuses.values()), sum(counts(report, "responseTimeHistogram").values())
    if entered != requests:
        raise Unreadable(f"{entered} latencies of {requests} requests")
    window_s = number(report.get("summary"), "total")
    median_s, p99_s = (number(report.get("latencyPercentiles"), name) for name in ("p50", "p99"))
    return Figures(requests=requests, window_s=window_s, median_ns=median_s * 1e9, p99_ns=p99_s * 1e9)
