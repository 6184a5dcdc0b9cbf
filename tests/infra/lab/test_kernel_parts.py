"""What the kernel does for a lab, read back from the kernel: netem or a TUN device, CPU and memory of either cgroup version.

`tests/infra/qemu` runs these on a kernel with netem and cgroup version 2, wherever the tests run.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from deployments import Deployment
from orchlab import layout, namespaces, netem

pytestmark = [pytest.mark.busy, pytest.mark.lab, pytest.mark.terraform]

RTT_MS = 40
HOSTS = {
    "small": {"role": "requester", "zone": "us-west1-a", "machine": "f1-micro"},
    "large": {"role": "responder", "zone": "us-central1-a", "machine": "lab"},
}
LINKS = [{"from_zone": "us-west1-a", "to_zone": "us-central1-a", "rtt_ms": RTT_MS, "rate_mbit": 100}]
BURN = "timeout 2 sh -c 'while :; do :; done'"


@pytest.fixture(scope="module")
def netem_lab(deploy: Callable[..., Deployment], lab_machine: None) -> Deployment:
    if not netem.is_offered():
        pytest.skip("this kernel has no netem; tests/infra/qemu brings one that has")
    return deploy(hosts=HOSTS, links=LINKS, link_kind="netem").up()


@pytest.fixture(scope="module")
def user_space_lab(deploy: Callable[..., Deployment]) -> Deployment:
    return deploy(hosts=HOSTS, links=LINKS, link_kind="user-space").up()


@pytest.fixture(params=["netem", "user_space"])
def lab(request: pytest.FixtureRequest) -> Deployment:
    """One lab for each way to make distance; where the kernel has both, they stand side by side."""
    return request.getfixturevalue(f"{request.param}_lab")


def throttled(lab: Deployment, name: str) -> int:
    """How often a host has been stopped for having used up its share."""
    stat = Path(lab.record(name)["cgroup"]["cpu"], "cpu.stat").read_text()
    return int(re.findall(r"^nr_throttled (\d+)$", stat, re.MULTILINE)[0])


def test_netem_delays_each_direction_by_half_the_round_trip(netem_lab: Deployment) -> None:
    [path] = netem_lab.output("link")["paths"]
    shown = subprocess.run(
        ["tc", "-n", layout.instance_name(netem_lab.run_id, layout.LINK), "-j", "qdisc", "show"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    delays_ms = [1000 * float(delay_s) for delay_s in re.findall(r'"delay":\{"delay":([0-9.e-]+)', shown)]
    assert len(delays_ms) == 2
    assert sum(delays_ms) == pytest.approx(RTT_MS - path["bias_ms"], abs=0.01)
    assert shown.count('"rate":12500000') == 2


def test_a_round_trip_takes_at_least_what_the_link_delays_it(lab: Deployment) -> None:
    [path] = lab.output("link")["paths"]
    delayed_ms = RTT_MS - path["bias_ms"]
    assert 0 < delayed_ms <= RTT_MS
    assert path["achieved"]["rtt_ms"]["min"] >= delayed_ms - 0.1  # ping prints no more digits than that
    assert path["achieved"]["rtt_ms"]["min"] < 10 * RTT_MS


def test_a_small_machine_is_throttled_and_a_large_one_is_not(user_space_lab: Deployment) -> None:
    before = {name: throttled(user_space_lab, name) for name in HOSTS}
    for name in HOSTS:
        assert user_space_lab.ssh(name, BURN).returncode == 124  # stopped by `timeout`, not by its host
    assert throttled(user_space_lab, "small") > before["small"] + 5
    assert throttled(user_space_lab, "large") == before["large"] == 0


def test_limits_are_read_back_from_the_kernel(user_space_lab: Deployment) -> None:
    group = user_space_lab.record("small")["cgroup"]
    if group["version"] == 2:
        assert Path(group["cpu"], "cpu.max").read_text() == "20000 100000\n"
        assert Path(group["memory"], "memory.max").read_text() == f"{614 << 20}\n"
    else:
        assert Path(group["cpu"], "cpu.cfs_quota_us").read_text() == "20000\n"
        assert Path(group["memory"], "memory.limit_in_bytes").read_text() == f"{614 << 20}\n"


def test_a_process_that_takes_too_much_memory_is_ended_and_the_host_lives_on(user_space_lab: Deployment) -> None:
    done = user_space_lab.ssh("small", "/usr/bin/python3 -c 'print(len(b\"x\" * (700 << 20)))'")
    assert done.returncode != 0
    assert done.stdout == ""
    assert user_space_lab.status()["replace"] == []


def test_a_link_whose_bridge_is_gone_is_named_and_repaired(netem_lab: Deployment) -> None:
    namespaces.remove_namespace(layout.instance_name(netem_lab.run_id, layout.LINK))

    broken = netem_lab.status()
    assert broken["link"] == {"kind": "netem", "alive": False, "why": "its bridge is gone"}
    assert broken["replace"] == ["terraform_data.link"]

    done = netem_lab.apply("-replace=terraform_data.link")
    assert done.returncode == 0, done.stderr
    assert netem_lab.status()["replace"] == []


def test_a_sweep_leaves_nothing(deploy: Callable[..., Deployment], lab: Deployment) -> None:
    other = deploy(hosts=HOSTS, links=LINKS, link_kind=lab.variables["link_kind"]).up()
    assert other.provider("sweep", "--run-id", other.run_id).returncode == 0
    assert other.traces() == []
    assert lab.status()["replace"] == []
