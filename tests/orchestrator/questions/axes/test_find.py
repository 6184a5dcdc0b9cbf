"""What a run shows along its axes: distance, size, concurrency; on synthetic runs whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.words import sentence
from orchestrator.questions.distance.find import QUESTION as DISTANCE
from orchestrator.questions.distance.words import clause
from orchestrator.summarise import summarise
from orchestrator.wording.notes import warnings
from tests.support.drafts import Draft
from tests.support.runs import US, a_plan, a_run

RTTS = (1.0, 20.0, 50.0, 100.0)
DISTANCES = tuple(
    p.Placement(
        id=f"d{rtt:g}",
        name=f"distance-{rtt:g}ms",
        kind="cross-region",
        from_zone=f"lab-{rtt:g}-a",
        to_zone="us-central1-a",
        link=p.Link(rtt_ms=rtt, rate_mbit=1000.0),
    )
    for rtt in RTTS
)
WAYS = ({"connection": "reuse"}, {"connection": "per-request"})


def merged(*plans: p.Plan) -> p.Plan:
    """One plan of the cells of several, which differ in their operation or load."""
    first = plans[0]
    cells = tuple(cell for plan in plans for cell in plan.cells)
    operations = {operation.id: operation for plan in plans for operation in plan.operations}
    return replace(
        first, cells=cells, operations=tuple(operations.values()), trials=schedule(cells, first.repeats, first.seed)
    )


def sized(*sizes: int, blocks: int = 5) -> p.Plan:
    return merged(
        *(
            a_plan(
                operation=p.Operation(
                    id=f"echo-{size}",
                    name="echo",
                    label=f"echo {size} B",
                    payload={"kind": "bytes", "size": size},
                    request_bytes=size,
                    reply_bytes=size,
                ),
                blocks=blocks,
                load=p.Load(concurrency=1, requests=200),
            )
            for size in sizes
        )
    )


def transferred(*sizes: tuple[int, int], requests: int = 200) -> tuple[p.Plan, ...]:
    """A plan for each size of a request and its reply; the larger both are, the fewer requests a trial has."""
    return tuple(
        a_plan(
            operation=p.Operation(
                id=f"transfer-{sent}-{returned}",
                name="transfer",
                label=f"transfer {sent} B, reply {returned} B",
                payload={"kind": "transfer", "size": sent, "reply_size": returned},
                request_bytes=sent,
                reply_bytes=returned,
            ),
            blocks=3,
            load=p.Load(concurrency=1, requests=requests if sent + returned < 1000 else requests // 2),
        )
        for sent, returned in sizes
    )


@pytest.fixture(scope="module")
def far() -> RunSummary:
    load = p.Load(concurrency=1, requests=120)
    return summarise(a_run(a_plan(placements=DISTANCES, calls=WAYS, load=load), between=0.003))


def test_distances_make_an_axis_with_a_panel_for_each_way_to_call(far: RunSummary) -> None:
    (curves,) = AXES.of(far)
    assert curves.axis == "distance"
    assert [panel.title for panel in curves.panels] == ["connections kept open", "a new connection for each request"]
    for panel in curves.panels:
        (gap,) = panel.gaps
        assert [point.at for point in gap.points] == pytest.approx(RTTS, abs=0.1)


def test_a_link_that_is_not_as_wanted_is_a_warning() -> None:
    run = a_run(a_plan(placements=DISTANCES, load=p.Load(concurrency=1, requests=50), blocks=3))
    for name, columns in run.files.items():
        if name.startswith("baselines/ping/d20-"):
            columns["received_ns"] = columns["received_ns"] + 3_000 * US
        if name.startswith("baselines/ping/d50-"):
            columns["status"][:4] = 1
    summary = summarise(run)
    off = {link.placement: clause(link) for link in DISTANCE.of(summary) if link.why_not}
    assert off == {
        "distance-20ms": "a round trip of 23 ms in place of 20 ms",
        "distance-50ms": "20 % of pings lost in place of 0.0 %",
    }
    assert sum("was not as configured" in text for text in warnings(summary)) == 2


def test_sizes_are_an_axis_and_the_sentence_says_from_which_on_one_is_ahead() -> None:
    """gRPC takes as long as REST up to 1 kB, half as long at 100 kB, and is behind at 100 B."""
    run = a_run(
        sized(100, 1_000, 10_000, 100_000),
        base_us={"rest": 1000.0, "grpc": 1000.0},
        effects={"grpc 100": 1.5, "grpc 10000": 0.7, "grpc 100000": 0.5},
        between=0.002,
    )
    summary = summarise(run)
    (curves,) = AXES.of(summary)
    assert curves.axis == "bytes"
    (panel,) = curves.panels
    (gap,) = panel.gaps
    assert [point.at for point in gap.points] == [100, 1_000, 10_000, 100_000]
    assert [point.standing for point in gap.points] == ["slower", "tie", "faster", "faster"]
    assert sentence(curves.axis, gap).startswith("grpc (thin) against rest (thin): at 100 B rest (thin) is faster by ")
    assert "; at 1 kB they are equal; from 10 kB on grpc (thin) is faster, by " in sentence(curves.axis, gap)
    assert gap.crossing is not None
    assert 600 < gap.crossing.at < 1_500
    assert gap.crossing.low <= gap.crossing.at <= gap.crossing.high
    assert "the medians cross at " in sentence(curves.axis, gap)


def test_transfers_make_an_axis_of_their_replies_their_requests_and_both() -> None:
    down, up = ((32, size) for size in (32, 500, 5000)), ((size, 32) for size in (500, 5000))
    summary = summarise(a_run(merged(*transferred(*down, *up, (500, 500), (5000, 5000)))))
    curves = {each.axis: each for each in AXES.of(summary)}
    assert list(curves) == ["bytes", "reply_bytes", "both sizes"]
    assert [panel.title for panel in curves["bytes"].panels] == [
        "transfer reply 32 B · local · connections kept open · 1 in flight"
    ]
    assert [panel.title for panel in curves["reply_bytes"].panels] == [
        "transfer request 32 B · local · connections kept open · 1 in flight"
    ]
    for axis, places in (("bytes", [32, 500, 5000]), ("reply_bytes", [32, 500, 5000]), ("both sizes", [32, 500, 5000])):
        for gap in curves[axis].panels[0].gaps:
            assert [point.at for point in gap.points] == places


def test_handshakes_of_a_connection_for_each_request_are_known() -> None:
    rtts_s = {place.id: (place.link.rtt_ms or 0.0) / 1e3 for place in DISTANCES}

    def spoil(draft: Draft) -> None:
        if draft.cell.connection == "per-request" and draft.cell.stack == "rest-thin":
            rtt_s = rtts_s[draft.cell.placement]
            draft.done["opening"] = {"connections": 120, "connect_s": 1e-4 + rtt_s, "tls_s": 3e-4 + 2 * rtt_s}

    load = p.Load(concurrency=1, requests=120)
    summary = summarise(a_run(a_plan(placements=DISTANCES, calls=WAYS, load=load), between=0.003, spoil=spoil))
    cells = {(cell.stack, cell.connection, cell.placement): cell for cell in summary.cells}
    for place in DISTANCES:
        opened = cells["rest-thin", "per-request", place.id]
        assert opened.details.connections == 120
        assert opened.means["connect"].value == pytest.approx(0.1 + (place.link.rtt_ms or 0.0))
        assert opened.means["tls"].interval is not None
        kept = cells["grpc-thin", "reuse", place.id]
        assert (kept.details.connections, kept.means.keys() & {"connect", "tls"}) == (1, set())
