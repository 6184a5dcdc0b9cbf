"""How often `orch compare` calls equal runs changed: `python -m benchmarks.compare_equal_runs --runs 20`.

Makes so many runs of one small experiment on this machine, one after the other and equal in everything but the hour,
and compares every consecutive pair and as many random ones, by median, p99 and throughput: without a history (the
spread between runs assumed), with all other runs as history, and with Welch's t-test on the trials alone, as it was.
At most 5 % of pairs may be called changed. It also prints by how much the runs' spread exceeds what trials imply.

`--folder` keeps the runs, and adds to those that are there. Raw output: benchmarks/results/compare_equal_runs.json.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks.harness.conditions import conditions, keep, told
from orchestrator.between_runs.across import RunComparison, compare_runs
from orchestrator.between_runs.measured_runs import equal_runs
from orchestrator.between_runs.run_statistics import mean_of
from orchestrator.findings.block_values import by_block
from orchestrator.findings.compare import STATISTICS, Statistic
from orchestrator.findings.summary import RunSummary
from orchestrator.results.folder import runs
from orchestrator.statistics import intervals
from orchestrator.summarise import summarise

MOST = 0.05
EXPERIMENT = """\
name: equal_runs
question: Are runs that are equal called changed?
stacks: [rest, grpc]
operations: add
load: {requests: 1000}
warmup: {requests: 200, at_least: 500ms}
repeats: 5
"""

Pair = tuple[RunSummary, RunSummary]


def main() -> int:
    """Make the runs, compare them, print and keep what came of it; 1 when more than 5 % of pairs are called changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the random pairs")
    parser.add_argument("--folder", type=Path, help="where the runs are kept; a temporary folder otherwise")
    options = parser.parse_args()
    began = conditions()
    with tempfile.TemporaryDirectory() as scratch:
        loads = make_runs(options.folder or Path(scratch), options.runs)
        found = [summarise(folder) for folder in runs((options.folder or Path(scratch)) / "results")]
    pairs = {"consecutive": consecutive(found), "random": at_random(found, options.seed)}
    methods: dict[str, Callable[[Pair, Statistic], dict[str, Any]]] = {
        "trials alone (Welch)": welch,
        "assumed spread": lambda pair, statistic: compared(compare_runs(*pair, statistic)),
        "spread from history": lambda pair, statistic: compared(
            compare_runs(*pair, statistic, equal_runs(pair[1], _plain(found), without=[pair[0].run.id]))
        ),
    }
    outcomes = [
        {"kind": kind, "method": method, "statistic": statistic, "new": pair[0].run.id, "old": pair[1].run.id}
        | judge(pair, statistic)
        for kind, chosen in pairs.items()
        for method, judge in methods.items()
        for statistic in STATISTICS
        for pair in chosen
    ]
    shares = tabulate(outcomes)
    excesses = {statistic: excess(found, statistic) for statistic in STATISTICS}
    print_results(began, len(found), shares, excesses)
    raw = {
        "conditions": [began, conditions()],
        "load_average_after_each_run": loads,
        "experiment": EXPERIMENT,
        "shares_called_changed": shares,
        "spread_of_runs_over_what_trials_imply": excesses,
        "runs": [raw_run(run) for run in found],
        "outcomes": outcomes,
    }
    print(f"raw: {keep('compare_equal_runs', raw)}")
    return int(any(share["changed"] > MOST for share in shares if share["method"] != "trials alone (Welch)"))


def make_runs(folder: Path, wanted: int) -> list[float]:
    """Runs until there are so many; the load average after each that was made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "equal_runs.yaml").write_text(EXPERIMENT, encoding="utf-8")
    root = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    program = "from orchestrator.cli.main import main; main()"
    loads = []
    for number in range(len(runs(folder / "results")), wanted):
        ended = subprocess.run(
            [sys.executable, "-c", program, "run", "equal_runs.yaml"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode not in (0, 5):  # 5: a check failed; that run counts, as it would in use
            raise SystemExit(f"run {number + 1} ended with {ended.returncode}:\n{ended.stderr}")
        loads.append(os.getloadavg()[0])
        print(f"run {number + 1} of {wanted}, exit {ended.returncode}, load {loads[-1]:.2f}", file=sys.stderr)
    return loads


def consecutive(found: Sequence[RunSummary]) -> list[Pair]:
    """Each run against the one before."""
    return [(new, old) for old, new in itertools.pairwise(found)]


def at_random(found: Sequence[RunSummary], seed: int) -> list[Pair]:
    """As many pairs again, later against earlier, none of them consecutive."""
    every = [(new, old) for i, old in enumerate(found) for new in found[i + 2 :]]
    return random.Random(seed).sample(every, min(len(found) - 1, len(every)))  # noqa: S311 - a choice of pairs


def compared(comparison: RunComparison) -> dict[str, Any]:
    """What of a comparison is kept."""
    rows = [
        {
            "label": row.label,
            "verdict": row.verdict,
            "ratio": row.ratio and round(row.ratio, 4),
            "interval": row.interval and [round(bound, 4) for bound in row.interval],
            "doubts": row.doubts,
        }
        for row in comparison.rows
    ]
    return {"changed": any(row["verdict"] in ("improved", "regressed") for row in rows), "rows": rows}


def welch(pair: Pair, statistic: Statistic) -> dict[str, Any]:
    """Trials against trials, Holm over the cells, as `orch compare` once did."""
    p_values = []
    for new, old in zip(pair[0].cells, pair[1].cells, strict=True):
        values = [list(by_block(cell.trials, statistic).values()) for cell in (new, old)]
        test = intervals.unpaired(*values) if all(values) else None
        if test:
            p_values.append(intervals.two_sided_p(test[0] / test[1], test[2]))
    adjusted = intervals.holm(p_values)
    return {"changed": min(adjusted, default=1.0) < intervals.ALPHA, "p_values": [round(p, 4) for p in adjusted]}


def tabulate(outcomes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per kind of pair, method and statistic: the pairs compared, and the share called changed."""
    groups: dict[tuple[str, str, str], list[bool]] = {}
    for one in outcomes:
        groups.setdefault((one["kind"], one["method"], one["statistic"]), []).append(one["changed"])
    return [
        {"pairs": kind, "method": method, "statistic": statistic, "n": len(calls), "changed": sum(calls) / len(calls)}
        for (kind, method, statistic), calls in groups.items()
    ]


def excess(found: Sequence[RunSummary], statistic: Statistic) -> dict[str, float]:
    """Per stack: the SD of runs' mean logs over the standard error that their trials imply."""
    ratios = {}
    for place, cell in enumerate(found[0].cells):
        means = [mean_of(run.cells[place], statistic) for run in found]
        known = [mean for mean in means if mean and mean.se is not None]
        if len(known) > 1:
            implied = sqrt(statistics.fmean((mean.se or 0.0) ** 2 for mean in known))
            ratios[cell.labels.stack] = statistics.stdev(mean.mean for mean in known) / implied
    return ratios


def raw_run(run: RunSummary) -> dict[str, Any]:
    """A run's trials and floors, from which everything here can be computed again."""
    return {
        "run_id": run.run.id,
        "failed_checks": sorted({check.name for check in run.checks if check.verdict == "fail"}),
        "cells": {
            cell.labels.stack: {s: [round(v, 7) for v in by_block(cell.trials, s).values()] for s in STATISTICS}
            for cell in run.cells
        },
        "floors": {f"{floor.kind} {floor.send_bytes}": floor.medians for floor in run.floors},
    }


def print_results(
    began: dict[str, Any], count: int, shares: Iterable[dict[str, Any]], excesses: dict[str, dict[str, float]]
) -> None:
    """The table."""
    print(f"{count} equal runs; {told(began)}")
    print(f"{'pairs':<12} {'spread between runs from':<24} {'statistic':<11} {'n':>3}  called changed")
    for share in shares:
        columns = f"{share['pairs']:<12} {share['method']:<24} {share['statistic']:<11} {share['n']:>3}"
        print(f"{columns}  {share['changed']:6.1%}")
    for statistic, ratios in excesses.items():
        text = ", ".join(f"{stack} {ratio:.2f}" for stack, ratio in ratios.items())
        print(f"runs spread over what trials imply, {statistic}: {text}")


def _plain(found: Sequence[RunSummary]) -> list[dict[str, Any]]:
    return [run.to_dict() for run in found]


if __name__ == "__main__":
    raise SystemExit(main())
