"""requesters together: whether several requesters asked one stack at the same time, so that their rates add up.

Req/s of a trial is the sum of its hosts' rates, each over its own window. That is a rate which the stack carried only
as far as the windows overlap. The processes of one host have one clock, and their replies are counted over one window.

The clocks of two hosts are never compared. A host sent its first request after orch told it to measure, and what it had
recorded before it printed `warm` and `done` was over when orch read these lines, on the one clock there. So a host's
window is known to lie within about a round trip, and the overlap between a least and a most: the check passes by the
least, and fails by the most.

Limits: below nine tenths of the longest window the sum overstates what was carried by more than differences that matter,
and below half it is no longer the declared load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from orchestrator import quantities
from orchestrator.checks.base import CALLS, STREAMS, Check, Finding, cannot_tell, in_most, passes
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence

NAME = "requesters together"
_FAIL, _WARN = 0.5, 0.9


@dataclass(frozen=True, kw_only=True)
class Window:
    """First send and last reply of the measured phase, and the last reply of the warm-up (None without), ns of one clock."""

    begin_ns: int
    end_ns: int
    warm_ns: int | None


@dataclass(frozen=True, kw_only=True)
class _Host:
    """What all requesters of a host have in common of their windows, and by how much its clock may be ahead of orch's."""

    begin_ns: int
    end_ns: int
    least_ahead_ns: int
    most_ahead_ns: int


def observe(samples: Samples) -> Window | None:
    """The window on the requester's own clock; None without a request in the measured phase."""
    if not samples.measured:
        return None
    warm = samples.columns["received_ns"][samples.columns["phase"] == 0]
    return Window(
        begin_ns=int(samples.sent_ns[0]),
        end_ns=int(samples.received_ns.max()),
        warm_ns=int(warm.max()) if warm.size else None,
    )


def judge(cell: CellEvidence) -> list[Finding]:
    """The trial whose windows overlap least; none with one requester."""
    if cell.requesters < 2:
        return []
    findings = []
    for trial in cell.trials:
        windows = [(part, seen) for other, part, seen in cell.parts(NAME) if other is trial]
        findings.append(_finding(cell, trial, windows))
    return in_most(findings, len(cell.trials))


def _finding(cell: CellEvidence, trial: TrialEvidence, windows: Sequence[tuple[Part, Window]]) -> Finding:
    evidence: dict[str, object] = {"trial": trial.record.index, "requesters": cell.requesters}
    by_host: dict[str, list[tuple[Part, Window]]] = {}
    for part, seen in windows:
        by_host.setdefault(part.host, []).append((part, seen))
    hosts = {name: _host(seen, is_alone=len(by_host) == 1) for name, seen in by_host.items()}
    known = {name: host for name, host in hosts.items() if host is not None}
    if len(windows) < cell.requesters or len(known) < len(hosts):
        return cannot_tell(
            "When each requester's window was is not known: whether they overlap is unknown.",
            "Check that every requester got replies, waited for `measure`, and has `anchor_end` in its `done` line.",
            evidence | {"known": len(windows), "unknown": sorted(hosts.keys() - known.keys())},
        )
    return _judged(cell, trial, windows, known, evidence)


def _host(windows: Sequence[tuple[Part, Window]], *, is_alone: bool) -> _Host | None:
    """A host's requesters together; None where nothing relates its clock to the one here. Alone it need not."""
    begin_ns, end_ns = max(seen.begin_ns for _, seen in windows), min(seen.end_ns for _, seen in windows)
    if is_alone:
        return _Host(begin_ns=begin_ns, end_ns=end_ns, least_ahead_ns=0, most_ahead_ns=0)
    least, most = [], []
    for part, seen in windows:
        if part.heard is None:
            return None
        most.append(seen.begin_ns - part.heard.told_ns)
        if seen.warm_ns is not None:
            least.append(seen.warm_ns - part.heard.warm_ns)
        if part.done.anchor_end is not None:
            least.append(part.done.anchor_end.monotonic_ns - part.heard.done_ns)
    if not least:
        return None
    return _Host(begin_ns=begin_ns, end_ns=end_ns, least_ahead_ns=max(least), most_ahead_ns=min(most))


def _judged(
    cell: CellEvidence,
    trial: TrialEvidence,
    windows: Sequence[tuple[Part, Window]],
    hosts: Mapping[str, _Host],
    evidence: dict[str, object],
) -> Finding:
    longest_ns = max(seen.end_ns - seen.begin_ns for _, seen in windows)
    spans = [
        (h.begin_ns - max(h.most_ahead_ns, h.least_ahead_ns), h.begin_ns - h.least_ahead_ns, h.end_ns - h.begin_ns)
        for h in hosts.values()
    ]
    least_ns = min([length for *_, length in spans] + [a[0] + a[2] - b[1] for a, b in permutations(spans, 2)])
    most_ns = min([length for *_, length in spans] + [a[1] + a[2] - b[0] for a, b in permutations(spans, 2)])
    least, most = ((max(0, ns) / longest_ns if longest_ns > 0 else 1.0) for ns in (least_ns, most_ns))
    begins, ends = _apart([(first, last) for first, last, _ in spans]), _apart([(a + n, b + n) for a, b, n in spans])
    if len(hosts) == 1:  # its requesters apart, on their one clock
        begins, ends = (
            max(moments) - min(moments)
            for moments in ([seen.begin_ns for _, seen in windows], [seen.end_ns for _, seen in windows])
        )
    evidence = evidence | {
        "overlap": least,
        "overlap_at_most": most,
        "begins_apart_s": begins / 1e9,
        "ends_apart_s": ends / 1e9,
        "known_to_s": max(last - first for first, last, _ in spans) / 1e9,
    }
    every = "both" if cell.requesters == 2 else f"all {cell.requesters}"
    many = len(hosts) > 1
    for_so_long = f"{'at least ' if many else ''}{quantities.percent(least)} of the longest"
    measured = f"In {trial.called} {every} requesters' windows overlap for {for_so_long}"
    within = f"; they began within {quantities.ns(begins)} of each other" if many else ""
    apart = "the sum of their rates exceeds what was carried at any one time"
    if not many:  # their replies are counted over one window
        apart = "for the rest of the time less than the declared load was asked"
    if cell.cell.kind == "stream":
        apart = "their clients were not all sent events at the same time"
    if least >= _WARN:
        return passes(f"{measured}{within}.", evidence, weight=-least)
    if most >= _WARN:
        return cannot_tell(
            f"{measured} and at most {quantities.percent(most)}: when each began is not known better than that.",
            "Measure for longer, so that what passes between a host's words and orch weighs less.",
            evidence,
            weight=-least,
        )
    return Finding(
        "fail" if most < _FAIL else "warn",
        f"{measured}{f', at most {quantities.percent(most)}' if many else ''}: {apart}.",
        "Give the load a duration, so that all end together.",
        evidence,
        weight=-least,
    )


def _apart(moments: Sequence[tuple[int, int]]) -> int:
    """How far the moments can be apart at most, each known to lie between two."""
    return max([0, *(latest[1] - earliest[0] for latest, earliest in permutations(moments, 2))])


CHECK = Check(name=NAME, severity="serious", kinds=CALLS | STREAMS, observe=observe, judge=judge)
