"""Lab deployments for tests: what they need, a plan of two hosts, and what of them is left on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.experiment.plan.plan import Link, Placement, Plan
from orchestrator.results.folder import RunFolder
from tests.support.plans import plan

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".orch" / "cache"  # the wheelhouse is the same for all tests
MACHINE = "e2-standard-2"  # as many cores as a small test machine has: no limit that is felt
RTT_MS = 4.0
ORCH = (sys.executable, "-c", "from orchestrator.cli.main import main; main()")


def lacking(answer: str) -> str:
    """What `infra/lab/provider.py check` says is missing, in one line."""
    return "; ".join(item["what"] for item in json.loads(answer)["missing"])


def why_not() -> str | None:
    """What keeps this machine from being a lab, or None."""
    if not (shutil.which("terraform") or shutil.which("tofu")):
        return "neither terraform nor tofu is on the PATH"
    program = ROOT / "infra" / "lab" / "provider.py"
    done = subprocess.run([sys.executable, "-ES", str(program), "check"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no lab on this machine: {lacking(done.stdout)}"


needs_lab = pytest.mark.skipif(bool(why := why_not()), reason=why or "")


def on_hosts(timeout_s: int) -> list[pytest.MarkDecorator]:
    """Return the marks of a module whose tests make hosts of the lab."""
    mark = pytest.mark
    return [mark.busy, needs_lab, mark.lab, mark.terraform, mark.slow, mark.timeout(timeout_s)]


def lab_plan(**changes: Any) -> Plan:
    """Two hosts in two zones, 4 ms apart, and one small trial."""
    placement = Placement(
        id="local",  # the id that the cells of `plan` have
        name="near",
        kind="cross-region",
        from_zone="us-central1-a",
        to_zone="us-west1-a",
        link=Link(rtt_ms=RTT_MS),
    )
    made = plan(provider="lab", machine=MACHINE, placements=(placement,), repeats=1)
    return replace(made, limits=replace(made.limits, ttl_s=900.0), **changes)


@contextmanager
def run_in_lab(folder: Path, *words: str) -> Iterator[RunFolder]:
    """The run that `orch run WORDS` makes in this folder; afterwards all is taken down."""
    environment = {**os.environ, "ORCH_CACHE": str(CACHE)}
    settings: dict[str, Any] = {"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": False}
    try:
        done = subprocess.run([*ORCH, "run", *words], **settings)
        assert done.returncode in (0, 5), done.stderr
        [place] = (folder / "results").glob("*")
        yield RunFolder(place)
    finally:
        subprocess.run([*ORCH, "teardown"], **settings)


@dataclass
class Diary:
    """An intent log in memory; its path names the run."""

    path: Path
    written: list[dict[str, Any]] = field(default_factory=list)

    def append(self, event: dict[str, Any], *, sync: bool = True) -> None:
        self.written.append(event)

    def events(self) -> Iterator[dict[str, Any]]:
        yield from self.written


def carriers(identity: str) -> list[str]:
    """Everything on this machine that carries a deployment's name: namespaces, cgroups, processes, records."""
    marks = f"orch-{identity}-"
    found = [f"namespace {p.name}" for p in Path("/var/run/netns").glob(f"{marks}*")]
    found += [f"cgroup {p}" for p in Path("/sys/fs/cgroup").rglob(f"{marks}*") if p.is_dir()]
    found += [f"record {p}" for p in Path("/var/lib/orch-lab").glob(identity)]
    return found + [f"process {line}" for line in processes_with(identity)]


def processes_with(word: str) -> list[str]:
    """Command lines of living processes that contain the word, this one's aside."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended meanwhile
        if word in line and int(path.parent.name) != os.getpid():
            found.append(f"{path.parent.name}: {line.strip()}")
    return found
