"""Codecs alone: which checks judge them and what those find, and how encoding, decoding and sizes are shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.checks import CHECKS
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import action
from tests.support import made_up
from tests.support.codec_runs import a_codec_run
from tests.support.drafts import longer
from tests.support.judged import verdicts
from tests.support.runs import US


def test_a_clean_run_is_judged_and_what_needs_a_network_does_not_apply():
    judgement = verdicts(a_codec_run())
    judging = {check.name for check in CHECKS if "codec" in check.kinds}
    assert {name for name, verdict in judgement.items() if verdict == "not applicable"} == (
        judgement.keys() - judging | {"control"}
    )
    assert {verdict for name, verdict in judgement.items() if name in judging - {"control"}} == {"pass"}, judgement


def two_at_once(draft):
    rows = draft.columns
    rows["sent_ns"][1:] -= 90 * US
    rows["intended_ns"] = rows["sent_ns"]


def undecoded(draft):
    draft.done["verified"] = 0


def decoded_late(draft):
    """What CBOR decodes, it decodes when its clock has stopped."""
    if draft.cell.stack.startswith("http+cbor"):
        rows = draft.columns
        later = np.arange(rows["sent_ns"].size) * 60 * US
        for name in ("intended_ns", "sent_ns", "received_ns"):
            rows[name] += later
        draft.done["anchor_end"]["monotonic_ns"] += int(later[-1])
        draft.done["anchor_end"]["wall_ns"] += int(later[-1])


def messages_of_two_kinds(draft):
    longer(draft, np.where(np.arange(draft.columns["sequence"].size) % 10 == 0, 2_000 * US, 0))


FAULTS = [
    (two_at_once, "in flight", "fail"),
    (made_up.slow_samples_dropped, "completeness", "fail"),
    (made_up.wrong_replies, "reply", "fail"),
    (undecoded, "reply", "fail"),
    (decoded_late, "requester's own work", "fail"),
    (messages_of_two_kinds, "latency modes", "pass"),
    (made_up.a_clock_of_milliseconds, "clocks", "fail"),
]


@pytest.mark.parametrize(
    ("spoil", "check", "verdict"), FAULTS, ids=[f"{spoil.__name__}-{check}" for spoil, check, _ in FAULTS]
)
def test_a_check_finds_its_fault_in_a_codec_alone(spoil, check, verdict):
    assert verdicts(a_codec_run(spoil))[check] == verdict


def own_work_of(run, stack):
    return next(
        check
        for check in summarise(run).checks
        if check.name == "requester's own work" and check.cell and check.cell.startswith(stack)
    )


def test_who_says_that_fields_stay_unread_is_told_and_not_failed():
    run = a_codec_run(decoded_late)
    plan = run.stored.plan
    declared = {"own_work": [{"name": "cbor2", "omits": "stops the clock before any field is read"}]}
    resolved = {stack.id: declared if stack.protocol == "http+cbor" else {} for stack in plan.stacks}
    run.stored = replace(run.stored, plan=replace(plan, resolved=resolved))
    described = own_work_of(run, "http+cbor")
    assert described.verdict == "warn"
    assert "stops the clock before any field is read" in action(described)


def test_encoding_and_decoding_have_statistics_of_their_own():
    for cell in summarise(a_codec_run()).cells:
        assert cell.kind == "codec"
        assert [part.name for part in cell.details.parts] == ["encode", "decode"]
        assert sum(part.median for part in cell.details.parts) == pytest.approx(cell.distribution.median, rel=0.02)
        assert cell.sizes.body == (28, 28)
        assert cell.floors.tcp is cell.floors.ping is cell.sizes.wire is None
