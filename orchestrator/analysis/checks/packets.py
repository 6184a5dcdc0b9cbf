"""lost packets: what TCP had to send again, which costs a request some 200 ms that no protocol can be blamed for.

The requester's connections count their own (TCP_INFO); where that is not known, and for the replies, all TCP of the host
counts (/proc/net/snmp). On one host both directions are in one count, and TCP_INFO's alone is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, TrialEvidence

_SHARE = 0.001  # of the requests
_ALWAYS_ALLOWED = 2  # so many are no rate yet

Packets = tuple[int, int]  # sent again, sent


def judge(cell: CellEvidence) -> Finding | None:
    """Both directions of every trial."""
    return worst([_finding(cell, trial) for trial in cell.trials])


def _finding(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    asked = [_of_requester(part.done) for part in trial.parts]
    answered = None
    if cell.placement.kind != "local":
        answered = _grown(trial.record.stats_before.get("host") or {}, trial.record.stats.get("host") or {})
    requests = sum(part.done.get("requests", 0) for part in trial.parts)
    known = [count for count in (*asked, answered) if count is not None]
    again, sent = sum(count[0] for count in known), sum(count[1] for count in known)
    evidence = {
        "trial": trial.record.index,
        "requests": requests,
        "sent_again_by_requester": None if None in asked else sum(count[0] for count in asked if count),
        "sent_again_by_responder": None if answered is None else answered[0],
        "packets": sent,
    }
    if None in asked:
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation="Neither the connections nor the host say how many packets were sent again.",
            action="Linux counts them; elsewhere, see whether slow requests lie 200 ms apart from the others.",
        )
    told = f"{again:,} of {sent:,} packets ({words.percent(again / sent if sent else 0.0, 2)}) were sent again"
    if again > max(_SHARE * requests, _ALWAYS_ALLOWED):
        return Finding(
            verdict="warn",
            evidence=evidence,
            weight=again / max(requests, 1),
            explanation=f"{told}, in {trial.called} of {requests:,} requests.",
            action="Each costs its request 200 ms or more: percentiles show the network's loss, not the stack's own time.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{told}.")


def _of_requester(done: Mapping[str, Any]) -> Packets | None:
    wire = done.get("wire") or {}
    if wire.get("retransmits") is not None and wire.get("segments_sent") is not None:
        return wire["retransmits"], wire["segments_sent"]
    return _grown(done.get("host_before") or {}, done.get("host_after") or {})


def _grown(before: Mapping[str, Any], after: Mapping[str, Any]) -> Packets | None:
    """What a host's counters (services/harness/counters.py) of TCP grew by; None where it has none."""
    first, last = before.get("tcp"), after.get("tcp")
    if not first or not last:
        return None
    return last["retransmits"] - first["retransmits"], last["segments_sent"] - first["segments_sent"]


CHECK = Check(name="lost packets", severity="note", judge=judge)
