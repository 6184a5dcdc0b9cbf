"""A responder with several workers: how busy it is, and whether its workers shared the requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.evidence.collect import collect
from services.python.contract.lines import Load
from tests.support.drafts import Draft
from tests.support.judged import of, verdicts
from tests.support.runs import a_run

TWO: dict[str, Any] = {
    "stacks": ("rest",),
    "load": Load(concurrency=8, requests=16_000),
    "calls": [{"connection": "reuse", "workers": 2}],
}


def workers(shares: tuple[float, ...], cpus: int = 4, cpu: float = 1.0) -> Callable[[Draft], None]:
    """Has workers answer such shares of all requests, and use as much of the CPU time, times `cpu`."""

    def spoil(draft: Draft) -> None:
        draft.ready |= {"workers": len(shares), "cpus": cpus}
        used_before = draft.stats_before["cpu_s"]
        for line in (draft.stats_before, draft.stats_warm, draft.stats):
            line["cpu_s"] = used_before + (line["cpu_s"] - used_before) * cpu
            counts = [int(line["answered"] * share) for share in shares]
            counts[0] += line["answered"] - sum(counts)
            line["workers"] = [
                {"answered": count, "peers": line["peers"], "cpu_s": line["cpu_s"] * share}
                for count, share in zip(counts, shares, strict=True)
            ]

    return spoil


def test_an_even_spread_passes_and_the_busiest_worker_is_what_is_judged() -> None:
    run = a_run(**TWO, spoil=workers((0.5, 0.5), cpu=3.0))  # 1.2 cores in all
    found = of(run, "responder's core")[0]
    assert found.verdict == "pass"
    assert found.evidence["cpu_share"] == pytest.approx(0.6, abs=0.02)
    assert found.evidence["answered"] == pytest.approx([8000, 8000], abs=2)
    assert found.explanation.startswith("The busiest core of the responder's 2 workers was 60")
    assert {verdicts(run)[name] for name in ("connections", "completeness")} == {"pass"}


def test_a_worker_whose_core_is_busy_is_the_limit() -> None:
    found = of(a_run(**TWO, spoil=workers((0.5, 0.5), cpu=4.6)), "responder's core")[0]
    assert found.verdict == "warn"
    assert "92 % busy: it is the bottleneck" in found.explanation


def test_workers_that_share_one_cpu_are_that_limit_together() -> None:
    run = a_run(**TWO, spoil=workers((0.5, 0.5), cpus=1, cpu=2.3))
    (trial, *_) = collect(run, {}).cells[0].trials
    assert trial.summary is not None
    assert trial.summary.responder_cpu_share == pytest.approx(0.92, abs=0.02)
    found = of(run, "responder's core")[0]
    assert (found.verdict, found.evidence["cpus"]) == ("warn", 1)
    assert found.explanation == "The 2 workers shared 1 CPU: they waited for each other."


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (
            (0.8, 0.2),
            "One of its 2 workers answered 80 % of the requests (50 % would be even): connections are dealt out",
        ),
        ((1.0, 0.0), "answered 100 % of the requests (50 % would be even), and 1 answered none"),
    ],
)
def test_one_worker_with_most_of_the_requests_is_a_warning(shares: tuple[float, ...], words: str) -> None:
    found = of(a_run(**TWO, spoil=workers(shares)), "responder's core")[0]
    assert found.verdict == "warn"
    assert words in found.explanation


def test_fewer_connections_than_workers_cannot_reach_them_all() -> None:
    shared = [{"connection": "reuse", "workers": 4, "connections": 2}]
    run = a_run(**{**TWO, "stacks": ("grpc",), "calls": shared}, spoil=workers((0.5, 0.5, 0.0, 0.0)))
    assert any(
        "2 connections kept open can reach 2 of its 4 workers" in found.explanation
        for found in of(run, "responder's core")
    )


def test_what_workers_say_of_themselves_does_not_hide_that_all_of_them_are_busy() -> None:
    def modest(draft: Draft) -> None:
        workers((0.5, 0.5), cpus=1_000_000_000, cpu=4.6)(draft)
        for worker in draft.stats["workers"]:
            worker["cpu_s"] = 0.0

    found = of(a_run(**TWO, spoil=modest), "responder's core")[0]
    assert (found.verdict, found.evidence["cpu_share"]) == ("warn", pytest.approx(0.92, abs=0.02))


def test_a_spread_by_chance_is_no_warning() -> None:
    """Of 64 workers with 50 requests each one has 1.5 times as many in every fiftieth trial, with 100 in none."""
    even = 1 / 64
    shares = (1.6 * even, *[even * 62.4 / 63] * 63)
    sixty_four = {**TWO, "calls": [{"connection": "per-request", "workers": 64}]}

    def verdict(requests: int) -> str:
        load = Load(concurrency=8, requests=requests)
        return verdicts(a_run(**{**sixty_four, "load": load}, spoil=workers(shares, cpus=64)))["responder's core"]

    assert (verdict(64 * 60), verdict(64 * 120)) == ("pass", "warn")
