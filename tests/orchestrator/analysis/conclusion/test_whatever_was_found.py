"""What holds of the short answer whatever a run found: no name that is not there, no number of its own, no contradiction."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as some

from orchestrator.analysis.answer import answer
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.conclusion.shapes import Conclusion
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.validity import invalid_cells, withhold
from orchestrator.cli.short_answer import short_lines
from tests.support.concluded import beside, cell_of, check, far, median_of, noisy, summary

NAMES = ("alpha", "bravo", "carol", "delta", "echoes", "fox")
JARGON = re.compile(r"\b(resolved|cells?|HDI|p99|p50|ratio|censored|None|nan|inf)\b|  |\.\.|,,|;;|\(\)|: :")
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


@some.composite
def runs(draw: some.DrawFn) -> RunSummary:
    """Two stacks to six in one setting to four, with any outcome, some of it without an interval, some of it failed."""
    labels = draw(some.lists(some.sampled_from(NAMES), min_size=2, max_size=6, unique=True))
    places = draw(some.lists(some.sampled_from(range(len(WHERE))), min_size=1, max_size=4, unique=True))
    found = []
    for place in places:
        where = WHERE[place]
        reference, *others = [cell_of(label, draw(MEDIANS), **where) for label in labels]
        rows = []
        for cell in others:
            ratio, width = median_of(cell) / median_of(reference), draw(WIDTHS)
            interval = None if draw(some.integers(0, 9)) == 0 else (ratio / width, ratio * width)
            rows.append(beside(cell, reference, interval))
        found.append(([reference, *others], rows))
    run = summary(*found, plan=far(draw(some.sampled_from([0.2, 35.0]))))
    failing = draw(some.lists(some.sampled_from([cell.id for cell in run.cells]), max_size=2, unique=True))
    checks = tuple(check("reply", cell) for cell in failing)
    if draw(some.integers(0, 5)) == 0:
        checks += (noisy(run.cells[0].id, foreign=draw(some.sampled_from([0.3, 0.7]))),)
    run = replace(run, checks=checks)
    return replace(run, comparisons=withhold(run.comparisons, invalid_cells(run.cells, run.checks)))


def everything(found: Conclusion) -> str:
    return " ".join((found.sentence, *found.more))


def names_in(text: str) -> set[str]:
    return {name for name in NAMES if re.search(rf"\b{name}\b", text)}


@settings(max_examples=60, deadline=None)
@given(runs())
def test_the_first_sentence_is_short_plain_and_one(run: RunSummary) -> None:
    found = conclude(run)
    assert 0 < len(found.sentence) <= 240
    assert found.sentence.endswith((".", "…")), found.sentence
    assert JARGON.search(found.sentence) is None, found.sentence
    assert len(found.more) <= 4
    assert len(found.left_out) <= 240
    assert re.search(r"\bNone\b|\bnan\b|\binf\b|  |\.\.", everything(found)) is None, everything(found)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_no_sentence_names_who_was_not_there(run: RunSummary) -> None:
    assert names_in(everything(conclude(run))) <= {cell.stack_label for cell in run.cells}


@settings(max_examples=60, deadline=None)
@given(runs())
def test_nobody_who_failed_everywhere_is_recommended_or_ahead(run: RunSummary) -> None:
    found = conclude(run)
    failed = invalid_cells(run.cells, run.checks)
    sound = {cell.stack_label for cell in run.cells if cell.id not in failed}
    assert names_in(found.advice) <= sound
    assert set(found.ahead) <= sound
    assert found.cannot_answer or names_in(found.sentence) <= sound
    if failed:
        assert found.invalid_because
        assert found.cannot_answer or found.left_out


@settings(max_examples=60, deadline=None)
@given(runs())
def test_nobody_is_ahead_whom_a_comparison_calls_slower(run: RunSummary) -> None:
    found = conclude(run)
    for c in run.comparisons:
        if c.standing == "slower":
            assert found.ahead != (c.stack_label,)
        if c.standing == "faster" and len({x.group for x in run.comparisons}) == 1:
            assert found.ahead != (c.reference_label,)


@settings(max_examples=60, deadline=None)
@given(runs())
def test_the_numbers_are_those_of_the_table(run: RunSummary) -> None:
    found = answer(run)
    medians = [row.median_ms for row in found.table if row.median_ms is not None]
    per_ms = {"µs": 1000.0, "ms": 1.0, "s": 0.001}
    for first, second, unit in re.findall(r"\(([\d.,]+) (?:against|and) ([\d.,]+) (µs|ms|s)", found.sentence):
        for text in (first, second):
            decimals = len(text.partition(".")[2])
            shown = {f"{median * per_ms[unit]:,.{decimals}f}" for median in medians}
            assert text in shown, (text, found.sentence)
    for figure in found.figures:
        row = next(row for row in found.table if row.cell == figure.cell)
        assert figure.median == row.median_ms
        if figure.difference is not None and figure.median is not None and figure.reference_median is not None:
            assert abs(figure.difference - (figure.median - figure.reference_median)) < 1e-6 * figure.reference_median


@settings(max_examples=25, deadline=None)
@given(runs())
def test_terminal_and_json_say_the_same(run: RunSummary) -> None:
    short, found = conclude(run), answer(run)
    lines = " ".join(short_lines(found, width=10_000))
    document = found.to_dict()
    assert document["sentence"] == short.sentence
    assert lines.startswith(short.sentence)
    for name in ("left_out", "matters_from", "sure", "advice", "invalid_because"):
        assert document[name] == getattr(short, name)
    assert all(text in lines for text in short.more)
    assert len(list(short_lines(found, width=100))) <= 60
