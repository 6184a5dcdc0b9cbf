"""`python -m benchmarks.live_page`: what a run pays for being watched on the live page.

The same short experiment is run on this machine with viewers of its page and without, in pairs whose order alternates. The
page's server is a process of its own; viewers ask for it again and again, as its script does. Of each pair: the ratio
(watched over alone) of every stack's median latency, of the wall time, and of what trials take beside their measured
windows. The median of the ratios is shown with its 95 % interval, beside the same of pairs in which nobody watches
either: those say what such a benchmark can see here.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.pairs import interval_of_median

_EXPERIMENT = """\
name: watched
question: Does it matter that somebody watches?
provider: local
stacks: [tcp, rest, grpc]
operations: timestamp
load: {duration: SECONDS}
warmup: {requests: 200, at_least: 500ms}
repeats: 3
"""
_ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")
_SERVER = """\
import sys
from pathlib import Path
import uvicorn
from orchestrator.web.app import create_app
from orchestrator.workspace import Workspace
app = create_app(Workspace(Path(sys.argv[1])))
server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1))
bind = server.config.bind_socket()
bind.listen()
print(bind.getsockname()[1], flush=True)
server.run(sockets=[bind])
"""
_PATIENCE_S = 60.0
_EVERY_S = 2.0
_COMPLETED = (0, 5)  # 5: a check found fault with so short a run


def measured(folder: Path, viewers: int | None) -> dict[str, float]:
    """One run, watched by so many (None: no page is there): median latency of each stack in ms, and seconds."""
    known, began_s = _runs(folder), time.monotonic()
    run = subprocess.Popen(
        [*_ORCH, "run", "watched.yaml"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    with _watched(folder, known, viewers) as looks:
        said = run.communicate()[1].decode(errors="replace")
    wall_s = time.monotonic() - began_s
    if run.returncode not in _COMPLETED:
        raise SystemExit(f"orch run ended with {run.returncode}:\n{said[-2000:]}")
    if viewers and not min(looks):
        raise SystemExit("a viewer saw nothing: nothing was watched")
    (name,) = _runs(folder) - known
    return {**_figures(folder / "results" / name), "wall time, s": wall_s}


def _runs(folder: Path) -> set[str]:
    results = folder / "results"
    return (
        {path.name for path in results.iterdir() if (path / "journal.jsonl").is_file()} if results.is_dir() else set()
    )


def _figures(run: Path) -> dict[str, float]:
    """Of each stack the median of its trials' medians, and what a trial takes beside its window."""
    by_stack: dict[str, list[float]] = {}
    beside_s = []
    for line in (run / "journal.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "trial" and event.get("median_ns"):
            trial = event["trial"]
            by_stack.setdefault(trial["cell"].partition("__")[0], []).append(event["median_ns"] / 1e6)
            elapsed_s = (trial["ended_wall_ns"] - trial["started_wall_ns"]) / 1e9
            beside_s.append(elapsed_s - max(part["done"]["measured_s"] for part in trial["requesters"]))
    found = {f"{stack}, median latency, ms": statistics.median(values) for stack, values in by_stack.items()}
    return {**found, "a trial beside its window, s": statistics.fmean(beside_s)}


@contextmanager
def _watched(folder: Path, known: set[str], viewers: int | None) -> Iterator[list[int]]:
    """The page's server and its viewers, from when the run has a folder until the block ends; looks of each."""
    looks = [0] * (viewers or 0)
    if not viewers:
        yield looks
        return
    server = subprocess.Popen([sys.executable, "-c", _SERVER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        port, deadline = int(server.stdout.readline()), time.monotonic() + _PATIENCE_S
        while not (new := _runs(folder) - known):
            if time.monotonic() > deadline:
                raise SystemExit("the run has no folder after a minute")
            time.sleep(0.05)
        for number in range(viewers):
            threading.Thread(target=_view, args=(port, min(new), looks, number), daemon=True).start()
        yield looks
    finally:
        server.terminate()
        server.wait()


def _view(port: int, run: str, looks: list[int], number: int) -> None:
    with suppress(OSError, http.client.HTTPException):  # the server ends before its viewers
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            connection.request("GET", f"/live/{run}")
            connection.getresponse().read()
            looks[number] += 1
            time.sleep(_EVERY_S)


def main() -> None:
    """Print the table and keep the raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_page", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=15, help="of runs, watched and alone")
    parser.add_argument("--viewers", type=int, default=8, help="of each run that is watched")
    parser.add_argument("--duration", default="1500ms", help="of each trial's measured window")
    parser.add_argument("--try", dest="is_try", action="store_true", help="keep nothing")
    options = parser.parse_args()
    before = conditions()
    raw: dict[str, list[list[dict[str, float]]]] = {"watched": [], "alone": []}
    print(f"before: {told(before)}\n", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "watched.yaml").write_text(_EXPERIMENT.replace("SECONDS", options.duration))
        measured(folder, None)  # so that all is compiled, and in the page cache
        for number in range(options.pairs):
            for kind, viewers in (("watched", options.viewers), ("alone", None)):
                pair: list[dict[str, float]] = [{}, {}]
                for place in (1, 0) if number % 2 else (0, 1):
                    pair[place] = measured(folder, viewers if place == 0 else None)
                raw[kind].append(pair)
    for name in raw["alone"][0][0]:
        print(name)
        for kind, pairs in raw.items():
            median, lowest, highest = interval_of_median([first[name] / second[name] for first, second in pairs])
            print(f"    {kind:8}{median:8.4f} ({lowest:.4f}-{highest:.4f})")
    if not options.is_try:
        content = {"viewers": options.viewers, "duration": options.duration, "before": before, "after": conditions()}
        print(f"\n{os.path.relpath(keep('live_page', {**content, 'pairs': raw}))}")


if __name__ == "__main__":
    main()
