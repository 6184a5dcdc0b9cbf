"""The first sentence of a run: who is ahead in what was asked, by how much, of which medians; or that it cannot be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.analysis.check_result import CheckResult, Overload
from orchestrator.analysis.conclusion.conclude import conclude
from orchestrator.analysis.overloads import overloads
from orchestrator.analysis.summary import RunSummary
from orchestrator.analysis.validity import invalid_cells, withhold
from orchestrator.results.manifest import SHARED
from tests.support.concluded import beside, cell_of, check, far, noisy, setting, summary


def said(run: RunSummary) -> str:
    return conclude(run).sentence


def test_of_two_the_quicker_one_with_both_medians_and_the_difference() -> None:
    assert said(summary(setting({"rest": 0.372, "grpc": 0.31}))) == (
        "grpc answered 62 µs sooner than rest (310 against 372 µs, difference 56 to 68 µs): 17 % less time."
    )


def test_a_reference_that_is_ahead_is_the_subject() -> None:
    assert said(summary(setting({"rest": 1.0, "graphql": 3.0}))).startswith(
        "rest answered 2,000 µs sooner than graphql ("
    )


def test_equal_ones_are_called_equal_within_what_the_interval_shows() -> None:
    assert said(summary(setting({"rest": 0.3, "grpc": 0.301}, width=1.01))) == (
        "rest and grpc are equal here, within 1.3 % (300 and 301 µs)."
    )


def test_what_cannot_be_told_is_said_with_how_far_it_may_go() -> None:
    assert said(summary(setting({"rest": 0.2, "grpc": 0.21}, width=1.5))) == (
        "This run cannot tell whether rest or grpc answered sooner (200 against 210 µs): "
        "rest took between 115 µs less and 60 µs more."
    )


def test_too_few_repeats_are_the_reason() -> None:
    rest, grpc = cell_of("rest", 0.3), cell_of("grpc", 0.2)
    run = summary(([rest, grpc], [beside(grpc, rest, None)]))
    assert said(run) == "This run cannot tell how rest and grpc compare: 2 repeats are too few, it takes 3."


@pytest.mark.parametrize(("provider", "over"), [("lab", "over an emulated 35 ms"), ("gcp", "over 35 ms")])
def test_an_emulated_distance_is_called_so(provider: str, over: str) -> None:
    run = summary(setting({"rest": 35.37, "grpc": 35.31}, 1.0005, placement="far"), plan=far(35.0, provider=provider))
    assert said(run) == f"grpc and rest are equal here, within 0.2 % {over} (35.3 and 35.4 ms)."


def test_a_difference_that_is_nothing_beside_the_way_says_so() -> None:
    run = summary(setting({"rest": 36.6, "grpc": 35.3}, 1.03, placement="far"), plan=far(35.0), matters=0.06)
    run = replace(run, comparisons=tuple(replace(c, standing="faster") for c in run.comparisons))
    assert said(run).endswith(": next to nothing beside a round trip of 35 ms.")


def test_four_are_listed_in_their_order() -> None:
    assert said(summary(setting({"rest": 0.3, "grpc": 0.35, "cbor": 0.2, "graphql": 0.9}))) == (
        "cbor answered soonest (200 µs), then rest (300 µs) and grpc (350 µs), graphql latest (900 µs)."
    )


def test_of_many_the_first_the_last_and_between_whom_nothing_can_be_told() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.4, "cbor": 0.25, "avro": 0.255, "ws": 0.12, "graphql": 0.9}))
    assert said(run) == (
        "ws answered soonest (120 µs), graphql latest (900 µs); between cbor and avro nothing can be told."
    )


def test_two_ahead_of_the_others_are_named_together() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.202}, width=1.005))
    assert said(run) == "grpc and cbor answered soonest, equal within 5 % (200 and 202 µs), rest latest (300 µs)."
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.21}, width=1.1))
    assert said(run).startswith(
        "grpc and cbor answered soonest, and cannot be told apart (200 and 210 µs), rest latest"
    )


def test_one_winner_in_several_settings_is_said_once() -> None:
    run = summary(*(setting({"rest": 0.3 * n, "grpc": 0.2 * n, "soap": 0.9 * n}, concurrency=n) for n in (1, 4)))
    assert said(run) == (
        "grpc answered soonest in both settings: by 100 µs (with 1 in flight) to 400 µs (with 4 in flight)."
    )


def turning(*medians: tuple[int, float, float]) -> RunSummary:
    """Three stacks, of which the third is always the slowest."""
    return summary(
        *(setting({"rest": rest, "grpc": grpc, "soap": 90.0}, 1.01, concurrency=n) for n, rest, grpc in medians)
    )


def test_where_it_turns_is_one_sentence() -> None:
    run = turning((1, 0.2, 0.3), (4, 0.5, 0.6), (16, 2.0, 1.5), (64, 9.0, 5.0))
    assert said(run) == "Up to 4 in flight rest answered soonest, from 16 in flight on grpc answered soonest."


def test_equal_ones_between_two_turns_are_said() -> None:
    run = turning((1, 0.2, 0.3), (4, 0.5, 0.501), (16, 2.0, 1.5))
    assert said(run) == (
        "With 1 in flight rest answered soonest, with 4 in flight grpc and rest are equal within 5 %, "
        "from 16 in flight on grpc answered soonest."
    )


def test_a_connection_that_decides_who_is_ahead_is_where_it_turns() -> None:
    run = summary(
        setting({"rest": 0.3, "grpc": 0.2}, connection="reuse"),
        setting({"rest": 0.6, "grpc": 0.9}, connection="per-request"),
    )
    assert said(run) == (
        "With a kept connection grpc answered sooner than rest; "
        "with a connection per request rest answered sooner than grpc."
    )


def test_a_lead_that_ends_with_the_distance_is_where_it_turns() -> None:
    near = setting({"rest": 0.3, "grpc": 0.2, "soap": 90.0})
    away = setting({"rest": 35.3, "grpc": 35.2, "soap": 90.0}, 1.001, placement="far")
    assert said(summary(near, away, plan=far(35.0))) == (
        "On one machine grpc answered soonest, from an emulated round trip of 35 ms on grpc and rest are equal within 5 %."
    )


def test_what_turns_too_often_is_counted() -> None:
    run = turning((1, 0.2, 0.3), (2, 0.3, 0.2), (4, 0.2, 0.3), (8, 0.3, 0.2), (16, 0.2, 0.3))
    assert said(run) == "Who answered soonest depends on the setting: of 5, rest in 3 and grpc in 2."


def by_connection(stack: str, kept: float, new: float) -> tuple[list, list]:
    cells = [cell_of(stack, kept, connection="reuse"), cell_of(stack, new, connection="per-request")]
    ratio = kept / new
    return cells, [
        beside(
            *cells,
            (ratio / 1.02, ratio * 1.02),
            factor="connection",
            subject=stack,
            value="with a kept connection",
            reference_value="with a connection per request",
            group="add, local",
        )
    ]


def test_a_factor_that_was_asked_about_is_the_answer() -> None:
    assert said(summary(by_connection("grpc", 0.2, 0.36))) == (
        "With a kept connection, grpc answered 160 µs sooner than with a connection per request "
        "(200 against 360 µs, difference 156 to 164 µs): 44 % less time."
    )
    assert said(summary(by_connection("grpc", 0.2, 0.36), by_connection("rest", 0.3, 0.54))) == (
        "With a kept connection both stacks answered sooner than with a connection per request: "
        "grpc by 160 µs; rest by 240 µs."
    )


def test_values_of_a_factor_that_are_equal_or_open_say_of_whom() -> None:
    equal = [by_connection(stack, 0.2, 0.2) for stack in ("grpc", "rest")]
    assert said(summary(equal[0])).startswith("grpc is equally quick with a kept connection and with a c")
    assert said(summary(*equal)) == (
        "grpc and rest: with a connection per request and with a kept connection are equal, within 5 %."
    )
    wide = []
    for cells, (row,) in equal:
        wide.append((cells, [replace(row, interval=(0.7, 1.4), standing="not resolved")]))
    assert said(summary(wide[0])).startswith("This run cannot tell whether grpc answered sooner with a ")
    assert said(summary(*wide)).startswith("This run cannot tell whether grpc and rest answered soonest with a ")


@pytest.mark.parametrize(
    ("kind", "did"),
    [("task", "finished"), ("stream", "delivered events"), ("codec", "coded a message")],
)
def test_each_kind_of_work_has_its_word(kind: str, did: str) -> None:
    more = "faster" if kind == "codec" else "sooner"
    assert f"grpc {did} 100 µs {more} than rest" in said(summary(setting({"rest": 0.3, "grpc": 0.2}, kind=kind)))


# ---- what forbids an answer


def test_a_check_that_failed_for_one_names_it_and_leaves_the_others_answer() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}))
    lost = replace(run.comparisons[0], standing="cannot tell", ratio=None, interval=None, why="grpc failed reply")
    run = replace(run, comparisons=(lost, run.comparisons[1]), checks=(check("reply", run.cells[1].id),))
    found = conclude(run)
    assert (found.ahead, found.cannot_answer) == (("cbor",), False)
    assert "grpc" not in found.sentence
    assert found.more[0] == found.left_out == "Left out: the check “reply” failed for grpc."
    assert "grpc" not in found.advice


def withheld(run: RunSummary, *failed: str) -> RunSummary:
    """The run in which these cells failed a check."""
    run = replace(run, checks=tuple(check("reply", cell) for cell in failed))
    return replace(run, comparisons=withhold(run.comparisons, invalid_cells(run.cells, run.checks)))


def in_flight(*numbers: int) -> RunSummary:
    return summary(*(setting({"rest": 0.3, "grpc": 0.2}, concurrency=number) for number in numbers))


def test_what_failed_in_one_setting_does_not_speak_for_the_other() -> None:
    run = in_flight(1, 16)
    found = conclude(withheld(run, run.cells[2].id, run.cells[3].id))
    assert found.sentence.startswith("With 1 in flight: grpc answered 100 µs sooner than rest (")
    assert found.left_out == "Left out: the check “reply” failed for rest and grpc in 2 of 4 measurements."
    assert found.advice.startswith("See first why a check failed in part of the run: `orch check`. ")


def test_of_few_repeats_a_check_that_failed_for_one_is_not_why_nothing_is_compared() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}))
    few = tuple(
        replace(c, interval=None, standing="cannot tell", why="1 of at least 3 blocks") for c in run.comparisons
    )
    assert not conclude(withheld(replace(run, comparisons=few), run.cells[1].id)).cannot_answer


def overloaded(cell: str, planned: float, delivered: float | None) -> CheckResult:
    overload = Overload(planned_per_s=planned, delivered_per_s=delivered)
    return replace(check("event stream", cell), overload=overload)


def test_a_stack_that_does_not_keep_up_is_a_finding_beside_the_answer_of_the_others() -> None:
    stacks = {"rest": 0.3, "grpc": 0.2, "cbor": 0.25}
    run = summary(*(setting(stacks, concurrency=number, kind="stream") for number in (1, 5, 10)))
    slow = [cell for cell in run.cells if cell.stack_label == "cbor"][1:]
    checks = tuple(
        overloaded(cell.id, rate, share) for cell, rate, share in zip(slow, (5e3, 1e4), (3e3, 4e3), strict=True)
    )
    run = replace(run, checks=checks)
    found = conclude(replace(run, comparisons=withhold(run.comparisons, invalid_cells(run.cells, run.checks))))
    assert found.ahead == ("grpc",)
    assert [(o.cell, o.stack_label, o.overload.planned_per_s, o.overload.delivered_per_s) for o in found.overloads] == [
        (slow[0].id, "cbor", 5e3, 3e3),
        (slow[1].id, "cbor", 1e4, 4e3),
    ]
    assert found.left_out == "Left out: cbor does not keep up with 5,000 and 10,000 events/s here."
    assert "orch check" not in found.advice


def test_a_rate_that_nobody_keeps_up_with_leaves_no_answer_and_says_so() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}, kind="stream"))
    checks = tuple(overloaded(cell.id, 5e3, delivered) for cell, delivered in zip(run.cells, (3e3, None), strict=True))
    found = conclude(replace(run, checks=checks))
    assert found.cannot_answer
    assert {o.stack_label for o in found.overloads} == {"rest", "grpc"}


def test_a_cell_that_fails_for_something_else_too_is_no_overload() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2, "cbor": 0.25}))
    cell = run.cells[2].id
    assert overloads(run.cells, (overloaded(cell, 5e3, None), check("reply", cell))) == ()
    assert len(overloads(run.cells, (overloaded(cell, 5e3, None), check("noise", cell)))) == 1


def test_settings_that_could_not_be_compared_are_no_part_of_all() -> None:
    run = in_flight(1, 4, 16)
    found = conclude(withheld(run, run.cells[5].id))
    assert "in 1 of 6 measurements" in found.left_out
    assert "grpc's lead over rest on `add` " in found.sentence
    assert "with 4 in flight" in found.sentence
    assert "16" not in found.sentence


def test_a_setting_with_too_few_repeats_is_no_part_of_the_answer_either() -> None:
    run = in_flight(1, 16)
    few = replace(run.comparisons[1], interval=None, standing="cannot tell", why="2 of at least 3 blocks")
    assert conclude(replace(run, comparisons=(run.comparisons[0], few))).sentence.startswith("With 1 in flight: grpc ")


def test_where_it_turns_names_how_many_settings_could_not_be_compared() -> None:
    found = [
        setting({"rest": 0.3, "grpc": grpc, "soap": 0.9}, concurrency=n) for n, grpc in ((1, 0.4), (4, 0.2), (16, 0.2))
    ]
    middle = [replace(c, interval=None, standing="cannot tell", why="2 of at least 3 blocks") for c in found[1][1]]
    assert said(summary(found[0], (found[1][0], middle), found[2])) == (
        "With 1 in flight rest answered soonest, from 16 in flight on grpc answered soonest; "
        "1 setting could not be compared."
    )


def test_who_is_slower_than_the_reference_is_not_among_those_who_may_be_first() -> None:
    """`open` has the lowest median and is not told apart from anybody; rest is surely ahead of `late`."""
    cells, _ = setting({"rest": 1.0, "open": 0.95, "late": 1.2})
    rows = [
        beside(cells[1], cells[0], (0.80, 1.13)),
        beside(cells[2], cells[0], (1.06, 1.36)),
    ]
    found = conclude(summary((cells, rows)))
    assert found.sentence.startswith("open and rest answered soonest, and cannot be told apart")
    assert "late latest" in found.sentence
    assert "late" not in found.advice


def test_long_names_leave_room_for_the_answer() -> None:
    long = [f"{letter * 30} (fastapi, requests, with pydantic)" for letter in "abcdef"]
    run = summary(setting({name: 0.2 + place / 10 for place, name in enumerate(long)}))
    failed = [cell.id for cell in run.cells[3:]]
    rows = tuple(
        replace(c, standing="cannot tell", ratio=None, interval=None) if c.cell in failed else c
        for c in run.comparisons
    )
    found = conclude(replace(run, comparisons=rows, checks=tuple(check("reply", cell) for cell in failed)))
    assert found.sentence.startswith("aaaaaaaa")
    assert (len(found.sentence) <= 240, len(found.left_out) <= 240) == (True, True)
    assert found.left_out


def test_a_check_that_failed_for_all_is_the_answer() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}), checks=(check("reply", None),))
    found = conclude(run)
    assert found.sentence == "This run cannot answer: the check “reply” failed for rest and grpc."
    assert (found.matters_from, found.sure, found.ahead) == ("", "", ())


@pytest.mark.parametrize("shares", [{"foreign": 0.3}, {"foreign": 1.46}, {"steal": 0.6}, {"throttled": 0.9}])
def test_a_difference_that_noise_leaves_is_an_answer(shares: dict[str, float]) -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    found = conclude(replace(run, checks=(noisy(run.cells[0].id, **shares),)))
    assert not found.cannot_answer
    assert found.ahead == ("grpc",)
    assert found.invalid_because == ""


def open_run(**more: Any) -> RunSummary:
    """Two stacks of which nothing is resolved."""
    return summary(setting({"rest": 0.3, "grpc": 0.2}, width=2.0), **more)


def test_a_run_that_resolves_nothing_beside_other_programs_cannot_answer() -> None:
    run = open_run()
    assert not conclude(run).cannot_answer
    loud = conclude(replace(run, checks=(noisy(run.cells[0].id, foreign=0.5),)))
    assert loud.cannot_answer
    assert loud.figures == conclude(run).figures


def test_a_run_that_shared_its_machine_cannot_answer_only_where_it_resolves_nothing() -> None:
    shared = (SHARED,)
    assert conclude(open_run(warnings=shared)).cannot_answer
    found = conclude(summary(setting({"rest": 0.3, "grpc": 0.2}), warnings=shared))
    assert found.ahead == ("grpc",)


def test_sides_that_were_disturbed_unequally_leave_no_answer_where_nothing_else_is_resolved() -> None:
    run = open_run()
    unequal = tuple(replace(c, reason="disturbed unequally") for c in run.comparisons)
    assert conclude(replace(run, comparisons=unequal)).cannot_answer
    more = setting({"rest": 0.3, "grpc": 0.2}, placement="far")
    both = replace(run, cells=(*run.cells, *more[0]), comparisons=(*unequal, *more[1]))
    assert not conclude(both).cannot_answer


def test_some_noise_makes_the_answer_a_careful_one() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}))
    found = conclude(replace(run, checks=(noisy(run.cells[0].id, foreign=0.3),)))
    assert found.sentence.startswith("On a busy machine: grpc answered 100 µs sooner than rest")
    assert found.advice.startswith("Repeat it on a quiet machine before you rely on it")


def test_noise_of_a_cell_that_is_not_compared_says_nothing() -> None:
    run = summary(setting({"rest": 0.3, "grpc": 0.2}), checks=(noisy("elsewhere", foreign=1.5),))
    assert said(run).startswith("grpc answered")


def test_a_run_that_was_cut_says_so() -> None:
    rest, grpc = (replace(cell_of(label, 0.3), planned_trials=10) for label in ("rest", "grpc"))
    run = summary(([rest, grpc], [beside(grpc, rest, None)]), state="interrupted")
    found = conclude(run)
    assert found.sentence == "This run cannot answer: it was interrupted after 10 of 20 trials."
    assert found.advice == "Continue it: `orch run --resume`."


def test_nothing_to_compare_is_said_with_what_was_measured() -> None:
    assert said(summary(([cell_of("rest", 0.3)], []))) == (
        "rest took at most 300 µs for half of its requests (294 to 306 µs); nothing was measured beside it."
    )
