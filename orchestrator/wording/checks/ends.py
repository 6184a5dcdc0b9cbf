"""Words of the checks in `orchestrator/checks/ends`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.wording.checks.vocabulary import Words

_CONTROL: Mapping[str, Words] = {
    "beyond-chance": (
        "The reference differs from itself by {differs:difference}, beyond chance.",
        "See `noise` for the cause, or raise `repeats`: differences no larger than this one are not resolved.",
    ),
    "invalid": (
        "The control is invalid: {failed_of:failed}. How far the reference differs from itself is unknown.",
        "Fix what those checks found, and measure again.",
    ),
    "too-few": (
        "{blocks:count block} with the control: too few to compare the reference with itself.",
        "Raise `repeats`.",
    ),
    "within-chance": "The reference differs from itself by {differs:difference}, within chance.",
}

_IDLE = "The {end} used {share:percent} of a CPU while it was idle"
_CPU_TIME: Mapping[str, Words] = {
    "busy": (
        _IDLE + ", in {called}: the other stacks had less of it in their turns.",
        "Give `turn: 'off'`, or look for what it does without requests: a thread that polls, a timer.",
    ),
    "idle": _IDLE,
}

_ENTERING = "{share:percent} of the time went into verifying and recording"
_PAUSE = "Between a reply and the next request lie {pause_us:us}, {share:percent} of the time"
_UNTIMED = ": work that is in no latency, and not in Req/s where the requester reports it."
_LONG_PAUSE = _PAUSE + "[, {excess_s:s} more than with {least}]" + _UNTIMED
_OWN_WORK: Mapping[str, Words] = {
    "entering": _ENTERING,
    "long-pause": (
        _LONG_PAUSE,
        "Check what the client does after its clock stops: decoding belongs before; verifying costs all alike.",
    ),
    "much-entering": (
        _ENTERING + ": up to that share of latency and throughput is the requester's own.",
        "Compare only with stacks that have as many in flight, lower the concurrency, or offer a lower rate.",
    ),
    "pause": _PAUSE,
    "too-few": (
        "Fewer than {fewest} requests one after the other: too few to judge the pauses between them.",
        "Ask for more requests per trial.",
    ),
    "unread-fields": (
        _LONG_PAUSE,
        "Compare it with what forwards messages, not with what reads them: {omitted:omitted}.",
    ),
}

_SLOWER = "That is slower by more than {within:.0%}: "
_QUIETER = "Raise `repeats`, or measure on a quieter machine."
_THINNER = "Measure with a thinner client as well (`raw`, say): if that agrees, the difference is this client's work."
_REFEREE: Mapping[str, Words] = {
    "across": ("The interval reaches beyond {within:.0%} and within it", _QUIETER),
    "agree": "Both agree within {within:.0%}",
    "differ": (
        "They differ by more than {within:.0%}: one of the two measures wrongly",
        "Look at the trials' other checks, and at what the program printed, under referee/; "
        "repeat on a quiet machine before you believe either.",
    ),
    "no-figures": ("{tool:name} gave no figures beside a trial of this cell.", "The run's warnings and logs/ say why."),
    "none-chosen": "No independent load generator measured this: none was chosen.",
    "ours-over-theirs": "Ours over {tool} {version}, in {rounds:count round}[; {lost:count more turn} gave no figures]: "
    "median {median:factor}[ ({median_bounds:bounds})], requests/s {rate:factor}[ ({rate_bounds:bounds})].",
    "refused": "No independent load generator measured this: {why}.",
    "slower-by-client": (_SLOWER + "the work of {client} is in it", _THINNER),
    "slower-by-core": (_SLOWER + "the requester used {cpu_share:.0%} of its core, and was the limit", _THINNER),
    "too-few": ("Too few rounds for an interval", _QUIETER),
}

_BRIEF = " for only {window_s:s}: the responder's CPU time may have gone into starting and ending the trial."
_BUSY = "{workers:core} was {cpu_share:percent} busy"
_AS_MAXIMUM = "Read throughput as the responder's maximum; for latency, lower the concurrency or the rate."
_RESPONDER_CORE: Mapping[str, Words] = {
    "brief-events": ("Events were sent" + _BRIEF, "Measure for {least_s:g} s or longer."),
    "brief-requests": ("Requests were made" + _BRIEF, "Measure for {least_s:g} s or longer."),
    "busy": _BUSY,
    "events-wait": (_BUSY + ": it is the bottleneck, and events wait for each other.", _AS_MAXIMUM),
    "requests-wait": (_BUSY + ": it is the bottleneck, and requests wait for each other.", _AS_MAXIMUM),
}

_OVERLAP = "In {called} {requesters:every} requesters' windows overlap for {overlap:percent} of the longest"
_END_ALIKE = "Give the load a duration, so that all end together."
_TOGETHER: Mapping[str, Words] = {
    "hosts-apart": (_OVERLAP + ": the sum of their rates exceeds what was carried at any one time.", _END_ALIKE),
    "overlap": _OVERLAP,
    "processes-apart": (_OVERLAP + ": for the rest of the time less than the declared load was asked.", _END_ALIKE),
    "streams-apart": (_OVERLAP + ": their clients were not all sent events at the same time.", _END_ALIKE),
    "unknown": (
        "When each requester's window was is not known: whether they overlap is unknown.",
        "Check that every requester got replies, and waited for `measure`.",
    ),
}

WORDS: Mapping[str, Mapping[str, Words]] = {
    "control": _CONTROL,
    "CPU time": _CPU_TIME,
    "referee": _REFEREE,
    "requester's own work": _OWN_WORK,
    "requesters together": _TOGETHER,
    "responder's core": _RESPONDER_CORE,
}
