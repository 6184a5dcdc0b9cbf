"""Measures every check's power and false alarms.

    python -m benchmarks.checks --write            # for docs/reference/checks.md: some 10 minutes, on a quiet machine
    python -m benchmarks.checks --only "noise" --clean 0 --real 0

`--write` keeps the raw numbers in benchmarks/results/checks.json and writes docs/reference/checks.md; without it they are
only printed. With `--only`, `--clean 0` or `--real 0` what was not measured stays as it is stored; `--only` makes runs of
the kinds of work that its check judges, and keeps what that check said.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.checks import alarms, power, table
from benchmarks.checks.faults import FAULTS
from benchmarks.harness.conditions import RESULTS, conditions, keep
from orchestrator.checks import CHECKS

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "reference" / "checks.md"
STORED = RESULTS / "checks.json"


def main() -> None:
    """Measure, print, and with `--write` keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write", action="store_true", help="keep the results, and put them into docs/reference/checks.md"
    )
    parser.add_argument("--only", metavar="CHECK", help="the power and false alarms of this check alone")
    parser.add_argument("--runs", type=int, default=power.RUNS, help="synthetic runs for each size of an error")
    parser.add_argument("--clean", type=int, default=200, help="clean synthetic runs of each kind of work")
    parser.add_argument("--real", type=int, default=20, help="clean real runs of each kind of work, on this machine")
    options = parser.parse_args()
    results = measured(options)
    print_results(results)
    if options.write:
        keep("checks", results)
        DOCUMENT.write_text(table.written(DOCUMENT.read_text(), results))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """What was asked for anew, the rest as stored, each part with the conditions under which it was measured."""
    results: dict[str, Any] = json.loads(STORED.read_text()) if STORED.is_file() else {"power": []}
    names = {check.name for check in CHECKS}
    if options.only and options.only not in names:
        raise SystemExit(f"no such check: {options.only}; there are {', '.join(sorted(names))}")
    kept = [entry for entry in results["power"] if options.only and entry["check"] != options.only]
    anew = []
    for fault in power.existing(FAULTS):
        if options.only in (None, fault.check):
            anew.append({**power.document(power.measure(fault, runs=options.runs))})
            heard(f"{fault.check}: {anew[-1]['smallest'] or 'not found'}")
    order = [check.name for check in CHECKS]
    results["power"] = sorted((e for e in [*kept, *anew] if e["check"] in names), key=lambda e: order.index(e["check"]))
    if options.clean:
        _enter(results, "synthetic", alarms.synthetic(options.clean, heard, options.only), options.only)
    if options.real:
        _enter(results, "real", alarms.real(options.real, heard, options.only), options.only)
    return results


def _enter(results: dict[str, Any], runs: str, found: alarms.Alarms, only: str | None) -> None:
    """Put alarms in the place of those that are stored; of one check alone, its own with what they were measured on."""
    about = {**found, "conditions": conditions()}
    if only is None:
        results[runs] = about
        return
    of_check = about.pop("checks")[only]
    results.setdefault(runs, {"checks": {}})["checks"][only] = {**of_check, **about}


def heard(line: str) -> None:
    """Shows progress."""
    print(line, file=sys.stderr, flush=True)


def print_results(results: dict[str, Any]) -> None:
    """Power by fault, and every check that raised a false alarm with one example."""
    for entry in results["power"]:
        rates = ", ".join(f"{t['size']:g}: {t['found']}/{t['runs']}" for t in entry["tried"])
        print(f"{entry['check']}: {entry['smallest'] or 'not found up to ' + entry['largest_tried']}  ({rates})")
    for kind in ("synthetic", "real"):
        for name, found in results.get(kind, {}).get("checks", {}).items():
            if found["warned"] or found["failed"]:
                told = f"failed in {found['failed']} and warned in {found['warned']} of {found['judged']} runs"
                print(f"{kind}: {name} {told}, for example:")
                print(f"    {found['for_example']}")


if __name__ == "__main__":
    main()
