"""TCP's congestion control of this machine, as a plan says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.experiment.plan.plan import Plan
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.hosts.congestion import lacked, sentence

LAB = "provider: lab\nmachine: lab\nplacements: same-zone\n"
GCP = "provider: gcp\nmachine: e2-micro\nplacements: same-zone\n"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    (tmp_path / "tcp_congestion_control").write_text("bbr\n")
    (tmp_path / "tcp_available_congestion_control").write_text("reno bbr\n")
    (tmp_path / "tcp_allowed_congestion_control").write_text("reno bbr\n")
    return tmp_path


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
def test_a_plan_says_what_is_in_force_where_it_is_left_to_the_hosts(settings: Path, text: str, words: str) -> None:
    assert sentence(plan(settings, text), settings) == words


def test_where_the_machine_allows_it_its_namespaces_have_cubic(settings: Path) -> None:
    (settings / "tcp_allowed_congestion_control").write_text("reno bbr cubic\n")
    assert sentence(plan(settings, LAB), settings) == "cubic on the hosts that orch makes, where their kernel has it"


def test_where_the_system_does_not_say_a_plan_says_nothing(tmp_path: Path) -> None:
    assert sentence(plan(tmp_path, ""), tmp_path) == ""
    assert list(lacked(plan(tmp_path, "congestion: cubic\n"), tmp_path)) == []


@pytest.mark.parametrize(("text", "count"), [("", 1), (LAB, 1), (GCP, 0)])
def test_one_that_this_machines_kernel_lacks_is_warned_of_where_hosts_share_it(
    settings: Path, text: str, count: int
) -> None:
    warnings = list(lacked(plan(settings, f"{text}congestion: [system, reno, cubic]\n"), settings))
    assert len(warnings) == count
    assert all("congestion: cubic: " in warning and "it has reno, bbr" in warning for warning in warnings)
