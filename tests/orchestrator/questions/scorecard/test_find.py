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
from orchestrator.summarise import summarise, summary_of_json
from services.python.contract.lines import Load
from tests.support.codec_runs import a_codec_run
from tests.support.drafts import Draft
from tests.support.event_runs import a_stream_run
from tests.support.mixes import MIX
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


def test_controls_have_no_column() -> None:
    card = card_of(with_a_control())
    assert {len(row.scores) for row in card.settings[0].rows} == {2}
    assert [stack.stack for stack in card.properties] == ["rest (thin)", "grpc (thin)"]


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


def test_spreads_are_compared_for_the_card_alone() -> None:
    assert "p99_to_p50" not in {c.statistic for c in (*apart().comparisons, *apart().costs)}


def test_what_was_not_measured_has_no_row() -> None:
    few = summarise(a_run(load=Load(concurrency=1, requests=100)))
    mixed = summarise(a_run(operation=MIX))
    for summary in (few, mixed):
        assert "latency" in names(card_of(summary))
        assert not {"predictable", "capacity"} & set(names(card_of(summary)))


def test_a_spread_of_all_requests_pooled_is_shown_and_decides_nothing() -> None:
    of = row(card_of(summarise(a_run(load=Load(concurrency=1, requests=300)))), "predictable")
    assert of.lead == "not resolved"
    assert all(score.value and score.interval is None for score in of.scores)


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


def test_a_lead_that_rests_on_those_that_could_be_compared_says_so() -> None:
    def wrong(draft: Draft) -> None:
        if draft.cell.stack.startswith("cbor"):
            draft.done["identity"] = "somebody else"

    latency = row(card_of(summarise(a_run(stacks=THREE, spoil=wrong))), "latency")
    assert leaders(latency) == ["grpc (thin)"]
    assert [cell.rpartition("/")[2] for cell in latency.left_out] == [score(latency, "cbor").cell.rpartition("/")[2]]


def test_one_stack_alone_is_measured_and_leads_nothing() -> None:
    latency = row(card_of(summarise(a_run(stacks=("rest",)))), "latency")
    assert score(latency, "rest").value
    assert latency.lead == "not compared"


@pytest.mark.slow
def test_cells_that_were_compared_by_a_factor_alone_are_no_race_of_stacks() -> None:
    ways = [{"connection": "reuse", "compression": "none"}, {"connection": "reuse", "compression": "gzip"}]
    contrast = p.Contrast(factor="compression", references=("none",))
    card = card_of(summarise(a_run(calls=ways, contrasts=(contrast,))))
    assert len(card.settings) == 2
    assert {row(card, "latency", n).lead for n in (0, 1)} == {"not compared"}


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


def test_an_end_that_carries_no_stream_of_its_protocol_does_not_stream() -> None:
    plan = real(("grpc", "tonic", "tonic"), ("grpc", "grpc-go", "grpc-go"), ("grpc", "grpc-js", "grpc-aio"))
    assert [stack.streaming.answer for stack in properties(plan, (), catalogue())] == ["no", "yes", "no"]


def test_every_protocol_says_whether_a_browser_can_call_it_and_whether_it_needs_a_schema() -> None:
    assert [p.name for p in catalogue().protocols.values() if p.browser is None or p.schema is None] == []


def test_a_stream_in_the_run_is_measured() -> None:
    stacks = card_of(summarise(a_stream_run())).properties
    assert all(stack.streaming.answer == "yes" and stack.streaming.cell for stack in stacks)


def test_lines_are_those_of_both_ends_and_their_files_add_up() -> None:
    stacks = properties(real(("rest", "fastapi", "pycurl"), ("grpc", "grpcio", "grpcio")), (), catalogue())
    for stack in stacks:
        assert [count.end for count in stack.lines] == ["responder", "requester"]
        for count in stack.lines:
            assert count.own + count.shared + count.generated == sum(lines for _, lines in count.files)
            assert stack.written(count.end) == count.own + count.shared
    rest, grpc = stacks
    generated = {file: lines for count in grpc.lines for file, lines in count.files if "/generated/" in file}
    assert (rest.generated, grpc.generated) == (0, sum(generated.values()))
    assert sum(generated.values()) > 100
    assert words.property_lines(stacks)[-1].best == "fewest: rest"


def test_of_a_service_that_runs_already_the_responder_is_not_counted() -> None:
    given = p.External(given="localhost", host="127.0.0.1", port=1)
    (stack,) = properties(real(("rest", "fastapi", "pycurl"), external=given), (), catalogue())
    assert (stack.written("responder"), [count.end for count in stack.lines]) == (None, ["requester"])


@pytest.mark.slow
def test_codecs_alone_have_no_wire() -> None:
    assert "wire" not in names(card_of(summarise(a_codec_run())))


def test_it_survives_json() -> None:
    assert SCORECARD.of(summary_of_json(apart().to_json())) == SCORECARD.of(apart())
