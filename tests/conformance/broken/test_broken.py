"""The suite fails on every broken end in the case that names its promise, and on those of `OTHERS` in nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.broken import requesters, responders
from tests.conformance.broken.run import FILES, PROMISES, failing

COUNTS = "test_lines_rows_and_requests_agree"
KEPT = "test_kept_connections_carry_both_phases"
ANNOUNCED = "test_an_announced_close_is_a_new_connection_and_no_error"
RECORD = "test_the_record_is_that_of_the_page_byte_for_byte"
KINDS = "test_errors_are_counted_by_their_kind"
TIME_OUT = "test_a_time_out_is_kept_and_is_no_more_than_that"
CARRIED = "test_requests_carry_what_the_generator_gives"
DUE = "test_requests_are_due_when_the_page_says_and_none_is_sent_before"
RESTS = "test_each_worker_rests_as_long_as_the_page_says"
MIXED = "test_each_request_asks_what_the_seed_draws_and_its_row_says_so"
MIX_KEPT = "test_each_worker_has_a_kept_connection_for_each_operation"
PARTS = "test_a_task_is_a_row_and_its_calls_directly_follow_it"
TURNS = "test_each_turn_has_a_warm_up_and_a_window_and_nothing_is_sent_between"
IDENTITY = "test_it_answers_with_the_identity_it_was_given"
STATS = "test_stats_count_requests_and_peers"
UNKNOWN_LINE = "test_an_unknown_line_on_stdin_is_passed_over"
ENDS = "test_it_ends_with_status_0_while_connections_are_open"
STDOUT = "test_stdout_carries_nothing_but_lines"
NO_SERVE_LINE = "test_a_line_that_is_no_serve_line_is_refused"
NOT_OFFERED = "test_what_there_is_not_is_refused"
REPLIES = "test_every_message_is_answered_rightly"
ERRORS = "test_what_is_no_message_gets_an_error_and_others_an_answer"

# Of each broken end: the case that names the promise it breaks.
RESPONDERS = {
    "WrongIdentity": "test_ready_says_who_it_is",
    "AnotherIdentityOnTheWire": IDENTITY,
    "ReadyBeforeListening": "test_it_accepts_connections_once_it_says_ready",
    "AnotherPort": "test_it_listens_on_the_port_it_was_given",
    "WrongSum": REPLIES,
    "ErrorsAsReplies": ERRORS,
    "AnyVersionWillDo": "test_another_version_is_refused_by_name",
    "NoStrictReading": NO_SERVE_LINE,
    "TextOnStdout": STDOUT,
    "StaysWhenStdinCloses": ENDS,
    "IgnoresSigterm": ENDS,
    "EndsWithAnotherStatus": ENDS,
    "CrashesOnGarbage": UNKNOWN_LINE,
    "WrongCounts": STATS,
    "NoLastWords": NO_SERVE_LINE,
    "PassesKnobsOver": NOT_OFFERED,
    "PassesASchemaOver": "test_a_schema_that_cannot_be_used_is_refused",
    "PassesACertificateOver": "test_a_responder_whose_certificate_cannot_be_used_does_not_start",
    "PassesOperationsOver": NOT_OFFERED,
}
REQUESTERS = {
    "AnyIdentityWillDo": "test_another_responder_is_refused",
    "KeepsWhomItMetToItself": "test_without_an_identity_it_says_whom_it_met",
    "AsksTheAnonymous": "test_one_that_is_anonymous_is_not_asked_who_it_is",
    "AnyReplyIsRight": KINDS,
    "ForgetsThatAConnectionEnds": ANNOUNCED,
    "NoHeader": RECORD,
    "AnotherVersionOfTheRecord": RECORD,
    "StampsSwapped": "test_stamps_are_in_order_and_of_one_clock",
    "WrongCounts": COUNTS,
    "OverstatesItsPauses": "test_stamps_are_in_order_and_of_one_clock",
    "RetriesInSilence": "test_nothing_is_asked_twice",
    "KeepsWhatItShouldClose": "test_per_request_means_a_connection_for_every_request",
    "OneConnectionTooMany": KEPT,
    "OpensAnewForEveryRequest": KEPT,
    "CrashesOnGarbage": "test_a_line_that_is_no_trial_is_refused",
    "WrongKind": KINDS,
    "SendsBeforeItIsDue": DUE,
    "AnotherSchedule": DUE,
    "RestsTooShort": RESTS,
    "AnotherThinkTime": RESTS,
    "BeginsAllAtOnce": RESTS,
    "ForgetsWhatWasNotSent": "test_what_was_due_and_not_sent_is_entered_and_is_no_error",
    "GivesUpTooEarly": TIME_OUT,
    "NeverGivesUp": TIME_OUT,
    "AnotherGenerator": CARRIED,
    "TextOnStdout": "test_the_smoke_test_stops_after_the_check",
    "ChecksOnOneConnection": "test_both_ends_are_checked_on_connections_of_their_own",
    "StaysWhenStdinCloses": "test_it_ends_early_and_the_rows_that_were_verified_stay",
    "CarriesOnAfterFiftyFailures": "test_fifty_failures_in_a_row_end_a_trial_and_the_rows_stay",
    "DoesNotWait": "test_it_holds_back_the_measured_phase",
    "MeasuresBeforeItMay": "test_it_measures_once_it_may",
    "MeasuresBeforeTheMoment": "test_it_measures_from_the_moment_that_it_is_told",
    "WarmUpIsMeasured": COUNTS,
    "ProgressOfEveryRequest": "test_progress_comes_at_most_once_a_second",
    "ForgetsParts": PARTS,
    "PartsBeforeTheirTask": PARTS,
    "CallsOnConnectionsOfTheirOwn": "test_per_request_means_one_connection_for_a_whole_task",
    "TheSameRequestInEveryCall": "test_each_call_of_a_task_has_a_request_of_its_own",
    "GoesOnAfterACallThatFailed": "test_a_task_ends_with_the_call_that_fails_and_keeps_the_parts_it_had",
    "CallsAreDue": "test_in_an_open_loop_a_task_is_due_and_not_its_calls",
    "CodesUnderAnyLoad": "test_what_only_a_call_has_is_refused",
    "EncodesAndDoesNotDecode": "test_each_message_is_encoded_and_decoded",
    "AnotherMix": MIXED,
    "RowsOfTheFirstOperation": MIXED,
    "OneConnectionForAMix": MIX_KEPT,
    "PassesAnAuthorityOver": "test_a_trial_without_the_authority_that_it_needs_is_refused",
    "MeasuresWithoutATurn": TURNS,
    "GoesOnBehindItsTurn": TURNS,
    "MeasuresTheBeginningOfATurn": TURNS,
    "CountsTurnsFromOne": TURNS,
    "SendsWhileOthersHaveTheirTurn": TURNS,
    "PollsForItsTurn": "test_who_waits_for_a_turn_uses_no_cpu",
    "TakesTurnsUnderAnyLoad": "test_what_has_no_turns_is_refused",
}
BROKEN = [("respond", name, named) for name, named in RESPONDERS.items()]
BROKEN += [("request", name, named) for name, named in REQUESTERS.items()]
LIGHT = {("respond", "WrongSum")}

# What else fails, of those that the whole suite is run against: of a requester, the files that its promise is about.
AMONG = {"respond": "", "request": "trials or open_loop or mixes"}
OTHERS: dict[tuple[str, str], set[str]] = {
    ("respond", "ReadyBeforeListening"): {
        ENDS,
        ERRORS,
        IDENTITY,
        "test_many_connections_are_answered_at_once",
        REPLIES,
        STATS,
        STDOUT,
        "test_it_may_be_told_what_it_will_be_asked",
        UNKNOWN_LINE,
    },
    ("respond", "ErrorsAsReplies"): set(),
    ("request", "OpensAnewForEveryRequest"): {
        ANNOUNCED,
        CARRIED,
        "test_as_many_connections_are_kept_as_requests_are_in_flight",
        MIX_KEPT,
        RESTS,
    },
}

# Of requesters that meet the reference's responder through a relay, the cases that fail there.
OPENED_BY_THE_REQUEST = "test_a_connection_per_request_is_opened_after_its_clock_began"
ON_THE_WAY: dict[str, set[str]] = {
    "AnyReplyIsRight": {"test_a_reply_with_one_byte_altered_is_wrong", "test_several_in_flight_are_verified_too"},
    "KeepsWhatItShouldClose": {OPENED_BY_THE_REQUEST},
    "OneConnectionTooMany": {"test_kept_connections_are_kept_and_no_others_are_opened", OPENED_BY_THE_REQUEST},
}


def test_every_broken_end_has_its_case():
    assert (RESPONDERS.keys(), REQUESTERS.keys()) == (responders.BROKEN.keys(), requesters.BROKEN.keys())
    for role, _, named in BROKEN:
        assert f"def {named}(" in "".join((PROMISES / file).read_text(encoding="utf-8") for file in FILES[role])


@pytest.mark.busy
@pytest.mark.parametrize(
    ("role", "name", "named"),
    [
        pytest.param(*case, id="-".join(case[:2]), marks=() if case[:2] in LIGHT else pytest.mark.slow)
        for case in BROKEN
    ],
)
def test_the_suite_finds_it(tmp_path: Path, role: str, name: str, named: str):
    assert failing(role, name, tmp_path, only=named) == {named}


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.parametrize("name", ON_THE_WAY)
def test_a_relay_finds_it_whatever_the_protocol(tmp_path: Path, name: str):
    assert failing("request", name, tmp_path, meets=True) == ON_THE_WAY[name]


@pytest.mark.slow
@pytest.mark.busy
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("role", "name"), OTHERS)
def test_the_suite_accuses_no_others(tmp_path: Path, role: str, name: str):
    named = {"respond": RESPONDERS, "request": REQUESTERS}[role][name]
    assert failing(role, name, tmp_path, among=AMONG[role]) == {named, *OTHERS[role, name]}
