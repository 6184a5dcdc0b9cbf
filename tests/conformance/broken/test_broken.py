"""The suite fails on every broken end in the case that names its promise, and on those of `OTHERS` in nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.broken import requesters, responders
from tests.conformance.broken.run import FILES, PROMISES, failing

COUNTS = "test_lines_rows_and_requests_agree"
CHECKED = "test_both_ends_are_checked_on_connections_of_their_own"
KEPT = "test_kept_connections_carry_both_phases"
ANNOUNCED = "test_an_announced_close_is_a_new_connection_and_no_error"
GENERATED = "test_requests_carry_what_the_generator_gives"
LANES = "test_as_many_connections_are_kept_as_requests_are_in_flight"
PER_REQUEST = "test_per_request_means_a_connection_for_every_request"
RECORD = "test_the_record_is_that_of_the_page_byte_for_byte"
STAMPS = "test_stamps_are_in_order_and_of_one_clock"
KINDS = "test_errors_are_counted_by_their_kind"
ONCE = "test_nothing_is_asked_twice"
TIME_OUT = "test_a_time_out_is_kept_and_is_no_more_than_that"
FIFTY = "test_fifty_failures_in_a_row_end_a_trial_and_the_rows_stay"
CARRIED = "test_requests_carry_what_the_generator_gives"
HELD = "test_it_holds_back_the_measured_phase"
WORD = "test_it_measures_once_it_may"
MOMENT = "test_it_measures_from_the_moment_that_it_is_told"
DUE = "test_requests_are_due_when_the_page_says_and_none_is_sent_before"
NOT_SENT = "test_what_was_due_and_not_sent_is_entered_and_is_no_error"
RESTS = "test_each_worker_rests_as_long_as_the_page_says"
ENDS_EARLY = "test_it_ends_early_and_the_rows_stay"
PROGRESS = "test_progress_comes_at_most_once_a_second"
GARBAGE = "test_a_line_that_is_no_trial_is_refused"
VERSION = "test_another_version_is_refused_by_name"
SMOKE = "test_the_smoke_test_stops_after_the_check"

MIXED = "test_each_request_asks_what_the_seed_draws_and_its_row_says_so"
MIX_KEPT = "test_each_worker_has_a_kept_connection_for_each_operation"

PARTS = "test_a_task_is_a_row_and_its_calls_directly_follow_it"
OWN_REQUESTS = "test_each_call_of_a_task_has_a_request_of_its_own"
ONE_CONNECTION = "test_per_request_means_one_connection_for_a_whole_task"
FAILED_TASK = "test_a_task_ends_with_the_call_that_fails_and_keeps_the_parts_it_had"
DUE_TASKS = "test_in_an_open_loop_a_task_is_due_and_not_its_calls"

TURNS = "test_each_turn_has_a_warm_up_and_a_window_and_nothing_is_sent_between"
IDLE = "test_who_waits_for_a_turn_uses_no_cpu"
NO_TURNS = "test_what_has_no_turns_is_refused"

CODED = "test_each_message_is_encoded_and_decoded"
ONLY_OF_A_CALL = "test_what_only_a_call_has_is_refused"

READY = "test_ready_says_who_it_is"
ACCEPTS = "test_it_accepts_connections_once_it_says_ready"
IDENTITY = "test_it_answers_with_the_identity_it_was_given"
STATS = "test_stats_count_requests_and_peers"
UNKNOWN_LINE = "test_an_unknown_line_on_stdin_is_passed_over"
ENDS = "test_it_ends_with_status_0_while_connections_are_open"
STDOUT = "test_stdout_carries_nothing_but_lines"
NO_SERVE_LINE = "test_a_line_that_is_no_serve_line_is_refused"
NOT_OFFERED = "test_what_there_is_not_is_refused"
SCHEMA = "test_a_schema_that_cannot_be_used_is_refused"
CERTIFICATE = "test_a_responder_whose_certificate_cannot_be_used_does_not_start"
AUTHORITY = "test_a_trial_without_the_authority_that_it_needs_is_refused"
PORT = "test_it_listens_on_the_port_it_was_given"
TAKEN = "test_a_port_that_is_taken_is_refused"
TOLD = "test_it_may_be_told_what_it_will_be_asked"
MANY = "test_many_connections_are_answered_at_once"
REPLIES = "test_every_message_is_answered_rightly"
ERRORS = "test_what_is_no_message_gets_an_error_and_others_an_answer"

# Of each broken end: the case that names the promise it breaks.
RESPONDERS = {
    "WrongIdentity": READY,
    "AnotherIdentityOnTheWire": IDENTITY,
    "ReadyBeforeListening": ACCEPTS,
    "AnotherPort": PORT,
    "WrongSum": REPLIES,
    "ErrorsAsReplies": ERRORS,
    "AnyVersionWillDo": VERSION,
    "NoStrictReading": NO_SERVE_LINE,
    "TextOnStdout": STDOUT,
    "StaysWhenStdinCloses": ENDS,
    "IgnoresSigterm": ENDS,
    "EndsWithAnotherStatus": ENDS,
    "CrashesOnGarbage": UNKNOWN_LINE,
    "WrongCounts": STATS,
    "NoLastWords": NO_SERVE_LINE,
    "PassesKnobsOver": NOT_OFFERED,
    "PassesASchemaOver": SCHEMA,
    "PassesACertificateOver": CERTIFICATE,
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
    "StampsSwapped": STAMPS,
    "WrongCounts": COUNTS,
    "RetriesInSilence": ONCE,
    "KeepsWhatItShouldClose": PER_REQUEST,
    "OneConnectionTooMany": KEPT,
    "OpensAnewForEveryRequest": KEPT,
    "CrashesOnGarbage": GARBAGE,
    "WrongKind": KINDS,
    "SendsBeforeItIsDue": DUE,
    "AnotherSchedule": DUE,
    "RestsTooShort": RESTS,
    "AnotherThinkTime": RESTS,
    "BeginsAllAtOnce": RESTS,
    "ForgetsWhatWasNotSent": NOT_SENT,
    "GivesUpTooEarly": TIME_OUT,
    "NeverGivesUp": TIME_OUT,
    "AnotherGenerator": CARRIED,
    "TextOnStdout": SMOKE,
    "ChecksOnOneConnection": CHECKED,
    "StaysWhenStdinCloses": ENDS_EARLY,
    "CarriesOnAfterFiftyFailures": FIFTY,
    "DoesNotWait": HELD,
    "MeasuresBeforeItMay": WORD,
    "MeasuresBeforeTheMoment": MOMENT,
    "WarmUpIsMeasured": COUNTS,
    "ProgressOfEveryRequest": PROGRESS,
    "ForgetsParts": PARTS,
    "PartsBeforeTheirTask": PARTS,
    "CallsOnConnectionsOfTheirOwn": ONE_CONNECTION,
    "TheSameRequestInEveryCall": OWN_REQUESTS,
    "GoesOnAfterACallThatFailed": FAILED_TASK,
    "CallsAreDue": DUE_TASKS,
    "CodesUnderAnyLoad": ONLY_OF_A_CALL,
    "EncodesAndDoesNotDecode": CODED,
    "AnotherMix": MIXED,
    "RowsOfTheFirstOperation": MIXED,
    "OneConnectionForAMix": MIX_KEPT,
    "PassesAnAuthorityOver": AUTHORITY,
    "MeasuresWithoutATurn": TURNS,
    "GoesOnBehindItsTurn": TURNS,
    "MeasuresTheBeginningOfATurn": TURNS,
    "CountsTurnsFromOne": TURNS,
    "SendsWhileOthersHaveTheirTurn": TURNS,
    "PollsForItsTurn": IDLE,
    "TakesTurnsUnderAnyLoad": NO_TURNS,
}
BROKEN = [("respond", name, named) for name, named in RESPONDERS.items()]
BROKEN += [("request", name, named) for name, named in REQUESTERS.items()]
LIGHT = {("respond", "WrongSum")}

# What else fails, of those that the whole suite was run against.
OTHERS: dict[tuple[str, str], set[str]] = {
    ("respond", "WrongIdentity"): set(),
    ("respond", "AnotherIdentityOnTheWire"): set(),
    ("respond", "ReadyBeforeListening"): {ENDS, ERRORS, IDENTITY, MANY, REPLIES, STATS, STDOUT, TOLD, UNKNOWN_LINE},
    ("respond", "AnotherPort"): {TAKEN},
    ("respond", "WrongSum"): {MANY},
    ("respond", "ErrorsAsReplies"): set(),
    ("respond", "AnyVersionWillDo"): set(),
    ("request", "AnyIdentityWillDo"): set(),
    ("request", "OpensAnewForEveryRequest"): {ANNOUNCED, GENERATED, LANES, MIX_KEPT, RESTS},
    ("request", "AnotherGenerator"): {ONCE},
}

OFTEN = {("respond", "ReadyBeforeListening"), ("respond", "ErrorsAsReplies"), ("request", "OpensAnewForEveryRequest")}


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
def test_the_suite_accuses_no_others(tmp_path: Path, request: pytest.FixtureRequest, role: str, name: str):
    """The whole suite against an end, half a minute each: a few, and all of them with `--conformance-all`."""
    if (role, name) not in OFTEN and not request.config.getoption("--conformance-all", default=False):
        pytest.skip("the whole suite against this end takes `pytest tests/conformance/broken --conformance-all`")
    named = {"respond": RESPONDERS, "request": REQUESTERS}[role][name]
    assert failing(role, name, tmp_path) == {named, *OTHERS[role, name]}
