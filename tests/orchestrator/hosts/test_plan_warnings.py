"""What a plan says of TCP on this machine before it is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.plan_warnings import congestion_in_force, kernel_lacks

LAB = "provider: lab\nmachine: lab\nplacements: same-zone\n"
GCP = "provider: gcp\nmachine: e2-micro\nplacements: same-zone\n"
BOTH = "congestion: [system, cubic, bbr]\ntcp_window: [system, 64 KiB, 256 KiB]\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A kernel that has reno and bbr, and gives buffers of up to 128 KiB."""
    settings = {
        "ipv4/tcp_congestion_control": "bbr",
        "ipv4/tcp_available_congestion_control": "reno bbr",
        "ipv4/tcp_allowed_congestion_control": "reno bbr",
        "core/rmem_max": "131072",
    }
    for name, text in settings.items():
        path = tmp_path / "proc/sys/net" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return tmp_path / "proc"


def plan(folder: Path, text: str) -> Plan:
    path = folder / "x.yaml"
    path.write_text(f"name: x\nquestion: Why?\noperations: add\nstacks: tcp\n{text}")
    return make_plan(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this machine's own, bbr"),
        ("congestion: [system, reno]\n", "this machine's own, bbr"),
        ("congestion: reno\n", ""),
        (LAB, "this machine's own, bbr; its namespaces may have reno, bbr (net.ipv4.tcp_allowed_congestion_control)"),
        (GCP, "cubic on the hosts that orch makes, where their kernel has it"),
    ],
)
def test_a_plan_names_what_is_in_force_where_it_is_left_to_the_hosts(proc, text, words):
    assert congestion_in_force(plan(proc, text), proc) == words


@pytest.mark.parametrize("where", ["", LAB], ids=["local", "lab"])
def test_what_the_kernel_lacks_is_named_with_a_way_out(proc, where):
    congestion, window = kernel_lacks(plan(proc, where + BOTH), proc)
    assert "has reno, bbr, and not cubic: " in congestion
    assert "`modprobe tcp_cubic`" in congestion
    assert "is 131,072 B, which is less than 256 KiB: " in window
    assert "`sysctl net.core.rmem_max=262144`" in window
