"""The sentence of a run along an axis: here the words are the point."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.findings.summary import Floors, RunSummary
from orchestrator.wording.answer import answer
from tests.support.concluded import beside, cell_of, setting, summary

ZONES = {
    "provider": "gcp",
    "placements": [
        {"id": "local", "kind": "local", "link": {}},
        {"id": "cross-region", "kind": "cross-region", "link": {}},
    ],
}


def regions(
    provider: str = "gcp", *, blocks: int = 3, operations: tuple[str, ...] = ("add",), factor: float = 1.01
) -> RunSummary:
    """gRPC that keeps its connections, and REST that opens one for each call, on one host and between two regions."""
    rows = []
    for operation in operations:
        for where, grpc, rest in (("local", 0.5, 1.6), ("cross-region", 37.5, 75.2)):
            cells = [
                replace(
                    cell_of(stack, median, placement=where, connection=way, operation=operation, payload=operation),
                    floors=Floors(ping=37.5),
                    operation=operation,
                )
                for stack, median, way in (("grpc", grpc, "reuse"), ("rest", rest, "per-request"))
            ]
            interval = (rest / grpc / factor, rest / grpc * factor) if blocks > 2 else None
            rows.append((cells, [beside(cells[1], cells[0], interval)]))
    link = {"rtt_ms": 37.0} if provider == "lab" else {}
    places = [{**place, "link": link if place["kind"] != "local" else {}} for place in ZONES["placements"]]  # type: ignore[index]
    return summary(*rows, plan={"provider": provider, "placements": places})


def test_a_lead_that_falls_says_from_where_to_where_and_why() -> None:
    assert answer(regions()).lines[0].text == (
        "grpc's lead over rest on `add` falls from 3.2 times on one host to 2.0 times between the regions (37.5 against 75.2"
        " ms); there rest takes 2.0 round trips, a new connection for each call, grpc 1.0."
    )


def test_an_emulated_distance_is_called_so() -> None:
    assert " to 2.0 times between the regions, an emulated 37 ms (37.5 against " in answer(regions("lab")).sentence


def test_two_blocks_are_not_yet_sure() -> None:
    assert answer(regions(blocks=2)).sentence.endswith("; seen in two blocks, not yet sure.")


def test_a_change_that_is_not_significant_is_none() -> None:
    assert (
        answer(regions(factor=2.0))
        .lines[0]
        .text.startswith(
            "grpc's lead over rest on `add` shows no significant change: 3.2 times (1.60 to 6.40) on one host, "
        )
    )


def test_further_operations_have_a_short_sentence_each() -> None:
    found = answer(regions(operations=("add", "echo")))
    assert found.lines[0].text.startswith("grpc's lead over rest on `add` falls ")
    assert found.lines[1].text == (
        "grpc's lead over rest on `echo` falls from 3.2 times on one host to 2.0 times between the regions "
        "(37.5 against 75.2 ms)."
    )


@pytest.mark.parametrize(
    ("grpc", "text"),
    [
        (
            {1: 0.3, 4: 0.3, 16: 0.1},
            "rest leads grpc on `add` up to 4 in flight, by 1.50 times with 1 in flight; "
            "grpc leads rest with 16 in flight, by 2.0 times (200 against 100 µs).",
        ),
        (
            {1: 0.4, 16: 0.2},
            "rest's lead over grpc on `add` falls from 2.0 times with 1 in flight to no difference that matters with 16 in"
            " flight (200 against 200 µs).",
        ),
        (
            {1: 0.2, 16: 0.2},
            "rest and grpc show no difference that matters on `add`: grpc takes 0.99 to 1.01 times as long with 1 in flight,"
            " 0.99 to 1.01 times with 16 in flight (200 against 200 µs).",
        ),
    ],
)
def test_what_else_may_become_of_a_lead(grpc: dict[int, float], text: str) -> None:
    run = summary(*(setting({"rest": 0.2, "grpc": median}, 1.01, concurrency=n) for n, median in grpc.items()))
    assert answer(run).lines[0].text == text


def test_a_factor_has_its_sides_in_full() -> None:
    rows = []
    for n, kept in ((1, 0.2), (4, 0.3)):
        cells = [
            cell_of("rest", t, connection=way, concurrency=n) for t, way in ((kept, "reuse"), (0.6, "per-request"))
        ]
        sides = {"value": "with a kept connection", "reference_value": "with a connection per request"}
        ratio = kept / 0.6
        row = beside(cells[0], cells[1], (ratio / 1.01, ratio * 1.01), factor="connection", subject="rest", **sides)
        rows.append((cells, [row]))
    (first, *_) = answer(summary(*rows)).lines
    assert first.text.startswith(
        "The lead of rest with a kept connection over rest with a connection per request on `add` falls from 3.0 times with"
        " 1 in flight to 2.0 times with 4 in flight"
    )
