"""For tests of gates: a small service, an experiment that calls it, a git repository of both; results made row by row."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from orchestrator.gate.arms import Side
from orchestrator.gate.verdict import CallResult, CallRow, GateResult, Verdict
from orchestrator.statistics.equivalence import standing
from tests.support.compared import row

LIMIT = 0.05
SERVICE = """\
import json, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one write

    def do_GET(self):
        content = json.dumps({"total": int(self.path.strip("/"))}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
EXPERIMENT = """\
name: shop
question: Is head slower than base?
services:
  shop: {start: "{python} serve.py {port}", folder: ../app}
stacks:
  - {name: order, service: shop, call: {http: "GET /{id}"}}
data: rows.csv
same: {total: total}
load: {requests: 30}
warmup: {requests: 5, at_least: 0s}
"""
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.com")


def repository(folder: Path) -> Path:
    """A repository with one commit; its experiment."""
    (folder / "app").mkdir()
    (folder / "ci").mkdir()
    (folder / "app" / "serve.py").write_text(SERVICE)
    (folder / "ci" / "orch.yaml").write_text(EXPERIMENT)
    (folder / "ci" / "rows.csv").write_text("id\n1\n2\n3\n")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder / "ci" / "orch.yaml"


def commit(folder: Path) -> None:
    """Commit all that is there."""
    git(folder, "add", ".")
    git(folder, *AUTHOR, "commit", "--quiet", "--message", "a change")


def change(folder: Path, old: str, new: str) -> None:
    """Put another text into the service."""
    file = folder / "app" / "serve.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def git(folder: Path, *words: str) -> str:
    """What git prints."""
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout


def a_row(verdict: Verdict, statistic: str = "median", p_value: float | None = 0.001, **more: Any) -> CallRow:
    """Head against base, with an interval of that verdict."""
    bounds = {"slower": (1.04, 1.10), "not slower": (0.98, 1.02), "undecided": (0.95, 1.20)}[verdict]
    compared = row(*bounds, statistic=statistic, p_value=p_value, verdict=standing(bounds))
    return CallRow(
        **{
            "call": "order",
            "row": compared,
            "verdict": verdict,
            "is_decisive": statistic == "median",
            "limit": LIMIT,
            **more,
        }
    )


def a_call(*rows: CallRow, **more: Any) -> CallResult:
    """A run of eight blocks."""
    return CallResult(**{"call": "order", "seconds": 8.0, "run": "r1", "rows": rows, "blocks": 8, **more})


def a_gate(*calls: CallResult) -> GateResult:
    """A gate of calls that were measured once."""
    base, head = Side(label="main", folder=Path()), Side(label="the working folder", folder=Path())
    known: dict[str, Any] = {"name": "shop", "base": base, "head": head, "metric": "median"}
    return GateResult(**known, limit=LIMIT, calls=calls, runs=calls, seconds=10.0)
