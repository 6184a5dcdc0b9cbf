"""The answer: the sentences of written runs against a golden file, and what holds whatever a run found."""

from __future__ import annotations

import re
from dataclasses import asdict, replace

from hypothesis import given, settings
from hypothesis import strategies as some

from orchestrator.cli.answer import short_lines
from orchestrator.findings.ranking import rankings
from orchestrator.findings.summary import RunSummary
from orchestrator.findings.validity import invalid_cells, withhold
from orchestrator.report.groups import groups
from orchestrator.wording.answer import Answer, answer
from orchestrator.wording.tables.result_tables import tables
from tests.orchestrator.wording.scenarios import GOLDEN, TWO, failed, lines, scenarios
from tests.support.concluded import beside, cell_of, check, far, median_of, noisy, setting, summary

NAMES = ("alpha", "bravo", "carol", "delta", "echoes", "fox")
NONSENSE = re.compile(r"\b(HDI|censored|None|nan|inf)\b|  |\.\.|,,|;;|\(\)|: :")
MEDIANS = some.floats(min_value=0.02, max_value=400.0)
WIDTHS = some.sampled_from([1.001, 1.01, 1.04, 1.3, 4.0])
WHERE = (
    {},
    {"concurrency": 4},
    {"concurrency": 16},
    {"placement": "far"},
    {"connection": "per-request"},
    {"placement": "far", "connection": "per-request"},
)


def test_the_sentences_are_those_of_the_golden_file() -> None:
    """`python -m tests.orchestrator.wording.scenarios` writes it anew."""
    assert "\n".join(lines()).splitlines() == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_what_forbids_an_answer_is_told_from_what_an_answer_leaves_out() -> None:
    result = {name: answer(run) for name, run in scenarios().items()}
    assert {name for name, each in result.items() if each.cannot_answer} == {
        "a check failed for all",
        "busy and open",
        "interrupted",
    }
    assert {name for name, each in result.items() if each.left_out} == {"a check failed for one of three"}
    assert result["two"].fastest == ("grpc",)
    assert result["two first, open"].fastest == ("grpc", "cbor")
    assert result["it turns once"].fastest == ()


@some.composite
def runs(draw: some.DrawFn) -> RunSummary:
    """Two stacks to six in one setting to four, with any outcome, some of it without an interval, some of it failed."""
    labels = draw(some.lists(some.sampled_from(NAMES), min_size=2, max_size=6, unique=True))
    places = draw(some.lists(some.sampled_from(range(len(WHERE))), min_size=1, max_size=4, unique=True))
    parts = []
    for place in places:
        where = WHERE[place]
        reference, *others = [cell_of(label, draw(MEDIANS), **where) for label in labels]
        rows = []
        for cell in others:
            ratio, width = median_of(cell) / median_of(reference), draw(WIDTHS)
            interval = None if draw(some.integers(0, 9)) == 0 else (ratio / width, ratio * width)
            rows.append(beside(cell, reference, interval))
        parts.append(([reference, *others], rows))
    run = summary(*parts, plan=far(draw(some.sampled_from([0.2, 35.0]))))
    failing = draw(some.lists(some.sampled_from([cell.id for cell in run.cells]), max_size=2, unique=True))
    checks = tuple(check("reply", cell) for cell in failing)
    if draw(some.integers(0, 5)) == 0:
        checks += (noisy(run.cells[0].id, foreign=draw(some.sampled_from([0.3, 0.7]))),)
    run = replace(run, checks=checks)
    return replace(run, comparisons=withhold(run.comparisons, invalid_cells(run.cells, run.checks)))


def names_in(text: str) -> set[str]:
    return {name for name in NAMES if re.search(rf"\b{name}\b", text)}


@settings(max_examples=100, deadline=None)
@given(runs())
def test_five_lines_at_most_and_none_of_a_stack_that_is_not_there(run: RunSummary) -> None:
    result = answer(run)
    text = " ".join(line.sentence for line in result.lines)
    assert len(result.lines) <= 5
    assert NONSENSE.search(text) is None, text
    assert names_in(text) <= {cell.labels.stack for cell in run.cells}


@settings(max_examples=100, deadline=None)
@given(runs())
def test_no_invalid_stack_is_recommended_or_fastest(run: RunSummary) -> None:
    result = answer(run)
    invalid = invalid_cells(run.cells, run.checks)
    valid = {cell.labels.stack for cell in run.cells if cell.id not in invalid}
    assert set(result.fastest) <= valid
    assert (
        result.cannot_answer
        or names_in(" ".join(line.text for line in result.lines if line.head != "Caution")) <= valid
    )
    assert bool(invalid) == bool(result.invalid_because) or result.cannot_answer
    if invalid:
        assert result.cannot_answer or result.left_out


@settings(max_examples=100, deadline=None)
@given(runs())
def test_nothing_is_fastest_that_a_comparison_calls_slower(run: RunSummary) -> None:
    result = answer(run)
    for c in run.comparisons:
        if c.standing == "slower":
            assert result.fastest != (c.stack_label,)
        if c.standing == "faster" and len({row.group for row in run.comparisons}) == 1:
            assert result.fastest != (c.reference_label,)


@settings(max_examples=50, deadline=None)
@given(runs())
def test_the_terminal_begins_with_the_answer(run: RunSummary) -> None:
    result: Answer = answer(run)
    text = list(short_lines(run, width=10_000))
    assert [line.split("  ")[0] for line in text[: len(result.lines)]] == [line.head for line in result.lines]
    assert len(list(short_lines(run, width=100))) <= 90
    assert asdict(result)["lines"][0] == asdict(result.lines[0])


def test_an_invalid_cell_comes_last_in_every_table_and_ranking() -> None:
    """By its median the invalid stack would be the fastest."""
    run = failed(summary(setting({**TWO, "cbor": 0.1})), "cbor|local")
    (table,) = tables(run)
    assert [row.label for row in table.rows][:3] == ["grpc", "rest", "cbor"]
    (group,) = groups(run)
    assert [cell.stack for cell in group.cells] == ["grpc", "rest", "cbor"]
    (ranking,) = rankings(run)
    assert "cbor|local" not in {cell for tier in ranking.tiers for cell in tier.cells}
