"""What hosts cost, and how old a price may be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from orchestrator.clock import SYSTEM
from orchestrator.errors import UsageError
from orchestrator.experiment import machines
from orchestrator.experiment.machines import MACHINES, PRICES_AS_OF, cost_usd, require_fresh_prices, usd_per_hour
from orchestrator.experiment.plan.topology import platform_of
from orchestrator.experiment.providers import PROVIDERS


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


def test_every_machine_type_of_a_paid_provider_has_a_price_and_a_size() -> None:
    for provider in PROVIDERS.values():
        for machine in provider.machines if provider.costs_money else ():
            assert machine in MACHINES
            assert usd_per_hour(machine, "us-central1") is not None, machine


@pytest.mark.parametrize("days", [365, 366])
def test_prices_older_than_a_year_are_taken_only_when_asked_for(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    day = date.fromisoformat(PRICES_AS_OF) + timedelta(days=days)
    moment_ns = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1e9)
    monkeypatch.setattr(machines, "SYSTEM", replace(SYSTEM, wall_ns=lambda: moment_ns))
    require_fresh_prices("gcp", takes_stale=True)
    require_fresh_prices("lab", takes_stale=False)
    if days == 365:
        require_fresh_prices("gcp", takes_stale=False)
    else:
        with pytest.raises(UsageError, match=f"prices of hosts are of {PRICES_AS_OF}"):
            require_fresh_prices("gcp", takes_stale=False)


def test_arm_machines_need_programs_for_arm() -> None:
    assert platform_of("gcp", "t2a-standard-1") == "linux-aarch64"
    assert platform_of("gcp", "e2-micro") == platform_of("gcp") == "linux-x86_64"
