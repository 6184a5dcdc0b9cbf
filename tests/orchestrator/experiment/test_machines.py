"""What hosts and traffic between regions cost."""

from __future__ import annotations

import pytest

from orchestrator.experiment.plan.estimate import estimate
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import platform_of
from orchestrator.experiment.providers import MACHINES, PROVIDERS, cost_usd, usd_per_hour
from orchestrator.experiment.read.problems import ExperimentError
from tests.support.experiments import MINIMAL, Known, Write


@pytest.mark.parametrize(
    ("machine", "region", "usd"),
    [
        ("f1-micro", "us-central1", 0.0076 + 0.005),
        ("e2-micro", "us-central1", 0.03350571 / 4 + 0.005),
        ("t2a-standard-1", "europe-west4", 0.04044409 + 0.005),
        ("t2a-standard-1", "europe-west1", None),
        ("n9-standard-1", "us-central1", None),
    ],
)
def test_the_price_of_a_host(machine: str, region: str, usd: float | None) -> None:
    assert usd_per_hour(machine, region) == (None if usd is None else pytest.approx(usd))
    both = None if usd is None else pytest.approx(4 * usd)
    assert cost_usd(machine, [region, region], 2.0) == both


def test_every_machine_type_of_a_paid_provider_has_a_size_and_a_price_where_there_are_prices() -> None:
    for provider in PROVIDERS.values():
        for machine in provider.machines if provider.costs_money else ():
            assert machine in MACHINES
            assert (usd_per_hour(machine, "us-central1") is not None) is (provider.prices is not None), machine


def test_arm_machines_need_programs_for_arm() -> None:
    assert platform_of("gcp", "t2a-standard-1") == "linux-aarch64"
    assert platform_of("gcp", "e2-micro") == platform_of("gcp") == "linux-x86_64"


def test_350_gb_between_regions_do_not_pass_as_a_few_cents(write: Write, known: Known) -> None:
    # 2 stacks, 2 repeats, 8,850 requests of 5 MB there and back: 354 GB. By hosts alone, 1 USD was enough.
    text = MINIMAL.replace("timestamp", "{echo: {bytes: 5 MB}}") + "provider: gcp\nmachine: e2-micro\nrepeats: 2\n"
    text += "placements: [{name: far, from: us-central1-a, to: us-west1-a}]\nload: {requests: 8750}\n"
    text += "warmup: {requests: 100, at_least: 0s}\nlimits: {wall: 1h, ttl: 2h, cost: 1.00 USD}\n"
    with pytest.raises(ExperimentError) as caught:
        make_plan(write(text), known=known)
    (problem,) = caught.value.problems
    assert "and traffic " in str(problem)
    assert "more than limits.cost (1.00 USD). Raise it, or ask fewer or smaller requests." in str(problem)
    allowed = estimate(make_plan(write(text.replace("1.00 USD", "100 USD")), known=known))
    assert allowed.traffic_usd > 350e9 / 2**30 * 0.02
