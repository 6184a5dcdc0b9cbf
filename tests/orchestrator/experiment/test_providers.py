"""A provider is declared in its folder: what is declared is all that the rest goes by."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.experiment.providers import PROVIDERS, THIS_MACHINE
from orchestrator.hosts.probes import survey

ROOT = Path(__file__).parents[3]
MADE = shutil.ignore_patterns("__pycache__", ".terraform", "build", "target", "node_modules")
MOON = {
    "title": "hosts on the moon",
    "makes_hosts": True,
    "hosts_are_this_machine": False,
    "distance": "emulated",
    "about_distance": "is far away",
    "costs_money": False,
    "needs": ["ssh"],
    "machines": {"crater": None, "f1-micro": {"cores": 0.2, "memory_mb": 614}},
    "default_machine": "crater",
    "unlimited_machine": "crater",
    "seconds_up": 1000.0,
    "seconds_down": 500.0,
}
EXPERIMENT = """
name: far
question: How far is it?
provider: moon
placements: {name: there, rtt: 2600ms}
stacks: rest
operations: add
repeats: 1
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code with one folder more: infra/moon."""
    place = tmp_path_factory.mktemp("checkout")
    for folder in ("orchestrator", "services", "infra", "protos"):
        shutil.copytree(ROOT / folder, place / folder, ignore=MADE)
    (place / "infra" / "moon").mkdir()
    (place / "infra" / "moon" / "provider.json").write_text(json.dumps(MOON))
    (place / "infra" / "moon" / "provider.py").write_text("raise SystemExit('error: no rocket')")
    (place / "far.yaml").write_text(EXPERIMENT)
    return place


def orch(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from orchestrator.cli.main import main; main()", *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_folder_is_all_that_a_plan_needs_to_go_by_what_is_declared(checkout: Path) -> None:
    done = orch(checkout, "plan", "far.yaml", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (placement,) = document["plan"]["placements"]
    assert (placement["link"]["rtt_ms"], placement["to_zone"]) == (2600, "moon-there-a")
    assert document["plan"]["machine"] == "crater"
    assert document["estimate"]["teardown_s"] == 500
    assert document["estimate"]["hosts_s"] >= 1000
    assert document["cost"]["usd_at_most"] == 0
    assert document["machine_now"] is None


def test_what_a_provider_needs_is_what_doctor_looks_for(tmp_path: Path) -> None:
    findings = {finding.name: finding for finding in survey(THIS_MACHINE)}
    for provider in PROVIDERS.values():
        looked_for = {name for name, finding in findings.items() if provider.name in finding.needed_for}
        # The controller is looked for with the cloud alone; a tun device only where the kernel has no netem.
        assert looked_for == set(provider.needs) - {"controller"} - ({"tun"} if findings["netem"].is_there else set())
