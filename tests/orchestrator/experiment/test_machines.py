"""What hosts and traffic between regions cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.catalogue.offers import Protocol
from orchestrator.experiment.machines import MACHINES, cost_usd, usd_per_hour
from orchestrator.experiment.plan.estimate import Estimate, estimate, usd_per_gib
from orchestrator.experiment.plan.planning import make_plan
from orchestrator.experiment.plan.topology import platform_of
from orchestrator.experiment.providers import PROVIDERS
from orchestrator.experiment.read.problems import ExperimentError
from tests.support.experiments import MINIMAL


@pytest.mark.parametrize(
    ("machine", "region", "usd"),
    [
        ("f1-micro", "us-central1", 0.0076 + 0.005),
        ("e2-micro", "us-central1", 0.03350571 / 4 + 0.005),
        ("n2-standard-2", "europe-west4", 0.106916 + 0.005),
        ("c3-standard-4", "us-central1", 0.201608 + 0.005),
        ("c4-standard-8", "us-central1", 1.58136 / 4 + 0.005),
        ("t2d-standard-1", "asia-south1", 0.027883 + 0.005),
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
            assert (usd_per_hour(machine, "us-central1") is not None) is provider.has_prices, machine


def test_arm_machines_need_programs_for_arm() -> None:
    assert platform_of("gcp", "t2a-standard-1") == "linux-aarch64"
    assert platform_of("gcp", "e2-micro") == platform_of("gcp") == "linux-x86_64"


Write = Callable[[str], Path]
Known = dict[str, Protocol]
FAR = "[{name: far, from: us-central1-a, to: us-west1-a}]"
GIB = 2**30


def experiment(
    *, size: str = "1 MB", load: str = "{requests: 1000}", placements: str = FAR, cost: str = "1000 USD", more: str = ""
) -> str:
    text = (
        MINIMAL.replace("timestamp", f"{{echo: {{bytes: {size}}}}}") + "provider: gcp\nmachine: e2-micro\nrepeats: 2\n"
    )
    return (
        text
        + f"placements: {placements}\nload: {load}\nwarmup: {{requests: 100, at_least: 0s}}\n{more}"
        + (f"limits: {{wall: 1h, ttl: 2h, cost: {cost}}}\n")
    )


def estimated(write: Write, known: Known, text: str) -> Estimate:
    return estimate(make_plan(write(text), known=known))


def test_every_request_and_reply_of_every_trial_is_counted_with_its_warm_up(write: Write, known: Known) -> None:
    found = estimated(write, known, experiment())
    content = 2 * 2 * 1100 * 2 * 1_000_000  # stacks, repeats, requests with warm-up, both ways, bytes
    assert content < found.traffic_at_most.between_bytes < 2.5 * content
    assert found.traffic_at_most.usd > found.traffic_at_most.between_bytes / GIB * 0.02


def test_baselines_move_as_large_bodies_as_trials_do(write: Write, known: Known) -> None:
    without = 2 * 2 * 1 * 2 * 10_000_000 * 1.4
    text = experiment(size="10 MB", load="{requests: 1}").replace(
        "{requests: 100, at_least: 0s}", "{requests: 0, at_least: 0s}"
    )
    assert estimated(write, known, text).traffic_at_most.between_bytes > 20 * without


def test_a_load_without_a_count_may_ask_more_than_is_expected(write: Write, known: Known) -> None:
    found = estimated(write, known, experiment(load="{duration: 30s}"))
    assert found.traffic_at_most.between_bytes > 1.5 * found.traffic.between_bytes


def test_350_gb_between_regions_do_not_pass_as_a_few_cents(write: Write, known: Known) -> None:
    # 2 stacks, 2 repeats, 8,850 requests of 5 MB there and back: 354 GB. By hosts alone, 1 USD was enough.
    text = experiment(size="5 MB", load="{requests: 8750}", cost="1.00 USD")
    with pytest.raises(ExperimentError) as caught:
        make_plan(write(text), known=known)
    (problem,) = caught.value.problems
    assert "GB for" in str(problem)
    assert "more than limits.cost (1.00 USD). Raise it, or ask fewer or smaller requests." in str(problem)
    allowed = estimated(write, known, text.replace("1.00 USD", "100 USD"))
    assert allowed.traffic_at_most.between_bytes > 350e9
    assert allowed.traffic_at_most.usd > 350e9 / GIB * 0.02


@pytest.mark.parametrize(
    ("ends", "usd"),
    [
        (("us-central1-a", "us-central1-a"), 0.0),
        (("us-central1-a", "us-central1-f"), 0.01),
        (("us-central1-a", "northamerica-northeast1-a"), 0.02),
        (("europe-west1-b", "europe-north1-a"), 0.02),
        (("us-east1-b", "europe-west1-b"), 0.05),
        (("us-east1-b", "asia-east1-b"), 0.08),
        (("asia-east1-b", "asia-south1-b"), 0.08),
        (("australia-southeast1-a", "europe-west1-b"), 0.10),
        (("southamerica-east1-a", "us-east1-b"), 0.14),
        (("africa-south1-a", "us-east1-b"), 0.15),
    ],
)
def test_a_gib_costs_the_same_there_and_back(ends: tuple[str, str], usd: float) -> None:
    assert usd_per_gib(*ends) == usd_per_gib(*reversed(ends)) == usd
