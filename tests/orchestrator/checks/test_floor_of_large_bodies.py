"""What the `tcp` exchange of large bodies says of a call over a distance: a bound, or why it is none."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from tests.support.runs import MS, a_run

FAR = p.Placement(
    id="far", name="far", kind="cross-region", from_zone="a", to_zone="b", link=p.Link(rtt_ms=120.0, rate_mbit=None)
)
BODIES = p.Operation(
    id="echo", name="echo", label="echo 300 kB", payload={"kind": "bytes"}, request_bytes=300_000, reply_bytes=300_000
)


def floor_of(*, exchange_ms: float, call_ms: float, opened: bool, connection: str = "reuse", **call: str):
    """The check's result where the exchange takes so long, and every call of both stacks."""

    def spoil(draft):
        draft.columns["received_ns"] += int((call_ms - 120) * MS)

    run = a_run(
        spoil=spoil,
        stacks=("rest",),
        placements=[FAR],
        operation=BODIES,
        calls=[{"connection": connection, **call}],
        load=p.Load(concurrency=1, requests=50),
    )
    baselines = []
    for reading in run.stored.baselines:
        if reading.kind == "tcp":
            columns = run.files[reading.samples]
            columns["received_ns"] = columns["received_ns"] + int((exchange_ms - 120) * MS)
            reading = replace(reading, policy=connection, send_bytes=300_000, receive_bytes=300_000, opened=opened)
        baselines.append(reading)
    run.stored = replace(run.stored, baselines=tuple(baselines))
    [result] = [result for result in summarise(run).checks if result.name == "floor"]
    return result


def test_a_call_below_an_exchange_that_tcp_itself_limited_is_not_called_above_the_floor():
    result = floor_of(exchange_ms=248, call_ms=205, opened=False)
    assert result.verdict == "cannot tell"
    assert "not a lower bound" in explanation(result)
    assert result.evidence["bound_ms"] > result.evidence["quickest_ms"]


def test_a_call_below_an_exchange_that_had_its_window_open_is_impossible():
    assert floor_of(exchange_ms=248, call_ms=205, opened=True).verdict == "fail"


def test_on_new_connections_tcp_limits_the_exchange_too():
    # REST opens a connection in one round trip, so a call of 120 + 280 ms stands beside an exchange of 500 ms.
    result = floor_of(exchange_ms=500, call_ms=280, opened=False, connection="per-request")
    assert result.verdict == "cannot tell"
    assert "new connection" in explanation(result)
