"""What becomes of a lead along the axis, as data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.findings.grid import sweep
from orchestrator.findings.leads import Lead, leads
from orchestrator.findings.ranking import by_factor, rankings
from orchestrator.findings.summary import CellSummary, Comparison, Floors, RunSummary
from tests.support.concluded import beside, cell_of, far, setting, summary


def leads_of(run: RunSummary) -> tuple[Lead, ...]:
    return leads(sweep(run), by_factor(rankings(run))[0])


def in_flight(*medians: tuple[int, float, float], width: float = 1.01) -> RunSummary:
    """`rest`, the reference, and `grpc` with these medians at these numbers in flight."""
    return summary(*(setting({"rest": rest, "grpc": grpc}, width, concurrency=n) for n, rest, grpc in medians))


@pytest.mark.parametrize(
    ("medians", "change", "leader"),
    [
        (((1, 0.6, 0.2), (4, 0.6, 0.3)), "falls", "grpc"),
        (((1, 0.6, 0.3), (4, 0.6, 0.2)), "rises", "grpc"),
        (((1, 0.2, 0.6), (4, 0.3, 0.6)), "falls", "rest"),
        (((1, 0.6, 0.2), (4, 0.6, 0.6)), "falls", "grpc"),
        (((1, 0.6, 0.6), (4, 0.6, 0.2)), "rises", "grpc"),
        (((1, 0.6, 0.2), (4, 0.6, 0.2)), "steady", "grpc"),
        (((1, 0.6, 0.3), (4, 0.6, 0.9)), "turns", "grpc"),
        (((1, 0.6, 0.6), (4, 0.6, 0.6)), "none", "rest"),
    ],
)
def test_a_lead_has_the_change_that_its_ratios_have(
    medians: tuple[tuple[int, float, float], ...], change: str, leader: str
) -> None:
    (lead,) = leads_of(in_flight(*medians))
    assert (lead.change, lead.leader) == (change, leader)
    for at, (_, rest, grpc) in zip((lead.first, lead.last), (medians[0], medians[-1]), strict=True):
        times = {"rest": rest, "grpc": grpc}
        assert at.ratio == pytest.approx(times[lead.other] / times[lead.leader])
        assert (at.leader.median, at.other.median) == (times[lead.leader], times[lead.other])
        assert at.interval is not None
        assert at.interval[0] < at.ratio < at.interval[1]


def test_where_it_turns_has_the_last_place_of_the_one_and_the_first_of_the_other() -> None:
    (lead,) = leads_of(in_flight((1, 0.2, 0.3), (4, 0.5, 0.6), (8, 0.6, 0.6), (16, 2.0, 1.5), (64, 9.0, 5.0)))
    assert (lead.change, lead.until.value, lead.since.value) == ("turns", 4, 16)


def scattered(n: int, logs: np.ndarray) -> tuple[list[CellSummary], list[Comparison]]:
    """A setting in which the blocks' ratios of `grpc` to `rest` have these logarithms."""
    rest, grpc = (cell_of(stack, median, concurrency=n) for stack, median in (("rest", 0.5), ("grpc", 0.2)))
    row = beside(
        grpc,
        rest,
        (0.35, 0.45),
        ratio=float(np.exp(logs.mean())),
        by_block=tuple(np.exp(logs)),
        blocks=tuple(range(len(logs))),
    )
    return [rest, grpc], [row]


def test_of_equal_ratios_at_most_one_run_in_twenty_shows_a_change() -> None:
    random = np.random.default_rng(5)
    changes = [
        lead.change
        for _ in range(400)
        for lead in leads_of(summary(*(scattered(n, random.normal(-0.9, 0.1, 4)) for n in (1, 4))))
    ]
    assert set(changes) <= {"steady", "falls", "rises"}
    assert sum(change != "steady" for change in changes) <= 32


def test_a_change_that_every_block_shows_is_found() -> None:
    random = np.random.default_rng(6)
    shared = random.normal(0.0, 0.2, 5)  # what slows a whole block
    first, last = (shared + shift + random.normal(0.0, 0.02, 5) for shift in (-1.0, -0.6))
    assert [lead.change for lead in leads_of(summary(scattered(1, first), scattered(4, last)))] == ["falls"]


def test_round_trips_are_those_of_each_side() -> None:
    rows = []
    for where, grpc, rest in (("local", 0.2, 2.0), ("far", 36.0, 72.0)):
        cells = [
            replace(cell_of("grpc", grpc, placement=where, connection="reuse"), floors=Floors(ping=36.0)),
            replace(cell_of("rest", rest, placement=where, connection="per-request"), floors=Floors(ping=36.0)),
        ]
        ratio = rest / grpc
        rows.append((cells, [beside(cells[1], cells[0], (ratio / 1.01, ratio * 1.01))]))
    (lead,) = leads_of(summary(*rows, plan=far(35.0)))
    assert (lead.leader, lead.change) == ("grpc", "falls")
    assert (lead.first.leader.round_trips, lead.first.other.round_trips) == (None, None)
    assert (lead.last.leader.round_trips, lead.last.other.round_trips) == (1.0, 2.0)


@pytest.mark.parametrize(
    "run",
    [
        summary(setting({"rest": 0.3, "grpc": 0.2})),
        summary(*(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.1}, concurrency=n) for n in (1, 4))),
        in_flight((1, 0.2, 0.3), (2, 0.3, 0.2), (4, 0.2, 0.3)),
        in_flight((1, 0.3, 0.3), (2, 0.3, 0.2), (4, 0.3, 0.3)),
    ],
    ids=["no axis", "three sides", "turns twice", "a lead in the middle alone"],
)
def test_what_no_lead_can_say_has_none(run: RunSummary) -> None:
    assert leads_of(run) == ()
