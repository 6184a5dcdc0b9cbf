"""Words of the checks in `orchestrator/checks/replies`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.wording.checks.vocabulary import Words
from services.python.contract.lines import EXHAUSTED_REMEDY

_CODEC_SIZE: Mapping[str, Words] = {
    "encoded-received": "{body_bytes:,.0f} bytes of an encoded reply, as the content needs.",
    "encoded-sent": "{body_bytes:,.0f} bytes of an encoded request, as the content needs.",
    "enough": "{body_bytes:,.0f} bytes of body {way} per request, as the payload needs.",
    "less-than-bodies": (
        "The wire carried {wire_bytes:,.0f} bytes {way} per request, bodies {body_bytes:,.0f}.",
        "Check whether bodies are compressed or miscounted, or connections closed before being counted.",
    ),
    "less-than-payload": (
        "{body_bytes:,.0f} bytes {way} per request cannot hold the {content_bytes:,} bytes of payload.",
        "Check whether the payload was sent at all, or was compressed: see the stack's settings.",
    ),
    "more-than-compressed": (
        "The wire carried {wire_bytes:,.0f} bytes {way} per request, more than compressed bodies of {body_bytes:,.0f}"
        " account for.",
        "Check both ends' settings for uncompressed bodies, and `lost packets` for retransmissions.",
    ),
    "unknown-wire": (
        "{body_bytes:,.0f} bytes of body {way} per request; the bytes on the wire are unknown.",
        "Measure on Linux with `connection: reuse`, where TCP_INFO counts them.",
    ),
}
_LOST = "Do not publish this cell, as the missing requests may be the slowest. See the requester's output under logs/."
_RESUME = "See the manifest and logs/ for why trials failed; `orch run --resume` goes on with a run that was cut."
_EMPTY = "{failed} failed[, {empty} ended without a measured request or with an empty window]."
_COMPLETENESS: Mapping[str, Words] = {
    "answered": "The responder answered {answered:,}, as recorded.",
    "answered-less": "the responder answered only {answered:,} of {recorded:,} recorded requests",
    "answered-more": "the responder answered {answered:count request}, {recorded:,} were recorded",
    "events": "{trials:count trial}, each with events of its own.",
    "few-trials": (f"{{finished}} of {{planned:count planned trial}} gave samples, {_EMPTY}", _RESUME),
    "gaps": "{absent:count sequence number} missing and {repeated} repeated",
    "incomplete": ("", _LOST),
    "never-sent": "{never_sent:count request} recorded as not sent, which is impossible in a closed loop",
    "no-trial": (f"No trial of this cell gave a sample: {{planned:count trial}} planned, {_EMPTY}", _RESUME),
    "out-of-place": "{out_of_place:count warm-up request} fell within the measured phase",
    "recorded-call": "{rows:count request}, each recorded once.",
    "recorded-codec": "{rows:count message}, each recorded once.",
    "recorded-task": "{rows:count task}, each recorded once.",
    "reported-otherwise": "the requester reported {said} rows and {requests} measured ones, the record holds {recorded} and"
    " {measured}",
}
_EXHAUSTED = f"The requester's host had no local port or file descriptor left: {EXHAUSTED_REMEDY}"
_FIND = "Find out why requests fail: the table counts them by kind"
_REPLY: Mapping[str, Words] = {
    "another-responder": (
        "Another responder answered: it identified itself as {identity_met:repr}, not {identity_expected:repr}.",
        "Find out what else listens at that address, on the responder's host or between the hosts.",
    ),
    "decoded": "{counted:count message}, each decoded to what had been encoded.",
    "exhausted": ("", f"{_EXHAUSTED}[, before comparing how long they take{{moves:if}}]."),
    "expected": "{counted:count reply|replies} verified by what the call expects",
    "moves": (
        "{missing:no_reply}: enough to move {moved:listed}, which the report shows.",
        f"{_FIND}, before comparing how long they take.",
    ),
    "moves-nothing": (
        "{missing:no_reply}: too few to move a percentile shown; each counts as slower than every reply.",
        "See the errors by kind in the table.",
    ),
    "none-right": ("{missing:no_reply}: there is no percentile to show.", f"{_FIND}."),
    "not-checked": (
        "{counted:count reply|replies} succeeded; whether they are right was not checked.",
        "Give the stack's `call` an `expect`.",
    ),
    "outcome": "{outcome}: {times:,}, warm-up included",
    "unreported": (
        "The requester did not report which responder answered or how many replies it verified.",
        "Use a requester that prints `identity` and `verified` in its `done` line.",
    ),
    "unverified": (
        "{unverified:,} of {counted:,} counted replies were never verified.",
        "Verify every reply in the requester: the latency of an unread reply means nothing.",
    ),
    "verified": "{counted:count reply|replies} verified, from the responder of this run.",
    "wrong": (
        "{wrong:count wrong reply|wrong replies}, counted as errors: the responder is faulty.",
        "See `error_examples` in journal.jsonl for one, fix the responder, and measure again.",
    ),
}
WORDS: Mapping[str, Mapping[str, Words]] = {"codec size": _CODEC_SIZE, "completeness": _COMPLETENESS, "reply": _REPLY}
