"""Several requester hosts: whose clocks nobody compares, whose rows are pooled exactly."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from orchestrator.experiment.plan import plan as p
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from tests.support.judged import of, verdicts
from tests.support.runs import S, a_run

HOURS = 7 * 3600 * S
RATE = {"load": p.Load(concurrency=64, requests=2000, rate_per_s=500.0)}
STAMPS = ("sent_ns", "intended_ns", "received_ns")


def hours_ahead(draft) -> None:
    """The clocks of the second host stand elsewhere: booted later, and its wall clock is wrong."""
    if draft.requester != 1:
        return
    for name in STAMPS:
        draft.columns[name] += HOURS
    draft.done["begin_ns"] = None if draft.done.get("begin_ns") is None else draft.done["begin_ns"] + HOURS
    for name in ("anchor", "anchor_end"):
        draft.done[name] = {
            "wall_ns": draft.done[name]["wall_ns"] - 3 * HOURS,
            "monotonic_ns": draft.done[name]["monotonic_ns"] + HOURS,
        }


@pytest.mark.parametrize("planned", [{}, RATE, {"calls": [{"connection": "reuse", "processes": 2}], **RATE}])
def test_no_figure_and_no_verdict_changes_where_hosts_clocks_differ_by_hours(planned) -> None:
    agreeing, differing = (a_run(requesters=2, spoil=spoil, **planned) for spoil in (None, hours_ahead))
    one, other = summarise(agreeing), summarise(differing)
    assert [asdict(cell) | {"strip": None} for cell in other.cells] == [
        asdict(cell) | {"strip": None} for cell in one.cells
    ]
    assert [(c.name, c.cell, c.verdict, explanation(c)) for c in other.checks] == [
        (c.name, c.cell, c.verdict, explanation(c)) for c in one.checks
    ]
    assert verdicts(differing)["requesters together"] in ("pass", "warn")  # Poisson arrivals by number end apart


@pytest.mark.parametrize("seed", range(4))
def test_the_quantiles_of_a_cell_are_those_of_all_hosts_rows_to_the_nanosecond(seed: int) -> None:
    run = a_run(requesters=3, seed=seed, blocks=1, stacks=("rest",), spoil=hours_ahead)
    (trial,) = run.stored.trials
    rows = [run.files[of.samples] for of in trial.requesters]
    latencies = np.concatenate([r["received_ns"][r["phase"] == 1] - r["sent_ns"][r["phase"] == 1] for r in rows])
    (cell,) = summarise(run).cells
    judgement = cell.distribution
    assert judgement.n == latencies.size == 3000
    for name, share in (("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
        expected = float(np.quantile(latencies, share))
        assert getattr(judgement, name) * 1e6 == pytest.approx(expected, abs=1e-3), name
    assert round(judgement.maximum * 1e6) == latencies.max()


def test_a_host_that_begins_late_is_known_by_what_passed_here_and_not_by_its_clock() -> None:
    def late(draft) -> None:
        hours_ahead(draft)
        if draft.requester == 1:
            rows = draft.columns
            later = int(rows["received_ns"].max() - rows["sent_ns"][rows["phase"] == 1].min()) * 7 // 10
            draft.heard = replace(draft.heard, told_ns=draft.heard.told_ns + later)

    first = of(a_run(requesters=2, spoil=late), "requesters together")[0]
    assert first.verdict == "fail"
    assert 0.2 < first.evidence["overlap"] < 0.4
