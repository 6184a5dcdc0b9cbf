"""How runs that everyone makes end: clean and disturbed f1-micro hosts of the lab, and each shipped experiment of minutes.

    python -m benchmarks.first_runs lab [--neighbour inside|beside] --runs 20 --minutes 60
    python -m benchmarks.first_runs local [--neighbour beside] --runs 20 --minutes 60 [--only NAME]
    python -m benchmarks.first_runs table

Each run is one entry of `results/first_runs.json`, kept as soon as it ends, and a series goes on where it stopped. A
neighbour computes for two seconds and rests for two: `beside` on the machine, `inside` a host's own control group.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import RESULTS, conditions, keep
from benchmarks.turns import BURST, RAN, ROOT, neighbour, orch

_LONGEST_S = 180.0
_GROUPS = Path("/sys/fs/cgroup")
_LAB = """\
name: first_lab
question: How does a run on hosts with a fifth of a core end?
provider: lab
machine: f1-micro
placements: [{name: cross-region, from: us-central1-a, to: us-west1-a}]
stacks: [grpc, {protocol: rest, responder: flask, client: requests, connection: per-request}]
operations: [add]
load: {requests: 200, at_most: 4s}
warmup: {requests: 20, at_least: 250ms, at_most: 2s}
repeats: 3
seed: 1
limits: {wall: 15m, cost: 1.00 USD, ttl: 2h}
"""


def short_experiments() -> dict[str, str]:
    """The path of each shipped experiment that takes less than three minutes on this machine, by its name."""
    paths = {}
    for path in sorted((ROOT / "experiments").glob("*.yaml")):
        words = [orch(), "plan", str(path), "--json"]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
        if ended.returncode:
            continue
        plan = json.loads(ended.stdout)
        if not plan["estimate"]["hosts_s"] and plan["estimate"]["duration_s"] < _LONGEST_S:
            paths[path.stem] = str(path)
    return paths


@contextmanager
def inside(host: str) -> Iterator[None]:
    """A program in the control group of each host of that role that comes up meanwhile."""
    over = threading.Event()
    programs: dict[str, subprocess.Popen[bytes]] = {}
    entered: set[Path] = set()

    def watch() -> None:
        while not over.wait(0.2):
            name = f"orch-*-{host}-*"
            for group in (*_GROUPS.glob(name), *_GROUPS.glob(f"cpu*/{name}")):  # version 1 limits and counts apart
                if group not in entered:
                    if group.name not in programs:
                        programs[group.name] = subprocess.Popen([sys.executable, "-c", BURST])
                    (group / "cgroup.procs").write_text(str(programs[group.name].pid))
                    entered.add(group)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
        for program in programs.values():
            program.kill()
            program.wait()


def run(path: str) -> dict[str, Any]:
    """Measure once and take everything down: how it ended, and every check that did not pass."""
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.monotonic()
        words = [orch(), "run", path, "--share-machine", "--json"]
        ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        subprocess.run([orch(), "teardown"], capture_output=True, check=False, cwd=folder)
        if ended.returncode not in RAN:
            return {"exit": ended.returncode, "error": ended.stderr[-500:]}
        result = json.loads(ended.stdout)
        summary, checks = (
            json.loads((Path(folder) / result["folder"] / name).read_text(encoding="utf-8"))
            for name in ("summary.json", "checks.json")
        )
        return {
            "exit": ended.returncode,
            "elapsed_s": round(time.monotonic() - began_s, 1),
            "lines": [f"{line['head']}: {line['text']}" for line in result["answer"]["lines"]],
            "checks": [
                [c["name"], c["verdict"], c["cell"], c["explanation"]]
                for c in checks["checks"]
                if c["verdict"] in ("warn", "fail")
            ],
            "comparisons": [
                [c["stack_label"], c["statistic"], c["ratio"], c["interval"], c["standing"]]
                for c in summary["comparisons"]
            ],
        }


def stored() -> list[dict[str, Any]]:
    """All runs so far."""
    path = RESULTS / "first_runs.json"
    return json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []


def measure(paths: dict[str, str], setting: str, wanted: int, minutes: float) -> None:
    """Make the runs of a series that are missing, one of each experiment in turn, as long as there is time."""
    until_s = time.monotonic() + 60 * minutes
    for number in range(wanted):
        for name, path in paths.items():
            runs = stored()
            if sum((entry["name"], entry["setting"]) == (name, setting) for entry in runs) > number:
                continue
            lasted_s = [entry["elapsed_s"] for entry in runs if entry["name"] == name and "elapsed_s" in entry]
            if time.monotonic() + max(lasted_s, default=_LONGEST_S / 2) > until_s:
                continue
            with (
                neighbour(is_wanted=setting == "beside"),
                inside(("requester", "responder")[number % 2]) if setting == "inside" else nullcontext(),
            ):
                entry = {"name": name, "setting": setting, "conditions": conditions(), **run(path)}
            keep("first_runs", {"runs": [*stored(), entry]})
            sys.stdout.write(f"{name}, {setting}: {entry['exit']}, {entry.get('lines', ['?'])[0]}\n")
            sys.stdout.flush()


def table(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """For each experiment and setting: runs, refusals, cautions, and which checks failed or warned in how many."""
    for name, setting in sorted({(entry["name"], entry["setting"]) for entry in runs}):
        series = [entry for entry in runs if (entry["name"], entry["setting"]) == (name, setting)]
        ended = [entry for entry in series if "lines" in entry]
        refused = sum(entry["lines"][0].startswith("No result") for entry in ended)
        cautions = sum(any(line.startswith("Caution") for line in entry["lines"]) for entry in ended)
        checks = Counter(f"{c} {v}" for entry in ended for c, v in {(row[0], row[1]) for row in entry["checks"]})
        words = ", ".join(f"{check} {count}" for check, count in sorted(checks.items()))
        yield (
            f"{name:<24} {setting:<8} {len(series):>3} runs, {len(series) - len(ended)} broken, "
            f"{refused} no result, {cautions} caution; {words or 'no warning'}"
        )


def main(words: Sequence[str] | None = None) -> None:
    """Measure a series, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", choices=("lab", "local", "table"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--neighbour", choices=("inside", "beside"), default="")
    parser.add_argument("--only", default="")
    given = parser.parse_args(words)
    setting = given.neighbour or "as it is"
    if given.series == "lab":
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(_LAB)
            file.flush()
            measure({"first_lab": file.name}, setting, given.runs, given.minutes)
    elif given.series == "local":
        paths = {name: path for name, path in short_experiments().items() if given.only in name}
        measure(paths, setting, given.runs, given.minutes)
    for line in table(stored()):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
