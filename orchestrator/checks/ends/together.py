"""requesters together: whether several requesters asked one stack at the same time, so that their rates add up.

Req/s of a trial is the sum of its hosts' rates, each over its own window. That is a rate which the stack carried only
as far as the windows overlap. The processes of one host have one clock, and their replies are counted over one window.

The clocks of two hosts are never compared: a host's window begins when orch told it to measure, by the one clock there.
Its first request is later by the way of one word, which is short beside a window.

Limits: below nine tenths of the longest window the sum overstates what was carried by more than differences that matter,
and below half it is no longer the declared load.
"""

from __future__ import annotations

from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, in_most
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.findings.check_result import CheckVerdict

NAME = "requesters together"
_FAIL, _WARN = 0.5, 0.9

Window = tuple[int, int]
"""First send and last reply, ns of one clock."""


def observe(samples: Samples) -> Window | None:
    """The window on the requester's own clock; None without a request in the measured phase."""
    return (int(samples.sent_ns[0]), int(samples.received_ns.max())) if samples.measured else None


def judge(cell: CellEvidence) -> list[Finding]:
    """The trial whose windows overlap least; none with one requester."""
    if cell.requesters < 2:
        return []
    return in_most([_finding(cell, trial) for trial in cell.trials], len(cell.trials))


def _finding(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    evidence: dict[str, object] = {"trial": trial.record.index, "requesters": cell.requesters}
    has_hosts = len({part.host for part in trial.parts}) > 1
    windows = [window for part in trial.parts if (window := _window(part, has_hosts=has_hosts))]
    if len(windows) < cell.requesters:
        return cannot_tell("unknown", evidence | {"known": len(windows)})
    begins, ends = zip(*windows, strict=True)
    longest_ns = max(end - begin for begin, end in windows)
    overlap = max(0, min(ends) - max(begins)) / longest_ns if longest_ns > 0 else 1.0
    evidence |= {
        "overlap": overlap,
        "begins_apart_s": (max(begins) - min(begins)) / 1e9,
        "ends_apart_s": (max(ends) - min(ends)) / 1e9,
    }
    apart = "streams-apart" if cell.cell.kind == "stream" else "hosts-apart" if has_hosts else "processes-apart"
    verdict: CheckVerdict = "pass" if overlap >= _WARN else "fail" if overlap < _FAIL else "warn"
    return Finding.of(verdict, "overlap" if verdict == "pass" else apart, evidence, weight=-overlap)


def _window(part: Part, *, has_hosts: bool) -> Window | None:
    """The window by a clock that all requesters of the trial have in common; None where nothing relates theirs to it."""
    window: Window | None = part.seen.get(NAME)
    if window is None or not has_hosts:
        return window
    if part.heard is None:
        return None
    return part.heard.told_ns, part.heard.told_ns + window[1] - window[0]


CHECK = Check(name=NAME, severity="serious", kinds=CALLS | STREAMS, observe=observe, judge=judge)
