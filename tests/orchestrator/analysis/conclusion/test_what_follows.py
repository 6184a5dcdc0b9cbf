"""Behind the first sentence: what a difference is worth, how sure it is, what was not measured, and what to do."""

from __future__ import annotations

from dataclasses import replace
from math import exp, prod
from random import Random

import pytest

from orchestrator.analysis.conclusion import decides
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.summary import RunSummary
from orchestrator.questions.until.find import Stopped, Width
from tests.support.concluded import beside, cell_of, check, far, setting, summary
from tests.support.curves import SIZES
from tests.support.findings import with_findings


def two(grpc: float = 0.2, width: float = 1.02, **where: object) -> RunSummary:
    return summary(setting({"rest": 0.3, "grpc": grpc}, width, **where))


def test_a_difference_is_counted_over_a_thousand_calls_and_up_to_which_call_it_matters() -> None:
    assert conclude(two()).matters_from == (
        "Of 1,000 calls in a row this is 100 ms; once a call takes more than 2 ms, by distance or work, it is less than 5 %."
    )


def test_of_several_it_is_the_first_ones_lead() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}))
    assert conclude(run).matters_from.startswith("grpc is 50 µs ahead of cbor: of 1,000 calls in a row this is 50 ms; ")


def test_equal_ones_differ_by_so_much_at_most_beside_their_distance() -> None:
    run = summary(setting({"rest": 40.0, "grpc": 40.0}, 1.01, placement="far"), plan=far(35.0))
    assert conclude(run).matters_from == (
        "They differ by 400 µs at most, beside a round trip of 35 ms: of 1,000 calls in a row 400 ms."
    )


def test_events_do_not_come_in_a_row() -> None:
    assert conclude(two(kind="stream")).matters_from.startswith("Once an event takes more than 2 ms")


def test_it_says_from_how_many_repeats_and_what_they_could_have_found() -> None:
    found = conclude(two()).sure
    assert found.startswith("This rests on 3 repeats with fresh processes, 95 % intervals, which find a difference of ")
    assert found.endswith(" or more four times in five.")


def test_what_else_differs_is_not_measured_here() -> None:
    run = two()
    (row,) = run.comparisons
    row = replace(row, differs_in=("codec", "transport", "framework", "validation", "client"))
    assert conclude(replace(run, comparisons=(row,))).sure.endswith(
        "; what the framework, the validation and the client make of it was not measured here."
    )
    row = replace(row, differs_in=("codec", "transport"))
    assert "not measured" not in conclude(replace(run, comparisons=(row,))).sure


def test_an_end_that_is_the_limit_is_named() -> None:
    run = two(concurrency=64)
    cells = tuple(
        replace(
            cell,
            trials=tuple(
                replace(t, cpu_share=0.3, responder_cpu_share=0.99, responder_window_s=10.0) for t in cell.trials
            ),
        )
        for cell in run.cells
    )
    assert "; at this load the responder is the limit of rest and grpc" in conclude(replace(run, cells=cells)).sure
    assert "limit" not in conclude(two()).sure


def test_requests_that_got_no_reply_and_those_never_sent_are_said() -> None:
    run = two()
    rest, grpc = run.cells
    grpc = replace(grpc, errors={"timeout": grpc.requests // 50}, not_sent=grpc.requests // 8)
    found = conclude(replace(run, cells=(rest, grpc))).sure
    assert "; with grpc 2.0 % of requests got no right reply, and counts as slowest" in found
    assert "; 11 % of what was due with grpc was never sent" in found


def test_who_is_ahead_by_p99_is_said_where_it_is_another() -> None:
    run = two()
    (row,) = run.comparisons
    other = replace(row, statistic="p99", standing="slower", ratio=2.0, interval=(1.9, 2.1))
    assert "; by p99, rest is ahead of grpc" in conclude(replace(run, comparisons=(row, other))).sure
    same = replace(row, statistic="p99")
    assert "p99" not in conclude(replace(run, comparisons=(row, same))).sure


def test_a_reference_that_differs_from_itself_is_said() -> None:
    run = two()
    (row,) = run.comparisons
    again = replace(row, cell="again", control=True, ratio=1.2, interval=(1.1, 1.3), standing="slower")
    found = conclude(replace(run, comparisons=(row, again))).sure
    assert "; the reference, entered twice, differs from itself by 20 %" in found


def test_what_is_ahead_is_what_to_choose() -> None:
    assert conclude(two()).advice == "Where this time counts, choose grpc."


def test_equal_ones_are_chosen_by_other_grounds() -> None:
    assert conclude(two(grpc=0.3, width=1.01)).advice.startswith("Choose by other grounds")


def test_what_cannot_be_told_takes_more_repeats() -> None:
    advice = conclude(two(grpc=0.31, width=1.06)).advice
    assert advice.startswith("Measure ")
    assert "`--set repeats=" in advice or "quieter machine" in advice


def test_what_is_missing_for_another_reason_is_not_settled_by_repeats() -> None:
    run = two()
    (row,) = run.comparisons
    lost = replace(row, standing="cannot tell", ratio=None, interval=None, by_block=(), why="grpc: p99 is beyond")
    assert conclude(replace(run, comparisons=(lost,))).advice.startswith("More repeats alone will not tell them apart")


def test_nobody_is_told_to_leave_encryption_out() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    (row,) = run.comparisons
    names = {"subject": "rest", "value": "with TLS 1.3", "reference_value": "with no TLS"}
    found = conclude(replace(run, comparisons=(replace(row, factor="tls", **names),)))
    assert found.sentence.startswith("With TLS 1.3, rest answered 100 µs sooner than with no TLS")
    assert found.advice == ""


def test_json_that_travels_as_a_value_is_not_measured_here() -> None:
    run = two(document="value")
    plan = {
        "stacks": [{"id": "grpc", "label": "grpc"}],
        "operations": [{"id": "add", "label": "echo mine.json", "payload": {"kind": "json"}}],
        "cells": [{"stack": "grpc", "operation": "add", "factors": {"document": "value"}}],
        "resolved": {"grpc": {"documents": "value"}},
    }
    found = conclude(replace(run, plan=plan)).sure
    assert found.endswith("; what google.protobuf.Value for its JSON makes of it was not measured here.")


def test_more_workers_are_asked_about_for_how_many_are_answered_a_second() -> None:
    cells, (row,) = setting({"1": 0.3, "2": 0.2})
    names = {"factor": "workers", "subject": "rest", "value": "with 2 workers", "reference_value": "with 1 worker"}
    row = replace(row, **names)
    rate = replace(row, statistic="throughput", ratio=0.5, interval=(0.49, 0.51), standing="faster")
    cells = [replace(cell, throughput_per_s=rate) for cell, rate in zip(cells, (1000.0, 2000.0), strict=True)]
    found = conclude(summary((cells, [row, rate])))
    assert (
        found.more[0]
        == "At most, rest answered 2.00 times as many a second with 2 workers as with 1 worker (2,000 against 1,000)."
    )
    assert found.advice == ""


def two_questions() -> RunSummary:
    """Stacks with one and with 16 in flight, and gzip against none for one of them."""
    found = [setting({"rest": 0.3 * n, "grpc": 0.2 * n}, concurrency=n) for n in (1, 16)]
    plain, packed = cell_of("rest", 0.2, compression="none"), cell_of("rest", 0.3, compression="gzip")
    names = {"factor": "compression", "subject": "rest", "value": "with gzip", "reference_value": "with no compression"}
    return summary(*found, ([plain, packed], [beside(packed, plain, (1.4, 1.6), **names)]))


def test_what_else_was_asked_about_is_answered_behind_it() -> None:
    found = conclude(two_questions())
    assert found.sentence.startswith("grpc's lead over rest on `add` ")
    assert found.besides.startswith("With no compression, rest answered 100 µs sooner than with gzip (")
    assert found.more[0] == found.besides
    assert found.matters_from.startswith("The largest difference, ")


def test_from_where_on_another_is_ahead_comes_before_what_else_was_asked_about() -> None:
    found = conclude(with_findings(two_questions(), axes=(SIZES,)))
    assert "the medians cross at 1.11 kB" in found.more[0]


def test_a_connection_that_is_worth_more_than_the_stack_comes_first() -> None:
    """Kept or not was measured too, and makes ten times as much as the choice that was asked about."""
    run = summary(
        setting({"rest": 0.3, "grpc": 0.2}, connection="reuse"),
        setting({"rest": 1.3, "grpc": 1.2}, connection="per-request"),
    )
    assert conclude(run).advice == (
        "Keep connections open first: that is worth 1 ms a call, the choice between stacks at most 100 µs."
    )


def test_another_choice_that_is_worth_more_is_named_with_its_values() -> None:
    run = summary(
        setting({"rest": 0.3, "grpc": 0.25}, compression="none"),
        setting({"rest": 0.5, "grpc": 0.45}, compression="gzip"),
    )
    assert conclude(run).advice == (
        "The compression decides more: no compression rather than gzip makes 200 µs with rest, "
        "the choice between stacks at most 50 µs."
    )


def test_a_choice_that_is_worth_less_is_not_put_first() -> None:
    run = summary(
        setting({"rest": 0.3, "grpc": 0.2}, connection="reuse"),
        setting({"rest": 0.32, "grpc": 0.22}, connection="per-request"),
    )
    assert conclude(run).advice == "Where this time counts, choose grpc."


def test_a_choice_that_is_no_surer_than_chance_decides_nothing() -> None:
    """Among 80 pairs of equal cells some lie apart by chance: one alone is no reason to choose."""
    rng = Random(5)
    cells = []
    for stack in ("rest", "grpc", "cbor", "avro", "tcp"):
        for number in range(8):
            cell = cell_of(stack, 0.3, connection=("reuse", "per-request")[number % 2], concurrency=number // 2)
            medians = [0.3 * exp(rng.gauss(0, 0.03)) for _ in cell.trials]
            trials = tuple(replace(t, median=m) for t, m in zip(cell.trials, medians, strict=True))
            assert cell.distribution is not None
            middle = prod(medians) ** (1 / len(medians))
            cells.append(replace(cell, trials=trials, distribution=replace(cell.distribution, median=middle)))
    assert len(decides.effects(cells, "stack", 0.05)) == 20
    assert not [of for of in decides.effects(cells, "stack", 0.05) if of.is_sure]


def test_a_choice_that_makes_less_than_matters_decides_nothing() -> None:
    run = summary(
        setting({"rest": 0.300, "grpc": 0.301}, 1.005, connection="reuse"),
        setting({"rest": 0.306, "grpc": 0.307}, 1.005, connection="per-request"),
    )
    assert conclude(run).advice == "Choose by other grounds: what it takes to build, to run and to change."


def test_a_stack_that_lost_trials_is_named_as_not_compared() -> None:
    cells, rows = setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.1})
    lost = "cbor: 1 of 10 trials failed entirely, which may be the slow ones"
    rows[1] = replace(rows[1], interval=None, standing="cannot tell", why=lost)
    found = conclude(summary((cells, rows)))
    assert found.sentence.startswith("grpc answered 100 µs sooner than rest")
    assert "; cbor could not be compared" in found.sure


def test_who_could_be_compared_in_some_settings_alone_is_named_so() -> None:
    cells, rows = setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}, concurrency=1)
    rows[1] = replace(rows[1], interval=None, standing="cannot tell", why="2 of at least 3 blocks")
    found = conclude(summary((cells, rows), setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}, concurrency=4)))
    assert found.sentence.startswith("grpc answered soonest in both settings")
    assert "; cbor could not be compared in every setting" in found.sure


def test_of_several_that_are_first_the_lead_is_over_one_who_is_named() -> None:
    found = conclude(summary(setting({"rest": 0.4, "grpc": 0.2, "cbor": 0.203})))
    assert found.sentence.startswith("grpc and cbor answered soonest, and cannot be told apart")
    assert found.matters_from.startswith("grpc is 200 µs ahead of rest: ")


def test_between_those_who_are_first_in_every_setting_other_grounds_decide() -> None:
    """Equal in one setting, open in the other: no setting decides between them."""
    run = summary(
        setting({"rest": 0.3, "grpc": 0.3}, 1.01, concurrency=1),
        setting({"rest": 0.3, "grpc": 0.3}, 1.3, concurrency=4),
    )
    assert conclude(run).advice == "Between grpc and rest choose by other grounds, or measure more repeats."


def test_an_effect_seen_in_cells_that_failed_is_none() -> None:
    run = summary(
        setting({"rest": 0.3, "grpc": 0.2}, connection="reuse"),
        setting({"rest": 1.3, "grpc": 1.2}, connection="per-request"),
    )
    bad = [cell.id for cell in run.cells if cell.connection == "per-request"]
    rows = tuple(
        replace(c, standing="cannot tell", ratio=None, interval=None) if c.cell in bad else c for c in run.comparisons
    )
    run = replace(run, comparisons=rows, checks=tuple(check("connections", cell) for cell in bad))
    assert conclude(run).advice == (
        "See first why a check failed in part of the run: `orch check`. Where this time counts, choose grpc."
    )


def test_over_a_distance_that_dwarfs_it_other_grounds_decide() -> None:
    run = summary(setting({"rest": 38.0, "grpc": 36.5}, 1.03, placement="far"), plan=far(35.0))
    run = replace(run, comparisons=tuple(replace(c, standing="faster") for c in run.comparisons))
    assert conclude(run).advice.startswith("Choose by other grounds: over this distance")


def test_figures_hold_what_the_sentence_says() -> None:
    run = two()
    (figure,) = conclude(run).figures
    assert (figure.name, figure.reference, figure.median, figure.reference_median) == ("grpc", "rest", 0.2, 0.3)
    assert figure.difference is not None
    assert round(figure.difference, 9) == -0.1
    assert figure.interval is not None
    assert figure.interval[0] < figure.difference < figure.interval[1] < 0
    assert (figure.unit, figure.standing) == ("ms", "faster")


def test_a_cell_without_a_reply_has_no_figure() -> None:
    run = two()
    silent = replace(cell_of("grpc", 0.2), distribution=None)
    rows = tuple(replace(c, ratio=None, interval=None, standing="cannot tell", why="nothing") for c in run.comparisons)
    (figure,) = conclude(replace(run, cells=(run.cells[0], silent), comparisons=rows)).figures
    assert (figure.median, figure.difference, figure.interval) == (None, None, None)


@pytest.mark.parametrize(
    ("reaches", "blocks", "said"),
    [
        (0.02, 7, "; ± 3 % was wanted of every interval, and reached after 7 of at most 30 repeats"),
        (0.2, 30, "; ± 3 % was wanted of every interval, and not reached within 30 repeats"),
        (0.2, 4, ""),  # cut: that it was is said elsewhere
    ],
)
def test_a_run_that_waited_for_narrow_intervals_says_whether_they_came(reaches: float, blocks: int, said: str) -> None:
    width = Width(cell="grpc", reference_cell="rest", reaches=reaches)
    stopped = Stopped(blocks=blocks, at_most=30, within=0.03, widths=(width,))
    sure = conclude(with_findings(two(), until=stopped)).sure
    assert (said in sure) if said else ("was wanted" not in sure)
    assert "was wanted" not in conclude(two()).sure
