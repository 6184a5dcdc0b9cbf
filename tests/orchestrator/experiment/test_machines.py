import re
from pathlib import Path

import pytest

from orchestrator.experiment.plan.estimate import cost_usd, usd_per_hour
from orchestrator.experiment.plan.topology import MACHINES
from orchestrator.experiment.providers import PROVIDERS

LAB = PROVIDERS["lab"]
LAB_TABLE = Path(__file__).parents[3] / "infra" / "lab" / "machines.tf"


def test_the_lab_makes_every_machine_type_that_a_file_may_ask_of_it() -> None:
    made = re.findall(
        r"^ +(\S+) += \{ cpu_cores = (\S+), memory_mib = (\S+) \}", LAB_TABLE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(name for name, _, _ in made) == sorted(LAB.machines)
    sizes = {name: (float(cores), int(memory)) for name, cores, memory in made if name != LAB.unlimited_machine}
    assert sizes == {name: (MACHINES[name].cores, MACHINES[name].memory_mb) for name in sizes}
    assert LAB.default_machine in LAB.machines


def test_the_size_of_every_machine_type_that_costs_something_is_known() -> None:
    for provider in PROVIDERS.values():
        if provider.costs_money:
            assert sorted(provider.machines) == sorted(MACHINES)


def test_a_host_costs_its_machine_and_its_address() -> None:
    assert usd_per_hour("f1-micro", "us-central1") == pytest.approx(0.0076 + 0.005)
    assert usd_per_hour("e2-micro", "us-central1") == pytest.approx(0.0083764275 + 0.005)
    assert usd_per_hour("e2-standard-8", "us-west1") == pytest.approx(0.26804568 + 0.005)


def test_what_has_no_attributable_price_has_none() -> None:
    assert usd_per_hour("g1-small", "us-central1") is None
    assert usd_per_hour("f1-micro", "atlantis1") is None
    assert cost_usd("f1-micro", ["us-central1", "atlantis1"], 1) is None


def test_hosts_add_up_over_regions_and_time() -> None:
    assert cost_usd("f1-micro", ["us-central1", "us-west2"], 2) == pytest.approx(2 * (0.0126 + 0.0141))
