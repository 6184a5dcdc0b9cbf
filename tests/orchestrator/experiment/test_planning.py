import hashlib

import pytest

from orchestrator import quantities
from orchestrator.errors import UsageError
from orchestrator.experiment.plan.planning import make_plan
from services.python.contract.lines import Load, Warmup
from tests.support.experiments import MINIMAL, Known, Write


def test_a_plan_resolves_every_default(write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL), known=known)
    cell = plan.cells[0]
    assert cell.id == "rest-fastapi-thin__timestamp__local__reuse__c1"
    assert cell.load == Load(concurrency=1, requests=1000, duration_s=60.0)
    assert cell.warmup == Warmup(requests=500, at_least_s=2.0, at_most_s=60.0)
    assert (plan.provider, plan.pin, plan.repeats, plan.seed) == ("local", "apart", 5, 1)
    assert plan.reference == "rest-fastapi-thin"
    assert plan.resolved["rest-fastapi-thin"]["client_reason"] == "thin and comparable: the default"
    assert plan.resolved["rest-fastapi-thin"]["versions"]["no-such-package"] == "not installed here"
    assert plan.resolved["grpc-grpcio-grpcio"]["round_trips_to_open"] == 2
    assert plan.experiment_sha256 == hashlib.sha256(MINIMAL.encode()).hexdigest()


@pytest.mark.parametrize(
    "varied",
    [
        "rate: [100/s, 200/s]",
        "rate: 100/s, concurrency: [10, 20]",
        "rate: 100/s, arrivals: [poisson, uniform]",
        "think: [10ms, 10.01ms]",
        "think: [0ms, 1us]",
    ],
)
def test_two_values_of_a_load_have_two_names_everywhere(varied: str, write: Write, known: Known) -> None:
    plan = make_plan(write(MINIMAL.replace("[rest, grpc]", "rest") + f"load: {{{varied}}}\n"), known=known)
    assert len({cell.id for cell in plan.cells}) == len({quantities.of_load(cell.load) for cell in plan.cells}) == 2
    assert all("+" not in cell.id for cell in plan.cells)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("load.requests", "--set load.requests: this is not KEY=VALUE"),
        ("=5", "--set =5: this is not KEY=VALUE"),
        ("stacks.9=grpc", "--set stacks.9=grpc: '9' is not an item of the list"),
        ("name.first.second=x", "is a single value, so it has no first"),
        ("name.first=x", "is a single value, so it has no first"),
    ],
)
def test_an_override_without_a_place_is_refused(write: Write, known: Known, override: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        make_plan(write(MINIMAL), [override], known)
    assert message in error.value.message
