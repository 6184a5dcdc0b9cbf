"""The suite fails on every broken end in the case that names its promise, and in no others than stand here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.broken import requesters, responders
from tests.conformance.broken.run import FILES, PROMISES, failing

COUNTS = "test_lines_rows_and_requests_agree"
CHECKED = "test_both_ends_are_checked_on_connections_of_their_own"
KEPT = "test_kept_connections_carry_both_phases"
LANES = "test_as_many_connections_are_kept_as_requests_are_in_flight"
PER_REQUEST = "test_per_request_means_a_connection_for_every_request"
ALONE = "test_one_request_at_a_time_is_one_in_flight"
RECORD = "test_the_record_is_that_of_the_page_byte_for_byte"
STAMPS = "test_stamps_are_in_order_and_of_one_clock"
KINDS = "test_errors_are_counted_by_their_kind"
ONCE = "test_nothing_is_asked_twice"
TIME_OUT = "test_a_time_out_is_kept_and_is_no_more_than_that"
FIFTY = "test_fifty_failures_in_a_row_end_a_trial_and_the_rows_stay"
CARRIED = "test_requests_carry_what_the_generator_gives"
HELD = "test_it_holds_back_the_measured_phase"
DUE = "test_requests_are_due_when_the_page_says_and_none_is_sent_before"
NOT_SENT = "test_what_was_due_and_not_sent_is_entered_and_is_no_error"
ENDS_EARLY = "test_it_ends_early_and_the_rows_stay"
PROGRESS = "test_progress_comes_at_most_once_a_second"
GARBAGE = "test_a_line_that_is_no_trial_is_refused"
VERSION = "test_another_version_is_refused_by_name"
WRONG_CHECK = "test_a_wrong_reply_to_the_check_ends_it"
SMOKE = "test_the_smoke_test_stops_after_the_check"

READY = "test_ready_says_who_it_is"
ACCEPTS = "test_it_accepts_connections_once_it_says_ready"
IDENTITY = "test_it_answers_with_the_identity_it_was_given"
STATS = "test_stats_count_requests_and_peers"
UNKNOWN_LINE = "test_an_unknown_line_on_stdin_is_passed_over"
ENDS = "test_it_ends_with_status_0_while_connections_are_open"
STDOUT = "test_stdout_carries_nothing_but_lines"
NO_LINE = "test_it_can_be_ended_before_it_has_a_line"
NO_SERVE_LINE = "test_a_line_that_is_no_serve_line_is_refused"
NOT_OFFERED = "test_what_there_is_not_is_refused"
PORT = "test_it_listens_on_the_port_it_was_given"
TAKEN = "test_a_port_that_is_taken_is_refused"
MANY = "test_many_connections_are_answered_at_once"
REPLIES = "test_every_message_is_answered_rightly"
ERRORS = "test_what_is_no_message_gets_an_error_and_others_an_answer"

# Of each broken end: the case that names the promise it breaks, and what else fails for it.
RESPONDERS: dict[str, tuple[str, set[str]]] = {
    "WrongIdentity": (READY, set()),
    "AnotherIdentityOnTheWire": (IDENTITY, set()),
    "ReadyBeforeListening": (
        ACCEPTS,
        {IDENTITY, STATS, UNKNOWN_LINE, ENDS, STDOUT, MANY, REPLIES, ERRORS},
    ),
    "AnotherPort": (PORT, {TAKEN}),
    "WrongSum": (REPLIES, {MANY}),
    "ErrorsAsReplies": (ERRORS, set()),
    "AnyVersionWillDo": (VERSION, set()),
    "NoStrictReading": (NO_SERVE_LINE, set()),
    "TextOnStdout": (STDOUT, {STATS, UNKNOWN_LINE}),
    "StaysWhenStdinCloses": (ENDS, {STDOUT}),
    "IgnoresSigterm": (ENDS, set()),
    "EndsWithAnotherStatus": (ENDS, set()),
    "CrashesOnGarbage": (UNKNOWN_LINE, {NO_LINE, NO_SERVE_LINE, VERSION, NOT_OFFERED}),
    "WrongCounts": (STATS, set()),
    "NoLastWords": (NO_SERVE_LINE, {NO_LINE, VERSION, NOT_OFFERED, TAKEN}),
    "PassesKnobsOver": (NOT_OFFERED, set()),
}
REQUESTERS: dict[str, tuple[str, set[str]]] = {
    "AnyIdentityWillDo": ("test_another_responder_is_refused", set()),
    "AnyReplyIsRight": (KINDS, {WRONG_CHECK}),
    "NoHeader": (
        RECORD,
        {COUNTS, KEPT, LANES, PER_REQUEST, ALONE, STAMPS, KINDS, TIME_OUT, FIFTY, DUE, NOT_SENT, ENDS_EARLY},
    ),
    "AnotherVersionOfTheRecord": (
        RECORD,
        {COUNTS, KEPT, LANES, PER_REQUEST, ALONE, STAMPS, KINDS, TIME_OUT, FIFTY, DUE, NOT_SENT, ENDS_EARLY},
    ),
    "StampsSwapped": (STAMPS, {ALONE, TIME_OUT, DUE}),
    "WrongCounts": (COUNTS, {KINDS, CARRIED}),
    "RetriesInSilence": (ONCE, {KINDS}),
    "KeepsWhatItShouldClose": (PER_REQUEST, set()),
    "OneConnectionTooMany": (KEPT, {LANES, PER_REQUEST, CHECKED}),
    "OpensAnewForEveryRequest": (KEPT, {LANES, CHECKED}),
    "CrashesOnGarbage": (GARBAGE, {VERSION}),
    "WrongKind": (KINDS, {FIFTY}),
    "SendsBeforeItIsDue": (DUE, {NOT_SENT}),
    "AnotherSchedule": (DUE, {NOT_SENT}),
    "ForgetsWhatWasNotSent": (NOT_SENT, set()),
    "GivesUpTooEarly": (TIME_OUT, set()),
    "NeverGivesUp": (TIME_OUT, set()),
    "AnotherGenerator": (CARRIED, {ONCE}),
    "TextOnStdout": (SMOKE, set()),
    "ChecksOnOneConnection": (CHECKED, {KEPT, LANES, PER_REQUEST}),
    "StaysWhenStdinCloses": (ENDS_EARLY, set()),
    "CarriesOnAfterFiftyFailures": (FIFTY, set()),
    "DoesNotWait": (HELD, set()),
    "WarmUpIsMeasured": (COUNTS, {STAMPS, DUE, NOT_SENT, HELD, FIFTY}),
    "ProgressOfEveryRequest": (PROGRESS, set()),
}
BROKEN = [("respond", name, *found) for name, found in RESPONDERS.items()]
BROKEN += [("request", name, *found) for name, found in REQUESTERS.items()]


def test_every_broken_end_has_its_case():
    assert (RESPONDERS.keys(), REQUESTERS.keys()) == (responders.BROKEN.keys(), requesters.BROKEN.keys())
    for role, _, named, others in BROKEN:
        cases = "".join((PROMISES / file).read_text(encoding="utf-8") for file in FILES[role])
        assert all(f"def {case}(" in cases for case in {named, *others})


@pytest.mark.busy
@pytest.mark.parametrize(("role", "name"), [("respond", "WrongSum"), ("request", "AnotherSchedule")])
def test_the_suite_finds_it(tmp_path: Path, role: str, name: str):
    named = {"respond": RESPONDERS, "request": REQUESTERS}[role][name][0]
    assert failing(role, name, tmp_path, only=named) == {named}


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("role", "name", "named", "others"), [pytest.param(*case, id="-".join(case[:2])) for case in BROKEN]
)
def test_the_suite_finds_it_and_accuses_no_others(tmp_path: Path, role: str, name: str, named: str, others: set[str]):
    found = failing(role, name, tmp_path)
    assert named in found
    assert found <= {named, *others}
