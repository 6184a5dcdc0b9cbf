from __future__ import annotations

from orchestrator.measure.environment import differences, versions

FACTS = {"kernel": "6.1", "uptime_s": 5.0, "clock": {"wall_ns": 1}, "cgroup": {"cpu_max": "20000 100000"}, "zone": None}


def test_an_unchanged_host_has_no_differences_though_time_went_by():
    assert differences(FACTS, {**FACTS, "uptime_s": 900.0, "clock": {"wall_ns": 2}}) == []


def test_what_changed_is_named_with_both_values():
    assert differences(FACTS, {**FACTS, "kernel": "6.2", "cgroup": {"cpu_max": "max 100000"}}) == [
        "cgroup.cpu_max: 20000 100000, now max 100000",
        "kernel: 6.1, now 6.2",
    ]


def test_what_appeared_or_went_is_a_difference():
    assert differences({}, {"python": "3.12"}) == ["python: not there, now 3.12"]
    assert differences({"python": "3.12"}, {}) == ["python: 3.12, now not there"]


def test_versions_of_both_ends_are_taken_together():
    assert versions({"versions": {"flask": "3"}}, [{"versions": {"pycurl": "7"}}, {}]) == {"flask": "3", "pycurl": "7"}
