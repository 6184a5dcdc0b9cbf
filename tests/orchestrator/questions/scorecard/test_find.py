"""The scorecard names a leader where the run's comparisons tell one, says what is open, and agrees with the answer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from orchestrator.catalogue.read import catalogue
from orchestrator.experiment.model.goal import Goal
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.plan import Find, read_plan
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.scorecard import words
from orchestrator.questions.scorecard.find import QUESTION as SCORECARD
from orchestrator.questions.scorecard.find import Score, Scorecard, ScoreRow, scorecard
from orchestrator.questions.scorecard.properties import properties
from orchestrator.summarise import summarise
from tests.support.drafts import Draft
from tests.support.runs import a_plan, a_run
from tests.support.searched import a_search_run, searching

THREE = ("rest", "grpc", "cbor")


def card_of(summary: RunSummary) -> Scorecard:
    assert SCORECARD.of(summary) is not None
    return SCORECARD.of(summary)


def row(card: Scorecard, name: str, setting: int = 0) -> ScoreRow:
    (found,) = [row for row in card.settings[setting].rows if row.name == name]
    return found


def names(card: Scorecard) -> list[str]:
    return [row.name for table in card.settings for row in table.rows]


def leaders(of: ScoreRow) -> list[str]:
    stacks = {score.cell: score.stack for score in of.scores}
    return [stacks[cell] for cell in of.leaders]


def score(of: ScoreRow, stack: str) -> Score:
    (found,) = [score for score in of.scores if score.stack.startswith(stack)]
    return found


@cache
def apart() -> RunSummary:
    return summarise(a_run(stacks=THREE, base_us={"cbor": 290.0}))


def test_the_fastest_leads_with_its_interval_and_the_cell_that_it_rests_on() -> None:
    card = card_of(apart())
    latency = row(card, "latency")
    assert (latency.lead, leaders(latency)) == ("best", ["grpc (thin)"])
    best = score(latency, "grpc")
    (cell,) = [cell for cell in apart().cells if cell.stack_label == "grpc (thin)"]
    assert cell.distribution is not None
    assert (best.cell, best.value, best.interval) == (cell.id, cell.distribution.median, cell.median_interval)


def judged_anew(summary: RunSummary, **changed: object) -> ScoreRow:
    """The row of latency where every comparison of medians has other values."""
    comparisons = tuple(
        replace(c, **changed) if c.statistic == "median" else c  # type: ignore[arg-type]
        for c in summary.comparisons
    )
    return row(scorecard(read_plan(_PLAN), replace(summary, comparisons=comparisons)), "latency")


_RUN = a_run(blocks=3, controls=1)
_PLAN = _RUN.manifest().plan


@cache
def with_a_control() -> RunSummary:
    return summarise(_RUN)


def test_where_the_comparisons_decide_nothing_no_stack_leads() -> None:
    latency = judged_anew(with_a_control(), interval=(0.8, 1.3), ratio=1.01, standing="not resolved")
    assert latency.lead == "not resolved"


def test_a_lead_within_what_the_reference_differs_from_itself_is_none() -> None:
    summary = with_a_control()
    (control,) = [c for c in summary.comparisons if c.control and c.statistic == "median"]
    (grpc,) = [c for c in summary.comparisons if not c.control and c.statistic == "median"]
    third = replace(grpc, cell=control.cell, ratio=0.8, interval=(0.79, 0.81))
    found = []
    for ratio in (1.01, 1.6):  # of the reference to itself
        swung = tuple(replace(c, ratio=ratio) if c is control else c for c in summary.comparisons)
        card = scorecard(read_plan(_PLAN), replace(summary, comparisons=(*swung, third)))
        latency = row(card, "latency")
        found.append((latency.lead, leaders(latency)))
    assert found == [("best", ["grpc (thin)"]), ("not resolved", ["grpc (thin)", "rest (thin) again"])]


@pytest.mark.slow
def test_stacks_that_are_shown_to_be_alike_share_the_lead() -> None:
    card = card_of(summarise(a_run(base_us={"grpc": 300.0}, between=0.002, blocks=10)))
    latency = row(card, "latency")
    assert (latency.lead, len(latency.leaders)) == ("alike", 2)


def test_the_most_predictable_has_the_smallest_p99_over_the_median_not_the_smallest_p99() -> None:
    def shape(rng: np.random.Generator, rows: int, base_ns: float, _rtt_ns: float) -> np.ndarray:
        return base_ns * (0.8 + rng.gamma(2.0, 0.4 if base_ns < 400_000 else 0.05, size=rows))

    card = card_of(summarise(a_run(shape=shape, base_us={"rest": 800.0})))
    of = row(card, "predictable")
    assert (of.lead, leaders(of)) == ("best", ["rest (thin)"])
    assert leaders(row(card, "latency")) == ["grpc (thin)"]
    values = {score.stack: score.value for score in of.scores}
    assert 1 < (values["rest (thin)"] or 0) < 1.5 < (values["grpc (thin)"] or 0)


def test_wire_and_cpu_are_of_what_was_counted() -> None:
    def counted(draft: Draft) -> None:
        n, is_grpc = draft.done["requests"], draft.cell.stack.startswith("grpc")
        draft.done["wire"] |= {"bytes_sent": 90 * n, "bytes_received": (50 if is_grpc else 110) * n}
        draft.stats_before["cpu_s"], draft.stats_warm["cpu_s"] = 0.5, 9.5
        draft.stats["cpu_s"] = 9.5 + (0.4 if is_grpc else 0.2) * n / 1000 * (1 + 0.01 * draft.block)
        draft.done["cpu_s"] = 0.3 * n / 1000 * (1 + 0.001 * draft.block)

    card = card_of(summarise(a_run(spoil=counted)))
    wire, responder, requester = (row(card, name) for name in ("wire", "responder_cpu", "requester_cpu"))
    assert leaders(wire) == ["grpc (thin)"]
    assert score(wire, "rest").value == pytest.approx(200_000)
    assert leaders(responder) == ["rest (thin)"]
    assert requester.lead == "alike"


def test_what_is_invalid_leads_nothing() -> None:
    def wrong(draft: Draft) -> None:
        if draft.cell.stack.startswith("grpc"):
            draft.done["identity"] = "somebody else"

    latency = row(card_of(summarise(a_run(spoil=wrong))), "latency")
    assert latency.lead == "not resolved"
    assert score(latency, "grpc").failed


# ---- capacity


@pytest.mark.slow
def test_rates_that_were_found_decide_capacity_and_nothing_else() -> None:
    find = Find(goals=(Goal(statistic="p50", below=0.01),), lowest=100.0, highest=1600.0, steps=40)
    true = {"rest": 400.0, "grpc": 800.0}

    def capacity(cell: p.Cell, _repeat: int, rng: np.random.Generator) -> float:
        return true[str(cell.factors["protocol"])] * float(np.exp(rng.normal(0, 0.01)))

    plan = searching(a_plan(stacks=("rest", "grpc"), warmup=20), find, repeats=5)
    summary = summarise(a_search_run(plan, capacity, cpu={"rest": (0.97, 0.5), "grpc": (0.97, 0.5)}))
    card = card_of(summary)
    of = row(card, "capacity")
    (found,) = [found for found in CAPACITY.of(summary).rates if found.stack_label == "grpc (thin)"]
    assert (score(of, "grpc").value, score(of, "grpc").interval) == (found.rate_per_s, found.interval)
    assert (of.lead, of.leaders) == ("best", (found.cell,))
    assert names(card) == ["capacity"]


# ---- whatever is asked


def real(*stacks: tuple[str, str, str], **changed: object) -> p.Plan:
    """A plan of stacks that the catalogue knows."""
    made = tuple(
        p.Stack(id=f"s{n}", protocol=protocol, responder=responder, client=client, label=protocol, **changed)  # type: ignore[arg-type]
        for n, (protocol, responder, client) in enumerate(stacks)
    )
    return replace(a_plan(), stacks=made)


def test_properties_are_judgements_of_the_protocols_with_their_reasons() -> None:
    plan = real(("rest", "fastapi", "pycurl"), ("grpc", "grpc-aio", "grpc-aio"), ("grpc", "grpcio", "grpcio"))
    stacks = properties(plan, (), catalogue())
    assert [stack.browser.answer for stack in stacks] == ["yes", "no", "no"]
    assert [stack.schema.answer for stack in stacks] == ["no", "yes", "yes"]
    assert [stack.streaming.answer for stack in stacks] == ["no", "yes", "no"]
    assert all(judged.why for stack in stacks for judged in (stack.browser, stack.schema, stack.streaming))
    assert words.property_lines(stacks)[0].best == "yes: rest"
