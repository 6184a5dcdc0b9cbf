"""codec size: bodies are large enough to hold the payload, and the wire carried as many bytes as the bodies have.

Random bytes and pictures cannot be made smaller by a codec, so that a body below the payload's size did not carry it.
Structured records can (that is what codecs are for): of those only the wire is checked, which a codec alone does not have.
Where bodies are compressed, and a client says what they would come to, the wire must not have carried much more.
"""

from __future__ import annotations

from orchestrator.checks.base import CALLS, CODECS, NO_SIZES, Check, Finding, cannot_tell, fails, passes, worst
from orchestrator.evidence.run_evidence import CellEvidence

_INCOMPRESSIBLE = ("bytes", "image", "transfer", "exchange")
_FRAMED_BYTES = 256  # below, a codec's own few bytes outweigh the content
_HANDSHAKE_BYTES = 6_000  # a chain of two certificates and two tickets are less


def _handshakes(cell: CellEvidence, requests: int) -> int:
    return _HANDSHAKE_BYTES * requests if cell.cell.is_secured and cell.cell.connection == "per-request" else 0


def judge(cell: CellEvidence) -> Finding | None:
    """Both directions: body against content, wire against body."""
    contents = [size * cell.operation.calls for size in (cell.operation.request_bytes, cell.operation.reply_bytes)]
    ways = (_of_way(cell, way, content) for way, content in zip(("sent", "received"), contents, strict=True))
    findings = [finding for finding in ways if finding is not None]
    if not findings:
        return NO_SIZES
    return worst(findings)


def _of_way(cell: CellEvidence, way: str, content: int) -> Finding | None:
    """Judge the bytes in one direction; None where no body was counted."""
    bodies, wires, requests = _bodies(cell, way)
    if not requests or bodies is None:
        return None
    body = bodies / requests
    evidence = {"way": way, "content_bytes": content, "body_bytes": body, "wire_bytes": wires and wires / requests}
    is_framed = content >= _FRAMED_BYTES * cell.cell.calls
    incompressible = cell.operation.payload.get("kind") in _INCOMPRESSIBLE and is_framed
    if incompressible and body < 0.99 * content:
        return fails("less-than-payload", evidence)
    enough = f"encoded-{way}" if cell.cell.kind == "codec" else "enough"
    if wires is None and (incompressible or cell.cell.kind == "codec"):
        return passes(enough, evidence)
    if wires is None:
        return cannot_tell("unknown-wire", evidence)
    if wires < 0.95 * bodies:
        is_half = wires < 0.5 * bodies and cell.cell.connection == "reuse"
        return Finding.of("fail" if is_half else "warn", "less-than-bodies", evidence)
    # A tenth more, and two thousand bytes of headers a request: no protocol here needs as many. Records of TLS are within
    # that tenth (22 bytes for up to 16 KiB); where each request has a handshake, that comes on top.
    most = 1.1 * bodies + 2_000 * requests * cell.cell.calls + _handshakes(cell, requests)
    if cell.cell.factors["compression"] != "none" and wires > most:
        return fails("more-than-compressed", evidence)
    return passes(enough, evidence)


def _bodies(cell: CellEvidence, way: str) -> tuple[int | None, int | None, int]:
    """Sums over the cell: body bytes, wire bytes (both None where not known), and measured requests.

    Bodies are those of successful requests, while failed ones travelled too, so the wire may only carry more.
    """
    parts = [part for trial in cell.trials for part in trial.parts]
    bodies = [t.totals.body_sent if way == "sent" else t.totals.body_received for t in cell.trials]
    wires = [None if part.done.wire is None else getattr(part.done.wire, f"bytes_{way}") for part in parts]
    requests = sum(t.totals.ok for t in cell.trials)
    body = None if None in bodies else sum(b or 0 for b in bodies)
    carried = None if None in wires else sum(w or 0 for w in wires)
    return body, carried, requests


CHECK = Check(name="codec size", severity="serious", kinds=CALLS | CODECS, judge=judge)
