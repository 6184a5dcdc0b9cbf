"""What several distances in one run cost, against the same trials at one distance: `python -m benchmarks.sweep`, as root.

From the root of the repository. Kinds of runs take turns in the lab, in an order that is reversed from round to round,
each with hosts of its own, made and taken down; a run before them, which is not kept, downloads what the hosts need:

* `sweep`: five distances, each cell once at each of them in a block;
* `blocks`: the same trials at one distance, in five times as many blocks;
* `cells` (with `--kinds`): the same trials at one distance, in as many blocks, of five operations that differ by a byte.

All trials last equally long, whatever the distance, and the one distance is the mean of the five. A floor stands beside
every placement in every block: as often in `sweep` as in `blocks`, and five times as often as in `cells`. The target is
for the wall time of `sweep` over that of `blocks`; measuring alone, without hosts, checks and report, is shown beside it.
The raw figures go to `benchmarks/results/sweep.json`.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told
from tests.support.lab import CACHE, MACHINE, why_not

MOST_RATIO = 1.05
RTTS_MS = (1, 5, 20, 50, 100)
KINDS = ("sweep", "blocks", "cells")
ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")
ROOT = Path(__file__).resolve().parents[1]

EXPERIMENT = """\
name: {kind}
question: What does a run cost whose trials stand at {places}?
provider: lab
machine: {machine}
distance: {{rtt: [{rtts}]}}
stacks: [rest, grpc]
operations:
  - echo: {{bytes: [{sizes}]}}
load: {{concurrency: 1, duration: 2s}}
warmup: {{requests: 0, at_least: 300ms}}
repeats: {repeats}
seed: {seed}
limits: {{wall: 30m, ttl: 40m}}
"""


def experiment(kind: str, blocks: int, seed: int) -> str:
    """The file of a run of that kind; the number of its trials is that of the others."""
    many = len(RTTS_MS)
    rtts = RTTS_MS if kind == "sweep" else (round(statistics.fmean(RTTS_MS)),)
    sizes = range(100, 100 + (many if kind == "cells" else 1))
    return EXPERIMENT.format(
        kind=kind,
        places=f"{len(rtts)} distances" if len(rtts) > 1 else "one distance",
        machine=MACHINE,
        rtts=", ".join(f"{rtt}ms" for rtt in rtts),
        sizes=", ".join(f"{size} B" for size in sizes),
        repeats=blocks * (many if kind == "blocks" else 1),
        seed=seed,
    )


def run(kind: str, blocks: int, seed: int, options: list[str]) -> dict[str, Any]:
    """Wall seconds of one whole `orch run`, of its measuring, and what that consists of."""
    environment = {**os.environ, "ORCH_CACHE": str(CACHE), "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "experiment.yaml").write_text(experiment(kind, blocks, seed))
        words, before, started_s = ["run", *options, "experiment.yaml"], conditions(), time.monotonic()
        try:
            done = subprocess.run(
                [*ORCH, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            wall_s = time.monotonic() - started_s
            if done.returncode not in (0, 5):  # 5: a check found fault with these few requests
                sys.exit(f"orch run ended with {done.returncode}:\n{done.stderr[-2000:]}")
            (found,) = (
                path for path in (Path(folder) / "results").iterdir() if path.is_dir() and not path.is_symlink()
            )
            manifest = json.loads((found / "manifest.json").read_text())
        finally:
            subprocess.run([*ORCH, "teardown"], cwd=folder, env=environment, capture_output=True, check=False)
    return {"kind": kind, "wall_s": wall_s, **_parts(manifest), "before": before, "load_after": os.getloadavg()[0]}


def _parts(manifest: dict[str, Any]) -> dict[str, Any]:
    """What a run consists of: seconds from the first floor to the last, trials, and floors."""
    trials, floors = manifest["trials"], manifest["baselines"]
    begins = [each["started_wall_ns"] for each in (*trials, *floors)]
    ends = [trial["ended_wall_ns"] for trial in trials]
    return {
        "measuring_s": (max(*ends, *begins) - min(begins)) / 1e9,
        "trials": len(trials),
        "failed": sum(trial["outcome"] != "ok" for trial in trials),
        "trials_s": sum(trial["ended_wall_ns"] - trial["started_wall_ns"] for trial in trials) / 1e9,
        "floors": len(floors),
    }


def orders(kinds: Sequence[str], rounds: int) -> list[str]:
    """The kinds in the order of their runs: every other round backwards."""
    return [kind for number in range(rounds) for kind in (kinds if number % 2 == 0 else kinds[::-1])]


def ratios(runs: list[dict[str, Any]], quantity: str, kind: str) -> list[float]:
    """`sweep` over the run of that kind, in each round."""
    of = {name: [each[quantity] for each in runs if each["kind"] == name] for name in ("sweep", kind)}
    return [mine / other for mine, other in zip(of["sweep"], of[kind], strict=True)]


def main() -> None:
    """Print every figure beside the machine's load, and store them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1, help="how often each kind of run is made")
    parser.add_argument("--blocks", type=int, default=2, help="blocks of the sweep")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS[1:], default=["blocks"], help="what the sweep is held against"
    )
    parser.add_argument("--share-machine", action="store_true", help="go on where the machine is in use: for a try")
    options = parser.parse_args()
    if lacking := why_not():
        sys.exit(lacking)
    before = conditions()
    print(f"before: {told(before)}\n", flush=True)
    passed = ["--share-machine"] if options.share_machine else []
    runs = []
    run("blocks", 1, 0, passed)  # what is downloaded and packed once, for whichever kind comes first
    kinds = ("sweep", *options.kinds)
    for number, kind in enumerate(orders(kinds, options.rounds)):
        one = run(kind, options.blocks, 1 + number // len(kinds), passed)
        runs.append(one)
        print(
            f"{kind:8}{one['wall_s']:8.1f} s, measuring {one['measuring_s']:7.1f} s: {one['trials']} trials "
            f"{one['trials_s']:6.1f} s, {one['floors']} readings of floors; {one['failed']} failed",
            flush=True,
        )
    print()
    for kind in options.kinds:
        for quantity in ("wall_s", "measuring_s"):
            found = ratios(runs, quantity, kind)
            middle = statistics.median(found)
            judged = (kind, quantity) == ("blocks", "wall_s")
            verdict = "" if not judged else "   met" if middle <= MOST_RATIO else "   MISSED"
            target = f" (target {MOST_RATIO}){verdict}" if judged else ""
            print(f"sweep / {kind:8}{quantity:12}{middle:7.3f} ({min(found):.3f}-{max(found):.3f}){target}")
    content = {"before": before, "after": conditions(), "rtts_ms": RTTS_MS, "blocks": options.blocks, "runs": runs}
    print(f"\n{os.path.relpath(keep('sweep', content))}")


if __name__ == "__main__":
    main()
