"""A responder with several workers: how busy it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.evidence.collect import collect
from orchestrator.wording.checks.sentences import explanation
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
    judgement = of(run, "responder's core")[0]
    assert judgement.verdict == "pass"
    assert judgement.evidence["cpu_share"] == pytest.approx(0.6, abs=0.02)
    assert explanation(judgement).startswith("The busiest core of the responder's 2 workers was 60")
    assert {verdicts(run)[name] for name in ("connections", "completeness")} == {"pass"}


def test_a_worker_whose_core_is_busy_is_the_limit() -> None:
    judgement = of(a_run(**TWO, spoil=workers((0.5, 0.5), cpu=4.6)), "responder's core")[0]
    assert judgement.verdict == "warn"
    assert "92 % busy: it is the bottleneck" in explanation(judgement)


def test_workers_that_share_one_cpu_are_that_limit_together() -> None:
    run = a_run(**TWO, spoil=workers((0.5, 0.5), cpus=1, cpu=2.3))
    (trial, *_) = collect(run, {}).cells[0].trials
    assert trial.summary is not None
    assert trial.summary.responder_cpu_share == pytest.approx(0.92, abs=0.02)


def test_what_workers_say_of_themselves_does_not_hide_that_all_of_them_are_busy() -> None:
    def modest(draft: Draft) -> None:
        workers((0.5, 0.5), cpus=1_000_000_000, cpu=4.6)(draft)
        for worker in draft.stats["workers"]:
            worker["cpu_s"] = 0.0

    judgement = of(a_run(**TWO, spoil=modest), "responder's core")[0]
    assert (judgement.verdict, judgement.evidence["cpu_share"]) == ("warn", pytest.approx(0.92, abs=0.02))
