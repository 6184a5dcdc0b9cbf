"""Whether ten clients get a thousand events a second each, all of them and in time: `python -m benchmarks.streams`.

From the root of the repository. One `orch run` on this machine, both ends on it: every stack that carries streams sends 10 s
of events of 100 B to ten clients, in each of three blocks (some four minutes; `--stacks websocket sse` for a part). The
target: every event delivered, once and in its order, and 99 in 100 of each trial sent less than 5 ms after they were due. A
stack that cannot send 10,000 events a second with a core of its own misses it, which is its capacity.

The raw figures go to `benchmarks/results/streams.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told

CLIENTS, PER_SECOND, SECONDS, REPEATS = 10, 1_000, 10, 3
MOST_LATE_P99_MS = 5.0
STACKS: Mapping[str, str] = {
    "websocket": "websocket",
    "sse": "sse",
    "grpc": "{protocol: grpc, responder: grpc-aio}",
    "socketio": "{protocol: socketio, client: socketio}",
    "graphqlws": "graphqlws",
}
EXPERIMENT = """\
name: ten_clients
question: Do {clients} clients get {rate} events a second each, all of them and in time?
stacks: [{stacks}]
operations:
  - events: {{per_second: {rate}/s, bytes: 100 B}}
load: {{concurrency: {clients}, duration: {seconds}s}}
warmup: {{at_least: 500ms}}
repeats: {repeats}
seed: 43
limits: {{wall: 30m}}
"""
_ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")
_ROOT = Path(__file__).resolve().parents[1]
_CHECK_FAILED = 5
_COUNTS = ("offered", "sent", "delivered", "dropped", "duplicated", "reordered")
_TIMES = ("late_p99", "worst_late", "delivery_median", "delivery_p99", "gap_p99")


def experiment(stacks: Sequence[str], *, seconds: float = SECONDS, repeats: int = REPEATS) -> str:
    """The file of the run."""
    listed = ", ".join(STACKS[name] for name in stacks)
    return EXPERIMENT.format(clients=CLIENTS, rate=PER_SECOND, seconds=f"{seconds:g}", repeats=repeats, stacks=listed)


def figures(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each stack's counts over all trials, and times in ms; `late_p99` is that of the worst trial."""
    return [
        {"stack": cell["labels"]["stack"], **{name: cell["details"]["stream"][name] for name in (*_COUNTS, *_TIMES)}}
        for cell in summary["cells"]
        if cell["details"]["stream"] is not None
    ]


def misses(found: Mapping[str, Any]) -> list[str]:
    """In what a stack misses the target; nothing where it meets it."""
    wrong = [f"{found[name]:,} {name}" for name in ("dropped", "duplicated", "reordered") if found[name]]
    if not found["delivered"] or found["sent"] != found["offered"]:
        wrong.append(f"{found['delivered']:,} delivered, {found['sent'] or 0:,} of {found['offered']:,} sent")
    if found["late_p99"] is None or found["late_p99"] >= MOST_LATE_P99_MS:
        wrong.append(f"late by {found['late_p99']} ms at p99")
    return wrong


def measured(stacks: Sequence[str], options: argparse.Namespace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Figures by stack, and what the check *event stream* said; SystemExit where the run did not end well."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "experiment.yaml").write_text(
            experiment(stacks, seconds=options.seconds, repeats=options.repeats)
        )
        done = subprocess.run(
            [*_ORCH, "run", *(["--share-machine"] if options.share_machine else []), "experiment.yaml", "--json"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode not in (0, _CHECK_FAILED):
            sys.exit(f"orch run ended with {done.returncode}")
        (checks,) = Path(folder, "results").glob("*/checks.json")
        judged = [one for one in json.loads(checks.read_text())["checks"] if one["name"] == "event stream"]
        return figures(json.loads((checks.parent / "summary.json").read_text())), judged


def main() -> None:
    """Print every stack's figures and whether it meets the target, and store them; exit status 1 where none does."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__.split("\n")[0])
    parser.add_argument("--stacks", nargs="+", choices=list(STACKS), default=list(STACKS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each stream lasts")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="blocks")
    parser.add_argument("--share-machine", action="store_true", help="go on where the machine is in use: for a try")
    options = parser.parse_args()
    before = conditions()
    print(f"before: {told(before)}\n", flush=True)
    found, judged = measured(options.stacks, options)
    for row in found:
        times = ", ".join(f"{name} {row[name]:.2f} ms" for name in _TIMES if row[name] is not None)
        verdict = "; ".join(misses(row)) or "met"
        print(f"{row['stack']:11}{row['delivered']:,} of {row['offered']:,} delivered; {times}: {verdict}")
    for name in sorted({*options.stacks} - {row["stack"] for row in found}):
        print(f"{name:11}its trials failed")
    for one in judged:
        if one["verdict"] != "pass":
            print(f"{one['cell']}: {one['verdict']}: {one['explanation']}")
    asked = {"clients": CLIENTS, "per_second": PER_SECOND, "seconds": options.seconds, "repeats": options.repeats}
    content = {"before": before, "after": conditions(), **asked, "stacks": found, "checks": judged}
    print(f"\n{os.path.relpath(keep('streams', content))}")
    if all(misses(row) for row in found):
        sys.exit("no stack meets the target")


if __name__ == "__main__":
    main()
