import pytest

from orchestrator.experiment.plan.estimate import Costs, Estimate, estimate
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Known, Write

QUICK = "warmup: {requests: 0, at_least: 0s}\nrepeats: 1\n"
# Nothing costs anything but the round trips, so that they can be counted.
NOTHING = Costs(
    default_request_s=0, open_s=0, byte_s=0, start_s=0, between_s=0, remote_s=0, ping_s=0,
    deploy_s=0, report_s=0,
)  # fmt: skip


def estimated(write: Write, known: Known, text: str, costs: Costs | None = None) -> Estimate:
    return estimate(make_plan(write(text), known=known), costs or Costs())


@pytest.mark.parametrize(
    ("stack", "connection", "round_trips"),
    [("rest", "reuse", 1), ("rest", "per-request", 2), ("grpc", "reuse", 1), ("grpc", "per-request", 3)],
)
def test_round_trips_of_a_small_request_are_counted(
    write: Write, known: Known, stack: str, connection: str, round_trips: int
) -> None:
    text = MINIMAL.replace("[rest, grpc]", stack) + QUICK
    text += f"provider: lab\nplacements: {{name: far, rtt: 100ms, rate: 1000000 Gbit/s}}\nconnection: {connection}\n"
    text += "load: {requests: 10}\n"
    overhead = 5
    assert estimated(write, known, text, NOTHING).trials_s == pytest.approx(
        0.1 * (10 * round_trips + overhead), rel=1e-3
    )


def test_slow_start_adds_round_trips_to_a_large_body_on_a_fresh_connection(write: Write, known: Known) -> None:
    text = MINIMAL.replace("[rest, grpc]", "rest").replace("timestamp", "{echo: {bytes: 1.58 MB}}") + QUICK
    text += "provider: lab\nplacements: {name: far, rtt: 100ms, rate: 1000000 Gbit/s}\nload: {requests: 10}\n"
    kept = estimated(write, known, text, NOTHING).trials_s
    fresh = estimated(write, known, text + "connection: per-request\n", NOTHING).trials_s
    assert fresh - kept == pytest.approx(10 * 0.1 * (1 + 6), rel=1e-3)


def test_a_task_is_estimated_as_all_its_calls(write: Write, known: Known) -> None:
    text = MINIMAL + QUICK + "load: {requests: 1000}\n"
    costs = Costs(start_s=0, between_s=0, ping_s=0, report_s=0, floor_at_most_s=0)
    call, task = (
        estimated(write, known, text.replace("timestamp", f"[{{add: {{calls: {n}}}}}]"), costs) for n in (1, 3)
    )
    assert task.trials_s == pytest.approx(3 * call.trials_s, rel=1e-3)
    assert (call.requests, task.requests) == (2000, 2000), "tasks are what is asked for"
    row_bytes = 112 + 12
    assert task.disk_bytes - call.disk_bytes == 2000 * 3 * row_bytes
