"""requesters together: whether several requesters asked one stack at the same time, so that their rates add up.

Req/s of a trial is the sum of its hosts' rates, each over its own window. That is a rate which the stack carried only
as far as the windows overlap: two requesters one after the other are the rate of one, twice. The window of each is put on
the wall clock by the anchors that it took (`clocks` looks after those), so the overlap is known as far as the hosts' clocks
agree: milliseconds with NTP, of windows of seconds. The processes of one host have one clock, and their replies are counted
over one window; but what is in no more than one process's was under less than the declared load.

Limits: requesters that end with a number of requests and not with time end apart, by what they differ in speed; below nine
tenths of the longest window the sum overstates what was carried by more than differences that matter, and below half it is
no longer the load that was declared. The clients of a stream are declared to be sent events all at once, whoever reads them.
"""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import CALLS, STREAMS, Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence

NAME = "requesters together"
_FAIL, _WARN = 0.5, 0.9

Window = tuple[int, int]


def observe(samples: Samples) -> Window | None:
    """First send and last reply of the measured phase, on the requester's own clock."""
    return (int(samples.sent_ns[0]), int(samples.received_ns.max())) if samples.measured else None


def judge(cell: CellEvidence) -> Finding | None:
    """The trial whose windows overlap least; None with one requester."""
    if cell.requesters < 2:
        return None
    findings = []
    for trial in cell.trials:
        offsets = _offsets(trial)
        windows = [_on_the_wall(offsets, part, seen) for of, part, seen in cell.parts(NAME) if of is trial]
        findings.append(_finding(cell, trial, windows))
    return worst(findings)


def _offsets(trial: TrialEvidence) -> dict[str, int]:
    """By how much each host's wall clock is ahead of its monotonic one; its processes have one of each."""
    found: dict[str, int] = {}
    for part in trial.parts:
        if anchor := part.done.anchor:
            found.setdefault(part.host, anchor.wall_ns - anchor.monotonic_ns)
    return found


def _on_the_wall(offsets: dict[str, int], part: Part, seen: Window | None) -> Window | None:
    if seen is None or part.host not in offsets:
        return None
    return seen[0] + offsets[part.host], seen[1] + offsets[part.host]


def _finding(cell: CellEvidence, trial: TrialEvidence, windows: list[Window | None]) -> Finding:
    known = [window for window in windows if window is not None]
    if len(known) < cell.requesters:
        return Finding(
            verdict="cannot tell",
            evidence={"trial": trial.record.index, "requesters": cell.requesters, "known": len(known)},
            explanation="Not every requester reported a window with anchors: whether their windows overlap is unknown.",
            action="Check that every requester got replies, and that its `done` line holds `anchor`.",
        )
    longest = max(end - begin for begin, end in known)
    common = max(0, min(end for _, end in known) - max(begin for begin, _ in known))
    share = common / longest if longest > 0 else 1.0
    evidence = {
        "trial": trial.record.index,
        "requesters": len(known),
        "overlap": share,
        "begins_apart_s": (max(begin for begin, _ in known) - min(begin for begin, _ in known)) / 1e9,
        "ends_apart_s": (max(end for _, end in known) - min(end for _, end in known)) / 1e9,
    }
    every = "both" if len(known) == 2 else f"all {len(known)}"
    measured = f"In {trial.called} {every} requesters' windows overlap for {words.percent(share)} of the longest"
    apart = "the sum of their rates exceeds what was carried at any one time"
    hosts_agree = ", and check that the hosts' clocks agree (NTP)"
    if len({part.host for part in trial.parts}) == 1:  # their replies are counted over one window
        apart, hosts_agree = "for the rest of the time less than the declared load was asked", ""
    if cell.cell.kind == "stream":
        apart = "their clients were not all sent events at the same time"
    if share >= _WARN:
        return Finding(verdict="pass", evidence=evidence, weight=-share, explanation=f"{measured}.")
    return Finding(
        verdict="fail" if share < _FAIL else "warn",
        evidence=evidence,
        weight=-share,
        explanation=f"{measured}: {apart}.",
        action=f"Give the load a duration, so that all end together{hosts_agree}.",
    )


CHECK = Check(name=NAME, severity="serious", kinds=CALLS | STREAMS, observe=observe, judge=judge)
