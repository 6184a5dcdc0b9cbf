"""Codecs alone: which checks judge them and what those find, and how encoding, decoding and sizes are shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.between_runs.across import compare_runs
from orchestrator.checks import CHECKS
from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan.plan import Load
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise, summary_of_json
from tests.support import made_up
from tests.support.codec_runs import a_codec_run, codec_plan
from tests.support.judged import verdicts
from tests.support.runs import US, S, write_run

NOT_OF_A_CODEC = {
    "floor",
    "round-trips",
    "goodput",
    "Little's law",
    "connections",
    "offered load",
    "requesters together",
    "hosts alike",
    "responder's core",
    "CPU time",
    "lost packets",
    "event stream",
    "mix",
    "referee",
}


def test_a_clean_run_is_judged_and_what_needs_a_network_does_not_apply():
    found = verdicts(a_codec_run())
    judging = {check.name for check in CHECKS if "codec" in check.kinds}
    assert {name for name, verdict in found.items() if verdict == "not applicable"} == (
        found.keys() - judging | {"control"}
    )
    assert {verdict for name, verdict in found.items() if name in judging - {"control"}} == {"pass"}, found


def test_each_check_says_whether_it_judges_codecs_alone():
    assert {check.name for check in CHECKS if "codec" not in check.kinds} == NOT_OF_A_CODEC


def two_at_once(draft):
    rows = draft.columns
    rows["sent_ns"][1:] -= 90 * US
    rows["intended_ns"] = rows["sent_ns"]


def undecoded(draft):
    draft.done["verified"] = 0


def half_as_large(draft):
    draft.columns["bytes_sent"] //= 2


def decoded_late(draft):
    """What CBOR decodes, it decodes when its clock has stopped."""
    if draft.cell.stack.startswith("cbor"):
        rows = draft.columns
        later = np.arange(rows["sent_ns"].size) * 60 * US
        for name in ("intended_ns", "sent_ns", "received_ns"):
            rows[name] += later
        draft.done["anchor_end"]["monotonic_ns"] += int(later[-1])
        draft.done["anchor_end"]["wall_ns"] += int(later[-1])


def messages_of_two_kinds(draft):
    rows = draft.columns
    wait = np.where(np.arange(rows["sequence"].size) % 10 == 0, 2_000 * US, 0)
    shift = np.concatenate([[0], np.cumsum(wait)[:-1]])
    for name in ("intended_ns", "sent_ns", "received_ns"):
        rows[name] += shift
    rows["received_ns"] += wait
    for clock in draft.done["anchor_end"]:
        draft.done["anchor_end"][clock] += int(wait.sum())


def second_entry_slower(draft):
    if "-aa" in draft.cell.stack:
        rows = draft.columns
        shift = np.arange(rows["sent_ns"].size) * 60 * US
        for name in ("intended_ns", "sent_ns", "received_ns"):
            rows[name] += shift
        rows["received_ns"] += 60 * US
        for clock in draft.done["anchor_end"]:
            draft.done["anchor_end"][clock] += 100 * S


FAULTS = [
    (made_up.stamps_of_a_batch, "one stamp per sample", "fail"),
    (two_at_once, "in flight", "fail"),
    (made_up.place_in_line_as_latency, "queueing ramp", "fail"),
    (made_up.slow_samples_dropped, "completeness", "fail"),
    (made_up.wrong_replies, "reply", "fail"),
    (undecoded, "reply", "fail"),
    (decoded_late, "requester's own work", "fail"),
    (made_up.cold_start, "steady state", "warn"),
    (messages_of_two_kinds, "latency modes", "pass"),
    (made_up.clipped_tail, "tail shape", "warn"),
    (made_up.steal, "noise", "warn"),
    (made_up.pressure, "noise", "warn"),
    (made_up.foreign_work, "noise", "warn"),
    (made_up.a_clock_of_milliseconds, "clocks", "fail"),
    (made_up.a_clock_that_runs_backwards, "clocks", "fail"),
    (made_up.a_wall_clock_that_was_set, "clocks", "warn"),
]


@pytest.mark.parametrize(
    ("spoil", "check", "verdict"), FAULTS, ids=[f"{spoil.__name__}-{check}" for spoil, check, _ in FAULTS]
)
def test_a_check_finds_its_fault_in_a_codec_alone(spoil, check, verdict):
    assert verdicts(a_codec_run(spoil))[check] == verdict


MORE = [
    (half_as_large, "codec size", "fail", {"operation": made_up.BYTES}),
    (second_entry_slower, "control", "warn", {"controls": 1}),
    (None, "between trials", "warn", {"between": 0.4}),
    (None, "percentile support", "warn", {"load": Load(concurrency=1, requests=100)}),
]


@pytest.mark.parametrize(("spoil", "check", "verdict", "given"), MORE, ids=[case[1] for case in MORE])
def test_so_do_the_others(spoil, check, verdict, given):
    assert verdicts(a_codec_run(spoil, **given))[check] == verdict


def test_trials_in_two_groups_are_a_warning():
    slow = np.random.default_rng(1)

    def every_other_trial_by_chance(draft):
        if slow.integers(0, 2):
            draft.columns["received_ns"] += (draft.columns["received_ns"] - draft.columns["sent_ns"]) * 3 // 10

    assert verdicts(a_codec_run(every_other_trial_by_chance, controls=2, blocks=12))["trial modes"] == "warn"


def test_every_check_of_codecs_alone_has_a_fault_here():
    tried = {check for _, check, _ in FAULTS} | {check for _, check, *_ in MORE}
    assert {check.name for check in CHECKS if "codec" in check.kinds} - tried == {"trial modes", "order"}


def test_trials_in_another_order_are_found():
    run = a_codec_run()
    trials = list(run.stored.trials)
    trials[0], trials[1] = trials[1], trials[0]
    assert verdicts(replace(run, stored=replace(run.stored, trials=tuple(trials))))["order"] == "fail"


def with_gap(run, gap_ns):
    """The same with so many nanoseconds of each message in none of its parts."""
    files = {}
    for path, columns in run.files.items():
        is_part = columns["parent"] > 0
        shorter = np.where(is_part & (columns["sequence"] == 2), gap_ns, 0)
        files[path] = {**columns, "received_ns": columns["received_ns"] - shorter}
    return replace(run, files=files)


def own_work_of(run, stack):
    return next(
        check
        for check in summarise(run).checks
        if check.name == "requester's own work" and check.cell and check.cell.startswith(stack)
    )


def test_what_the_stamps_cost_beside_a_codec_is_said():
    little, much = (own_work_of(with_gap(a_codec_run(), gap), "cbor") for gap in (300, 10_000))
    assert (little.verdict, much.verdict) == ("pass", "warn")
    assert "neither encoding nor decoding" in much.explanation
    assert much.evidence["around_us"] == pytest.approx(10, rel=0.1)
    assert much.evidence["share_of_sum"] > 0.2


def test_a_machine_that_holds_up_some_messages_is_no_work_put_off():
    def held_up(draft):
        if draft.cell.stack.startswith("cbor"):
            rows = draft.columns
            held = np.where(np.arange(rows["sent_ns"].size) % 50 == 0, 10_000 * US, 0)
            for name in ("intended_ns", "sent_ns", "received_ns"):
                rows[name] += np.cumsum(held)
            for clock in draft.done["anchor_end"]:
                draft.done["anchor_end"][clock] += int(held.sum())

    assert own_work_of(a_codec_run(held_up), "cbor").verdict == "pass"


def test_who_says_that_fields_stay_unread_is_told_and_not_failed():
    run = a_codec_run(decoded_late)
    plan = {**run.stored.plan}
    declared = {"own_work": [{"name": "cbor2", "omits": "stops the clock before any field is read"}]}
    plan["resolved"] = {stack["id"]: declared if stack["protocol"] == "cbor" else {} for stack in plan["stacks"]}
    told = own_work_of(replace(run, stored=replace(run.stored, plan=plan)), "cbor")
    assert told.verdict == "warn"
    assert "stops the clock before any field is read" in told.action


def test_encoding_and_decoding_have_statistics_of_their_own():
    for cell in summarise(a_codec_run()).cells:
        assert cell.kind == "codec"
        assert [part.name for part in cell.parts] == ["encode", "decode"]
        assert sum(part.median for part in cell.parts) == pytest.approx(cell.distribution.median, rel=0.02)
        assert cell.body_bytes == (28, 28)
        assert cell.tcp_floor is cell.ping_floor is cell.wire_bytes is None


def test_a_stored_run_is_read_as_it_was_made(tmp_path):
    run = a_codec_run(blocks=3)
    folder = RunFolder.open(str(write_run(run, tmp_path / "results" / "20231114-synthetic")), root=tmp_path / "results")
    assert [cell.parts for cell in summarise(folder).cells] == [cell.parts for cell in summarise(run).cells]


def test_terminal_and_json_show_encoding_decoding_and_sizes():
    summary = summarise(a_codec_run())
    assert summary_of_json(summary.to_json()) == summary
    text = " ".join("\n".join(answer_lines(summary, width=120)).split())
    assert "encode, µs decode, µs request, bytes reply, bytes" in text


def test_the_report_shows_them_and_claims_no_floor():
    page = " ".join(render(summarise(a_codec_run())).split())
    for head in ("encode, µs", "decode, µs", "request, bytes"):
        assert f'<th scope="col">{head}</th>' in page
    assert "A codec alone asks nobody" in page
    assert "ping and a bare tcp exchange of as many bytes are measured" not in page


def test_two_runs_of_codecs_alone_can_be_compared():
    old, new = summarise(a_codec_run()), summarise(a_codec_run())
    rows = compare_runs(replace(new, run_id="20231115-synthetic"), old, "median").rows
    assert {row.group for row in rows} == {"add, local, 1,000 messages"}


def test_a_plan_of_codecs_alone_is_what_orch_plan_writes():
    assert {cell.parts for cell in codec_plan().cells} == {2}


def test_nothing_is_said_of_a_responder_connections_or_the_kernels_counters():
    summary = summarise(a_codec_run())
    page = render(summary)
    assert all(", ," not in c.group and c.group for c in summary.comparisons)
    assert dict(summary.conditions)["CPU pinning"] == "the requester alone; nobody answers"
    for text in ("fresh connection", 'href="#first"', "from the kernel's own counters", ", , "):
        assert text not in page
