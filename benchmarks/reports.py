"""How large reports are, what they cost to write, and when a browser shows them: `python -m benchmarks.reports`.

For each number of measured samples (60 thousand, 1 million and 10 million; `--sizes 60000,1000000` names others) it makes a
run whose latencies and pauses spread as measured ones do, and calls `orch report` and `orch runs verify` as a person does,
imports and all. It says what a page consists of, and the CPU time, wall time and peak memory of each call. With `--browser`
chromium opens each page, as it is and with a processor four times as slow: when the first text is painted, and when the
first chart can be used. `--run FOLDER` measures a run that was made instead. Raw output goes to
`benchmarks/results/reports.json` (of `--run`: `reports_of_a_run.json`), beside the machine's load.

The targets, for all sizes: 10 s, 2 GB, 1 MB, the first screen after 1.5 s.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.results.columns import declared_rows
from orchestrator.results.folder import RunFolder
from services.python.contract.lines import Load
from tests.support.drafts import Draft
from tests.support.runs import a_plan, a_run, write_run

TARGETS = {"cpu_s": 10.0, "peak_mb": 2_000.0, "page_mb": 1.0, "first_paint_s": 1.5}
STACKS = ("rest", "grpc", "graphql", "http+cbor", "http+avro")
BLOCKS = 5
SIZES = (60_000, 1_000_000, 10_000_000)
SLOWED = (1, 4)
ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "reports.json"
_PATIENCE_S = 120.0
_PROGRAM = "from orchestrator.cli.main import main; main()"
_PARTS = {
    "chart library": re.compile(r'<script type="application/gzip" id="library">.*?</script>', re.S),
    "data of charts": re.compile(r'<script type="application/gzip">.*?</script>', re.S),
}
_WATCH = """new MutationObserver(() => {
  if (document.querySelector(".live .main-svg")) window.firstChart ??= performance.now();
}).observe(document, {childList: true, subtree: true})"""
_PAINTED = """performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""


def main() -> None:
    """Measure what was asked for, print it, and keep it."""
    words = _words()
    if words.make:
        _make(int(words.sizes), words.make)
        return
    measured = []
    with tempfile.TemporaryDirectory() as scratch:
        for number, size in enumerate([0] if words.run else _sizes(words.sizes)):
            folder = words.run or Path(scratch) / f"20231114-221320-many-{number:04x}"
            if not words.run:  # in a process of its own: a child's peak memory counts what its parent had
                made = [sys.executable, "-m", "benchmarks.reports", "--sizes", str(size), "--make", str(folder)]
                subprocess.run(made, check=True, cwd=ROOT)
            measured.append(_measured(folder, Path(scratch) / f"{number}.html", has_browser=words.browser))
            _say(measured[-1])
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "load_average": os.getloadavg()[0]}
    result = RESULT.with_name("reports_of_a_run.json") if words.run else RESULT
    result.write_text(json.dumps({"targets": TARGETS, "machine": machine, "reports": measured}, indent=1) + "\n")
    print(f"load average {machine['load_average']:.1f} on {machine['cpus']} CPUs; targets: {TARGETS}")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of measured samples")
    parser.add_argument("--browser", action="store_true", help="open each page in chromium, too")
    parser.add_argument("--run", type=Path, help="a run folder to measure, in place of made ones")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _sizes(said: str) -> list[int]:
    return [int(word) for word in said.replace("_", "").split(",")]


def _make(samples: int, folder: Path) -> None:
    load = Load(concurrency=1, requests=samples // (len(STACKS) * BLOCKS))
    write_run(a_run(a_plan(stacks=STACKS, blocks=BLOCKS, load=load, warmup=200), spoil=_noisy), folder)


def _measured(folder: Path, page: Path, *, has_browser: bool) -> dict[str, Any]:
    calls = {
        "report": _call("report", str(folder), "--out", str(page)),
        "verify": _call("runs", "verify", str(folder)),
    }
    text = page.read_text()
    parts = {name: sum(len(of) for of in found.findall(text)) for name, found in _PARTS.items()}
    run = RunFolder.open(str(folder), root=folder.parent)
    return {
        "samples": sum(declared_rows(run.path / path) for path in run.manifest().files),
        "page_mb": page.stat().st_size / 1e6,
        "parts_bytes": {**parts, "all else": page.stat().st_size - sum(parts.values())},
        "calls": calls,
        "browser": [_opened(page, slowed) for slowed in SLOWED] if has_browser else [],
    }


def _call(*words: str) -> dict[str, float]:
    """Wall and CPU seconds of one call of `orch`, and its peak memory."""
    start = time.monotonic()
    child = subprocess.Popen([sys.executable, "-c", _PROGRAM, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"orch {' '.join(words)}: exit status {child.returncode}")
    wall_s = time.monotonic() - start
    return {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": wall_s, "peak_mb": used.ru_maxrss / 1e3}


def _opened(page: Path, slowed: int) -> dict[str, float | None]:
    """When a fresh browser painted first and had a chart that can be used, in seconds from the call for the page."""
    from playwright.sync_api import sync_playwright

    from tests.support.browser import FLAGS, PROGRAM

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=PROGRAM, headless=True, args=list(FLAGS))
        tab = chromium.new_page(viewport={"width": 1280, "height": 900})
        tab.set_default_timeout(_PATIENCE_S * 1000)
        tab.add_init_script(_WATCH)
        session = tab.context.new_cdp_session(tab)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        tab.goto(page.as_uri())
        end = time.monotonic() + _PATIENCE_S
        while not (chart_ms := tab.evaluate("window.firstChart")):  # the page's policy lets nothing poll in it
            if time.monotonic() > end:
                raise SystemExit(f"{page}: no chart was drawn in {_PATIENCE_S:.0f} s")
            tab.wait_for_timeout(100)
        paint_ms = tab.evaluate(_PAINTED)
        chromium.close()
    return {"slowed": slowed, "first_paint_s": paint_ms and paint_ms / 1e3, "first_chart_s": chart_ms / 1e3}


def _say(of: dict[str, Any]) -> None:
    print(f"{of['samples']:,} samples: {of['page_mb']:.2f} MB")
    print("  " + ", ".join(f"{name} {size / 1e3:.0f} kB" for name, size in of["parts_bytes"].items()))
    for name, call in of["calls"].items():
        print(f"  {name}: CPU {call['cpu_s']:.1f} s, wall {call['wall_s']:.1f} s, peak {call['peak_mb']:.0f} MB")
    for seen in of["browser"]:
        first = f"first text after {seen['first_paint_s']} s, first chart after {seen['first_chart_s']:.2f} s"
        print(f"  chromium, processor {seen['slowed']} times as slow: {first}", flush=True)


def _noisy(draft: Draft) -> None:
    """Pauses between a reply and the next request that spread as an interpreter's do: some 8 us, each with its own share."""
    columns = draft.columns
    random = np.random.default_rng(int(columns["sent_ns"][0]) % 2**32)
    pauses = (6_000 + random.gamma(4.0, 500.0, columns["sent_ns"].size)).astype(np.int64)
    later = np.cumsum(pauses)
    for name in ("intended_ns", "sent_ns", "received_ns"):
        columns[name] = columns[name] + later


if __name__ == "__main__":
    main()
