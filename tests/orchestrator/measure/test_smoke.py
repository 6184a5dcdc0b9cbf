from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.measure.smoke import differences, versions
from services.python.contract.requester_lines import Done
from services.python.contract.responder_lines import Ready

FACTS = {"kernel": "6.1", "uptime_s": 5.0, "clock": {"wall_ns": 1}, "cgroup": {"cpu_max": "20000 100000"}, "zone": None}


def test_an_unchanged_host_has_no_differences_though_time_went_by():
    assert differences(FACTS, {**FACTS, "uptime_s": 900.0, "clock": {"wall_ns": 2}}) == []


def test_what_changed_is_named_with_both_values():
    assert differences(FACTS, {**FACTS, "kernel": "6.2", "cgroup": {"cpu_max": "max 100000"}}) == [
        "cgroup.cpu_max: 20000 100000, now max 100000",
        "kernel: 6.1, now 6.2",
    ]


CLOUD = {
    "kernel": "6.1.0-28-cloud-amd64",
    "memory_bytes": 605_839_360,
    "sysctl": {"net.ipv4.tcp_rmem": "4096 131072 4734336", "net.core.rmem_max": "212992"},
    "machine_type": "f1-micro",
    "zone": "us-west1-a",
    "cloud": {
        "id": "8731",
        "machine": "f1-micro",
        "zone": "us-west1-a",
        "cpu_platform": "Intel Broadwell",
        "image": "debian-12-bookworm-v20261110",
        "preemptible": "FALSE",
    },
}


def test_a_host_made_anew_under_the_same_conditions_is_the_same():
    anew = {**CLOUD, "cloud": {**CLOUD["cloud"], "id": "9944"}, "memory_bytes": 605_814_784}
    anew["sysctl"] = {**CLOUD["sysctl"], "net.ipv4.tcp_rmem": "4096 131072 4734144"}
    assert differences(CLOUD, anew) == []


@pytest.mark.parametrize("fact", ["machine", "zone", "cpu_platform", "image", "preemptible"])
def test_each_condition_of_a_cloud_host_is_compared(fact):
    anew = {**CLOUD, "cloud": {**CLOUD["cloud"], "id": "9944", fact: "other"}}
    assert differences(CLOUD, anew) == [f"cloud.{fact}: {CLOUD['cloud'][fact]}, now other"]


def test_another_setting_is_a_difference():
    assert differences(CLOUD, {**CLOUD, "sysctl": {**CLOUD["sysctl"], "net.core.rmem_max": "212991"}})


def test_versions_of_both_ends_are_taken_together():
    ready = Ready(port=1, implementation="flask", identity="x", versions={"flask": "3"})
    done = Done(rows=0, warmup_requests=0, requests=0, errors={}, versions={"pycurl": "7"})
    assert versions(ready, [done, replace(done, versions={})]) == {"flask": "3", "pycurl": "7"}
