"""`python -m benchmarks.beside OTHER_CHECKOUT`: what orch itself costs here, against another checkout of it.

Both checkouts take turns, in pairs whose order alternates, with this one's interpreter and libraries: `orch --help`,
`orch plan` (of `--experiment FILE`, too), `orch run` and `orch report` of the same short local experiment, and the start of
a responder; of the trials, the time beside their measured windows is shown, too. Each pair gives a ratio (this checkout over
the other). The median of the ratios is shown with its 95 % interval.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told
from benchmarks.harness.pairs import interval_of_median
from services.python.contract.responder_lines import Serve

MOST_RATIO = 1.03
HERE = Path(__file__).resolve().parents[1]

EXPERIMENT = """\
name: beside
question: What does a run cost beside its measuring?
stacks: [rest, grpc, graphql, http+cbor, http+avro, http+msgpack, socketio, websocket]
operations: timestamp
load: {requests: 20}
warmup: {requests: 0, at_least: 0s}
repeats: 1
"""


def timed(checkout: Path, folder: Path, *words: str) -> tuple[float, float, float]:
    """Wall and CPU seconds of one `orch` of a checkout, its children included, and its peak memory in MB."""
    code = f"import sys; sys.path.insert(0, {str(checkout)!r}); from orchestrator.cli.main import main; main()"
    with tempfile.TemporaryFile("w+") as printed:
        start = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words], cwd=folder, env=_environment(checkout), stdout=printed, stderr=printed
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall_s, process.returncode = time.monotonic() - start, os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 5):  # 5: a check found fault with these few requests
            printed.seek(0)
            raise SystemExit(
                f"{checkout}: orch {' '.join(words)} ended with {process.returncode}:\n{printed.read()[-2000:]}"
            )
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


def _environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": ""}


def _cpu_and_memory(checkout: Path, folder: Path, *words: str) -> dict[str, float]:
    _, cpu_s, memory_mb = timed(checkout, folder, *words)
    name = f"orch {words[0]}" if len(words) < 2 or words[1] == "experiment.yaml" else f"orch {words[0]} {words[1]}"
    return {f"{name}, CPU": cpu_s, f"{name}, memory": memory_mb}


def helping(checkout: Path, folder: Path) -> dict[str, float]:
    """CPU seconds and memory of `orch --help`."""
    return _cpu_and_memory(checkout, folder, "--help")


def planning(checkout: Path, folder: Path) -> dict[str, float]:
    """CPU seconds and memory of `orch plan` of the same cells in both checkouts, and of the experiment that was given."""
    given = [path.name for path in folder.glob("*.yaml") if path.name != "experiment.yaml"]
    quantities: dict[str, float] = {}
    for name in ("experiment.yaml", *given):
        quantities |= _cpu_and_memory(checkout, folder, "plan", name)
    return quantities


def reporting(checkout: Path, folder: Path) -> dict[str, float]:
    """CPU seconds and memory of `orch report` of one run, which this checkout made."""
    if not (folder / "results").exists():
        timed(checkout, folder, "run", "experiment.yaml")
    return _cpu_and_memory(checkout, folder, "report", "latest")


def responding(checkout: Path, folder: Path) -> dict[str, float]:
    """CPU seconds and memory of a responder from its start until it is ready."""
    serve = Serve(protocol="rest", implementation="starlette", host="127.0.0.1", port=0, identity="beside")
    process = subprocess.Popen(
        [sys.executable, "-m", "services.python.programs.respond"],
        cwd=folder,
        env=_environment(checkout),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(serve.to_json() + "\n")
    process.stdin.flush()
    process.stdout.readline()
    process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return {
        "responder's start, CPU": usage.ru_utime + usage.ru_stime,
        "responder's start, memory": usage.ru_maxrss / 1e3,
    }


def running(checkout: Path, folder: Path) -> dict[str, float]:
    """What a run takes beside its measuring: wall and CPU seconds, and the wall seconds of its trials alone."""
    wall_s, cpu_s, _ = timed(checkout, folder, "run", "experiment.yaml")
    runs = [path for path in (folder / "results").iterdir() if path.is_dir() and not path.is_symlink()]
    newest = max(runs, key=lambda path: path.stat().st_mtime_ns)
    trials = json.loads((newest / "manifest.json").read_text())["trials"]
    overhead_s = statistics.fmean(_overhead_s(trial) for trial in trials)
    return {"orch run, wall": wall_s, "orch run, CPU": cpu_s, "a trial beside its measuring, wall": overhead_s}


_MEASURES = {"help": helping, "plan": planning, "run": running, "report": reporting, "respond": responding}


def _overhead_s(trial: dict[str, Any]) -> float:
    elapsed_s = (trial["ended_wall_ns"] - trial["started_wall_ns"]) / 1e9
    return float(elapsed_s - max(part["done"].get("measured_s") or 0.0 for part in trial["requesters"]))


def ratios(
    other: Path, measure: Callable[[Path, Path], dict[str, float]], pairs: int, experiments: Sequence[Path] = ()
) -> dict[str, dict[str, Any]]:
    """For each quantity the seconds (or MB) here and there, and the ratios of the pairs."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folders = {HERE: Path(scratch) / "here", other: Path(scratch) / "other"}
        for folder in folders.values():
            folder.mkdir()
            (folder / "experiment.yaml").write_text(EXPERIMENT)
            for experiment in experiments:
                (folder / f"given-{experiment.name}").write_text(experiment.read_text())
        for checkout in (HERE, other):
            measure(checkout, folders[checkout])  # so that both are compiled, and in the page cache
        for number in range(pairs):
            order = (HERE, other) if number % 2 else (other, HERE)
            seconds = {checkout: measure(checkout, folders[checkout]) for checkout in order}
            for name, here_s in seconds[HERE].items():
                entry = found.setdefault(name, {"here_s": [], "other_s": [], "ratios": []})
                entry["here_s"].append(here_s)
                entry["other_s"].append(seconds[other][name])
                entry["ratios"].append(here_s / seconds[other][name])
    return found


def main() -> None:
    """Print the table and keep the raw numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside", description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path, help="another checkout of orch, e.g. a worktree of an older commit")
    parser.add_argument("--pairs", type=int, default=15, help="turns of each quantity")
    parser.add_argument(
        "--only", nargs="+", choices=sorted(_MEASURES), default=sorted(_MEASURES), help="which commands"
    )
    parser.add_argument("--experiment", type=Path, action="append", default=[], help="plan this file, too; repeatable")
    options = parser.parse_args()
    other = options.other.resolve()
    before = conditions()
    commits = {name: _commit(path) for name, path in (("here", HERE), ("other", other))}
    print(f"here {commits['here']}, other {commits['other']}\nbefore: {told(before)}\n", flush=True)
    found: dict[str, dict[str, Any]] = {}
    for measure in (_MEASURES[name] for name in options.only):
        for name, entry in ratios(other, measure, options.pairs, options.experiment).items():
            found[name] = entry
            median, lowest, highest = interval_of_median(entry["ratios"])
            verdict = "ok" if median <= MOST_RATIO else "ABOVE" if lowest > MOST_RATIO else "unclear"
            here_s, other_s = statistics.median(entry["here_s"]), statistics.median(entry["other_s"])
            unit = "MB" if name.endswith("memory") else "s"
            both = f"{here_s:8.3f} {unit} {other_s:8.3f} {unit}"
            print(f"{name:48}{both} {median:7.3f} ({lowest:.3f}-{highest:.3f})   {verdict}", flush=True)
    content = {"commits": commits, "before": before, "after": conditions(), "quantities": found}
    print(f"\n{os.path.relpath(keep('beside', content))}")


def _commit(checkout: Path) -> str:
    found = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
