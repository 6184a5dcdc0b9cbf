"""Whose the spread is, from trials to the answer, the terminal and the page: on runs whose medians are known."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan import contrasts
from orchestrator.experiment.plan import plan as p
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.shares import find as shares
from orchestrator.questions.shares.estimates import Estimate
from orchestrator.questions.shares.find import QUESTION as SHARES
from orchestrator.report.render import render
from orchestrator.summarise import summarise, summary_of_json
from tests.support.matrices import LANGUAGES, Key, a_matrix_plan, a_matrix_run
from tests.support.runs import a_run

TIMES = {"Go": 1.0, "Node.js": 2.0, "Python": 4.0, "Rust": 0.8}
LOAD = p.Load(concurrency=1, requests=100)
TWO = ("Go", "Python")


def languages_most(key: Key) -> float:
    return TIMES[key[1]] * float(TIMES[key[2]] ** 0.5) * (1.2 if key[0] == "grpc" else 1.0)


def told(
    times: Callable[[Key], float] = languages_most,
    *,
    missing: Collection[Key] = (),
    spoken: Collection[str] = TWO,
    blocks: int = 3,
) -> RunSummary:
    plan = a_matrix_plan(missing=missing, spoken=tuple(spoken), blocks=blocks, load=LOAD, warmup=10)
    return summarise(a_matrix_run(plan, times))


WHOLE = a_matrix_plan(blocks=4, load=LOAD, warmup=10)


@pytest.fixture(scope="module")
def whole() -> RunSummary:
    return summarise(a_matrix_run(WHOLE, languages_most))


@pytest.fixture(scope="module")
def with_gaps() -> RunSummary:
    """Rust has no gRPC."""
    spoken = (*LANGUAGES, "Rust")
    missing = {("grpc", one, other) for one in spoken for other in spoken if "Rust" in (one, other)}
    return told(missing=missing, spoken=spoken)


def test_the_languages_carry_what_they_were_given(whole: RunSummary) -> None:
    (of,) = SHARES.of(whole)
    spread = of.of_latency
    shares = {share.factors: share.share for share in spread.shares}
    assert 0.7 < shares["responder",] < 0.85
    assert 0.15 < shares["requester",] < 0.25
    assert 0.005 < shares["protocol",] < 0.05
    assert sum(shares.values()) == pytest.approx(1.0, abs=0.01)
    changes = {change.factor: change for change in spread.changes}
    assert {name: change.beyond for name, change in changes.items()} == {
        "protocol": None,
        "responder": "more",
        "requester": "more",
    }
    assert 1.15 < changes["protocol"].times < 1.25
    assert 2.4 < changes["responder"].times < 2.9  # of 1, 2 and 4: e to the root of the mean squared logs
    assert spread.blocks == 4
    assert [found.quantity for found in of.spreads] == ["median", "throughput", "responder_cpu", "requester_cpu"]
    assert not any(found.why_not for found in of.spreads)


def test_where_the_protocol_matters_more_that_is_said() -> None:
    (of,) = SHARES.of(told(lambda key: {"rest": 4.0, "grpc": 1.0}[key[0]] * TIMES[key[1]] ** 0.1))
    assert [change.beyond for change in of.of_latency.changes] == [None, "less", "less"]


def test_one_end_may_matter_more_and_the_other_less() -> None:
    (of,) = SHARES.of(told(lambda key: TIMES[key[1]] * (1.5 if key[0] == "grpc" else 1.0)))
    assert [change.beyond for change in of.of_latency.changes] == [None, "more", "less"]


def test_where_nothing_matters_it_cannot_be_told() -> None:
    (of,) = SHARES.of(told(lambda _: 1.0))
    assert of.of_latency.shares == ()


def test_of_a_matrix_with_gaps_the_largest_complete_part_is_told(with_gaps: RunSummary) -> None:
    (of,) = SHARES.of(with_gaps)
    assert of.cells == 18
    assert {factor.name: set(factor.levels) for factor in of.factors} == {
        "protocol": {"rest", "grpc"},
        "responder": set(LANGUAGES),
        "requester": set(LANGUAGES),
    }
    assert len(of.left_out) == 7
    assert all("Rust" in left.stack and "Rust" in dict(left.gaps).values() for left in of.left_out)
    entries = [entry for medians in of.medians for row in medians.rows for entry in row if entry is not None]
    assert sum(not entry.is_counted for entry in entries) == 7


def test_an_invalid_cell_is_left_out_with_its_language(whole: RunSummary) -> None:
    invalid = {whole.cells[0].id: ("reply",)}
    (of,) = shares.shares(WHOLE, whole.cells, invalid)
    assert of.cells == 12
    assert ("reply",) in {left.reason.names for left in of.left_out if left.reason}
    assert any(entry and entry.is_invalid for medians in of.medians for row in medians.rows for entry in row)


def test_a_database_asked_by_the_usual_library_of_each_language_is_one_setting(whole: RunSummary) -> None:
    library = {"Go": "pgx"}
    cells = [
        replace(cell, factors={**cell.factors, "store": "postgresql", "driver": library.get(answers, "psycopg")})
        for cell in whole.cells
        for answers in [contrasts.languages_of_stacks({"resolved": WHOLE.resolved})[cell.stack][0]]
    ]
    (of,) = shares.shares(WHOLE, cells, {})
    assert of.cells == 18


def test_a_second_stack_of_the_same_languages_is_left_out(whole: RunSummary) -> None:
    first, twin, *_ = WHOLE.stacks
    resolved = {**WHOLE.resolved, twin.id: WHOLE.resolved[first.id]}
    (of,) = shares.shares(replace(WHOLE, resolved=resolved), whole.cells, {})
    assert first.label in {left.instead for left in of.left_out}


def test_without_a_complete_part_the_reason_is_told() -> None:
    missing = [("rest", "Go", "Python"), ("rest", "Python", "Go"), ("grpc", "Go", "Go"), ("grpc", "Python", "Python")]
    (of,) = SHARES.of(told(missing=missing))
    assert (of.cells, of.factors) == (0, ())


def test_of_one_protocol_the_languages_alone_are_told_apart() -> None:
    missing = {("grpc", one, other) for one in TWO for other in TWO}
    (of,) = SHARES.of(told(missing=missing))
    assert [factor.name for factor in of.factors] == ["responder", "requester"]
    assert [change.beyond for change in of.of_latency.changes] == [None, None]
    (of,) = SHARES.of(told(lambda _: 1.0, missing=missing))


def test_stacks_of_one_language_are_no_matrix() -> None:
    summary = told(lambda _: 1.0, spoken=("Python",))
    assert SHARES.of(summary) == ()


def test_a_plan_of_before_languages_were_noted_has_no_shares() -> None:
    assert SHARES.of(summarise(a_run(blocks=3))) == ()


def test_settings_are_told_apart() -> None:
    plan = a_matrix_plan(spoken=TWO, blocks=3, load=LOAD, warmup=10)
    summary = summarise(a_matrix_run(plan, languages_most))
    others = tuple(replace(cell, id=f"{cell.id}-50", load="50 in flight") for cell in summary.cells)
    one, other = shares.shares(plan, (*summary.cells, *others), {})
    assert (one.cells, other.cells) == (8, 8)
    assert one.setting != other.setting
    assert other.setting.endswith("50 in flight")


def test_claims_are_corrected_over_all_that_are_asked() -> None:
    """One that is just sure by itself is not among many; the sure ones stay."""
    just = Estimate(value=1.0, se=0.35, blocks=5)  # p 0.046
    sure = Estimate(value=-1.0, se=0.01, blocks=5)
    assert shares.standings({(0, "responder"): just}) == {(0, "responder"): "more"}
    of_many = shares.standings({(place, "responder"): just for place in range(4)} | {(4, "requester"): sure})
    assert set(of_many.values()) == {"not resolved", "less"}


def test_the_terminal_names_the_languages_and_shows_shares_and_medians(with_gaps: RunSummary) -> None:
    lines = list(answer_lines(with_gaps))
    text = "\n".join(lines)
    assert any(line.strip().startswith("rest (Rust-Go), Rust ← Go") for line in lines)
    assert "language and protocol · " in text
    assert any(line.strip().startswith("responder's language  ") and " to " in line for line in lines)
    assert any("Rust (plain)" in line for line in lines)
    assert "A change of a factor: the usual ratio between two of its levels" in " ".join(text.split())
    assert "In brackets: a cell that no share counts." in text


def test_the_page_has_a_chart_a_table_and_a_matrix_for_each_protocol(with_gaps: RunSummary) -> None:
    page = render(with_gaps)
    assert page.count('id="chart-shares-1"') == 1
    section = page.partition('<section id="shares">')[2].partition("</section>")[0]
    assert section.count("<table") == 3
    assert "Median latency of rest" in section
    assert "Median latency of grpc" in section
    for link in {part.partition('"')[0] for part in section.split('href="#')[1:]}:
        assert f'id="{link}"' in page


def test_a_summary_with_shares_is_read_back_as_it_was(with_gaps: RunSummary) -> None:
    assert summary_of_json(with_gaps.to_json()) == with_gaps


def test_a_plan_says_in_which_language_each_end_is() -> None:
    document = {
        "resolved": {
            "a": {"languages": {"responder": "Go", "requester": "Rust"}},
            "b": {"languages": {"requester": "Go"}},
        }
    }
    assert contrasts.languages_of_stacks(document) == {"a": ("Go", "Rust")}
    assert contrasts.are_several_languages({"a": ("Go", "Rust")})
    assert not contrasts.are_several_languages({"a": ("Go", "Go")})
