"""How large reports are that carry their samples, and how long they take: `python -m benchmarks.reports [SAMPLES...]`.

For each number of measured samples (60 thousand and a million, unless others are named) it makes a run whose latencies and
pauses spread as measured ones do, and calls `orch report`, `orch report FILE.html` and `orch verify FILE.html` as a
person does, imports and all. The target is 1.5 MB for 60 thousand samples.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from orchestrator.experiment.plan.plan import Load
from tests.support.drafts import Draft
from tests.support.runs import a_plan, a_run, write_run

TARGET_BYTES = 1_500_000
STACKS = ("rest", "grpc", "graphql", "cbor", "avro")
BLOCKS = 5
SAMPLES = (60_000, 1_000_000)
_PROGRAM = "from orchestrator.cli.main import main; main()"


def main() -> None:
    """Print a line for each number of samples."""
    for samples in [int(word.replace(",", "")) for word in sys.argv[1:]] or SAMPLES:
        with tempfile.TemporaryDirectory() as scratch:
            _measure(samples, Path(scratch))
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")


def _measure(samples: int, scratch: Path) -> None:
    plan = a_plan(
        stacks=STACKS, blocks=BLOCKS, load=Load(concurrency=1, requests=samples // (len(STACKS) * BLOCKS)), warmup=200
    )
    folder = write_run(a_run(plan, spoil=_noisy), scratch / "20231114-221320-many-0000")
    page, again = scratch / "report.html", scratch / "again.html"
    wall_s = _call("report", str(folder), "--out", str(page))
    again_s = _call("report", str(page), "--out", str(again))
    verify_s = _call("verify", str(page))
    size = page.stat().st_size
    target = "" if samples != SAMPLES[0] else f" (target {TARGET_BYTES / 1e6} MB: {_met(size)})"
    print(
        f"{samples:>10,} samples: {size / 1e6:.2f} MB{target}, written in {wall_s:.1f} s, again in {again_s:.1f} s, "
        f"verified in {verify_s:.1f} s; both pages alike: {page.read_bytes() == again.read_bytes()}"
    )


def _met(size: int) -> str:
    return "met" if size < TARGET_BYTES else "MISSED"


def _noisy(draft: Draft) -> None:
    """Pauses between a reply and the next request that spread as an interpreter's do: some 8 us, each with its own share."""
    columns = draft.columns
    random = np.random.default_rng(int(columns["sent_ns"][0]) % 2**32)
    pauses = (6_000 + random.gamma(4.0, 500.0, columns["sent_ns"].size)).astype(np.int64)
    later = np.cumsum(pauses)
    for name in ("intended_ns", "sent_ns", "received_ns"):
        columns[name] = columns[name] + later


def _call(*words: str) -> float:
    """Wall seconds of one call of `orch`."""
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", _PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


if __name__ == "__main__":
    main()
