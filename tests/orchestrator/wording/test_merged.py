from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.errors import UsageError
from orchestrator.findings.check_result import CheckResult
from orchestrator.report.verb_pages import render_merge_page
from orchestrator.summarise import summarise
from orchestrator.wording.answer import answer
from orchestrator.wording.merged import agreed, merge
from tests.support.pages import Document
from tests.support.runs import a_plan, a_run

PLAN = a_plan(blocks=5)


def measured(run_id: str, *, seed: int, plan=PLAN, **made):
    run = a_run(plan, seed=seed, **made)
    trials = tuple(replace(t, started_wall_ns=t.started_wall_ns + seed * 10**12) for t in run.stored.trials)
    return summarise(replace(run, stored=replace(run.stored, run_id=run_id, trials=trials)))


@pytest.fixture(scope="module")
def runs():
    return [measured("a-run", seed=1), measured("b-run", seed=2), measured("c-run", seed=3, base_us={"grpc": 900.0})]


def test_ratios_stand_side_by_side_and_whoever_differs_is_named(runs):
    merged = merge(runs)
    (row,) = merged.ratios
    assert [found.standing for found in row.ratios] == ["faster", "faster", "slower"]
    assert row.agreement == "differ"
    assert row.said == "faster on A and B; slower on C"
    assert merged.answer[0].startswith("They differ on grpc (thin) against rest (thin)")
    own = [next(c for c in run.comparisons if c.statistic == "median") for run in runs]
    assert [found.ratio for found in row.ratios] == [c.ratio for c in own]  # none is of two machines


def test_machines_that_agree(runs):
    merged = merge(runs[:2])
    assert [row.said for row in merged.ratios] == ["faster on all 2"]
    assert merged.answer == ("On both machines grpc (thin) is faster than rest (thin) (0.67× and 0.67×).",)


def test_a_run_that_cannot_answer_is_named_before_what_machines_say(runs):
    failed = CheckResult(
        name="noise", verdict="fail", severity="serious", cell=None, evidence={}, explanation="Too much.", action=""
    )
    invalid = replace(runs[1], checks=(*runs[1].checks, failed))
    first, *_ = merge([runs[0], invalid]).answer
    assert first == f"The run of B cannot answer: {answer(invalid).invalid_because}."


def test_medians_are_each_machines_own(runs):
    for row in merge(runs).cells:
        own = [next(cell for cell in run.cells if cell.id == row.cell) for run in runs]
        assert [of.value for of in row.medians] == [cell.distribution.median for cell in own]


@pytest.mark.parametrize(
    ("standings", "expected"),
    [
        (["not resolved", None], ("undetermined", "undetermined on all 2")),
        (["tie", "tie"], ("agree", "a tie on all 2")),
        (["tie", "slower"], ("differ", "a tie on A; slower on B")),
        (["slower", "cannot tell"], ("undetermined", "slower on A; undetermined on B")),
    ],
)
def test_agreement_is_said_of_decided_comparisons_alone(standings, expected):
    assert agreed("AB", standings) == expected


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (a_plan(stacks=("rest", "graphql"), blocks=5), "stack grpc-thin is in one alone"),
        (a_plan(blocks=5, seed=7), "the seed of payloads is 1 and 7"),
        (a_plan(blocks=5, connection="per-request"), "is in one alone"),
        (a_plan(blocks=5, warmup=60), "warmup is"),
    ],
)
def test_other_experiments_are_refused_with_what_differs(runs, other, difference):
    with pytest.raises(UsageError, match="not of one experiment") as refused:
        merge([runs[0], measured("other", seed=9, plan=other)])
    assert difference in refused.value.message


def test_a_run_given_twice_is_refused(runs):
    with pytest.raises(UsageError, match="a-run is given twice"):
        merge([runs[0], runs[0]])
    with pytest.raises(UsageError, match="is given twice"):
        merge([runs[0], replace(runs[0], run_id="renamed")])
    cell, *others = runs[0].cells
    shorter = replace(cell, trials=cell.trials[:-1])
    with pytest.raises(UsageError, match="is given twice"):
        merge([runs[0], replace(runs[0], run_id="renamed", cells=(shorter, *others))])
    with pytest.raises(UsageError, match="1 run to merge"):
        merge(runs[:1])


def test_an_invalid_run_is_marked_wherever_it_stands(runs):
    failed = CheckResult(
        name="noise", verdict="fail", severity="serious", cell=None, evidence={}, explanation="Too much.", action=""
    )
    merged = merge([runs[0], replace(runs[1], checks=(*runs[1].checks, failed))])
    assert merged.machines[1].is_invalid
    assert "B: noise failed; all of its numbers are invalid" in merged.notes
    assert all(row.medians[1].failed == ("noise",) for row in merged.cells)
    document = Document(render_merge_page(merged, [runs[0], replace(runs[1], checks=(*runs[1].checks, failed))]))
    assert "B: 1 check failed (noise): all numbers are invalid" in document.text
    assert "B invalid" in " ".join(document.text.split())


def test_other_repeats_are_noted(runs):
    fewer = measured("fewer", seed=4, plan=a_plan(blocks=3))
    assert any(note.startswith("repeats: 5 on A, 3 on B") for note in merge([runs[0], fewer]).notes)


def test_the_page_asks_nobody_for_anything_and_is_whole(runs):
    page = render_merge_page(merge(runs), runs)
    document = Document(page)
    assert document.unclosed == []
    assert [table.rows[0][1].text.strip()[:1] for table in document.tables] == ["A", "A"]
    assert "They differ:" in document.text
    assert "http" not in "".join(element.attributes.get("src", "") for element in document.elements)
