"""What cells ask of TCP that this machine's kernel lacks is said by plan and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment import make_plan
from orchestrator.hosts.kernel import warnings

HEAD = "name: example\nquestion: Which?\nstacks: rest\noperations: timestamp\nrepeats: 2\n"
DISTANT = "provider: lab\nmachine: lab\nplacements: {name: far, rtt: 30ms}\n"


@pytest.fixture
def proc(tmp_path):
    """A kernel that has reno and cubic, and gives buffers of up to 128 KiB."""
    for name, text in (("ipv4/tcp_available_congestion_control", "reno cubic"), ("core/rmem_max", "131072")):
        path = tmp_path / "proc" / "sys" / "net" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return tmp_path / "proc"


def said(tmp_path, proc, more):
    path = tmp_path / "example.yaml"
    path.write_text(HEAD + more)
    return warnings(make_plan(path, ()), proc)


@pytest.mark.parametrize("where", ["", DISTANT], ids=["local", "lab"])
def test_what_the_kernel_lacks_is_said_with_a_way_out(tmp_path, proc, where):
    asked = "congestion: [system, cubic, bbr]\ntcp_window: [system, 64 KiB, 256 KiB]\n"
    congestion, window = said(tmp_path, proc, where + asked)
    assert congestion.startswith("congestion: this machine's kernel has reno, cubic, and not bbr: ")
    assert "`modprobe tcp_bbr`" in congestion
    assert "(net.core.rmem_max) is 131,072 B, which is less than 256 KiB: " in window
    assert "`sysctl net.core.rmem_max=262144`" in window


@pytest.mark.parametrize("asked", ["", "congestion: cubic\ntcp_window: 64 KiB\n"])
def test_what_it_has_is_nothing_to_say(tmp_path, proc, asked):
    assert said(tmp_path, proc, asked) == []


def test_where_nothing_can_be_read_nothing_is_said(tmp_path):
    assert said(tmp_path, Path("/nowhere"), "congestion: bbr\ntcp_window: 256 KiB\n") == []


def test_the_kernel_of_a_cloud_is_not_this_machines(tmp_path, proc):
    there = "provider: gcp\nmachine: f1-micro\nplacements: same-zone\n"
    assert said(tmp_path, proc, f"{there}congestion: bbr\n") == []
