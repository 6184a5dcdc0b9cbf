"""goodput: no more bytes per second than the link can carry; lost packets: what TCP had to send again.

For lost packets no protocol is to blame. The requester's connections count their own (TCP_INFO); where that is not known,
and for the replies, all TCP of the host counts (/proc/net/snmp), which is never less than the connections of one process on
it. On one host both directions are in one count, and TCP_INFO's alone is read. Of an external responder's way back nothing
is known; of HTTP/3 nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.checks.base import CALLS, NO_SIZES, Check, Finding, cannot_tell, fails, passes, warns, worst
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from services.python.contract.counters import HostCounters
from services.python.contract.requester_lines import Done

# No single core is known to copy memory faster than this; loopback TCP reaches a third of it.
LOOPBACK_MBIT = 200_000.0
_FRAMING = 1.02  # token buckets let a burst pass at the beginning
_SHARE = 0.001  # of the requests
_ALWAYS_ALLOWED = 2  # so many are no rate yet

Packets = tuple[int, int]  # sent again, sent


def judge_goodput(cell: CellEvidence) -> Finding | None:
    """The busiest trial's body bytes, in the direction that carries more."""
    rates = [(t.totals.goodput_mbit_per_s, t.record.index) for t in cell.trials if t.totals.goodput_mbit_per_s]
    if not rates:
        return NO_SIZES
    top, trial = max(rates)
    declared = cell.placement.link.rate_mbit
    limit = declared or (LOOPBACK_MBIT if cell.placement.kind == "local" else None)
    evidence = {"goodput_mbit_per_s": top, "limit_mbit_per_s": limit, "trial": trial}
    if limit is None:
        return cannot_tell("unknown-capacity", evidence)
    if top > limit * _FRAMING:
        return fails("impossible", evidence)
    return warns("link-is-the-limit", evidence) if declared and top > 0.9 * limit else passes("within", evidence)


def judge(cell: CellEvidence) -> Finding | None:
    """Both directions of every trial."""
    if cell.cell.is_over_quic:
        return cannot_tell("over-quic")
    return worst([_finding(cell, trial) for trial in cell.trials])


def _finding(cell: CellEvidence, trial: TrialEvidence) -> Finding:
    in_turns = bool(trial.record.turns)
    requesters = list(_of_requesters(trial, in_turns=in_turns))
    answered, before, after = None, trial.record.stats_before, trial.record.stats
    if cell.placement.kind != "local" and not in_turns and before is not None and after is not None:
        answered = _grown(before.host, after.host)
    requests = sum(part.done.requests for part in trial.parts)
    known = [count for count in (*requesters, answered) if count is not None]
    again, sent = sum(count[0] for count in known), sum(count[1] for count in known)
    evidence = {
        "trial": trial.record.index,
        "requests": requests,
        "sent_again_by_requester": None if None in requesters else sum(count[0] for count in requesters if count),
        "sent_again_by_responder": None if answered is None else answered[0],
        "packets": sent,
    }
    if None in requesters:
        return cannot_tell("not-counted", evidence)
    counted: dict[str, Any] = {"again": again, "share": again / sent if sent else 0.0}
    if cell.is_external and answered is None and not _are_many(again, requests):
        return cannot_tell("one-way", evidence, **counted)
    if _are_many(again, requests):
        return warns("many", evidence, weight=again / max(requests, 1), **counted)
    return passes("few", evidence, **counted)


def _are_many(again: int, requests: int) -> bool:
    return again > max(_SHARE * requests, _ALWAYS_ALLOWED)


def _of_requesters(trial: TrialEvidence, *, in_turns: bool) -> Iterator[Packets | None]:
    """Of each requester, what its connections counted; of a host where they do not, its own count, which holds them all.

    In turns a host's count holds the packets of other stacks, too: it tells something only where few were sent again.
    """
    hosts: dict[str, list[Done]] = {}
    for part in trial.parts:
        hosts.setdefault(part.host, []).append(part.done)
    for dones in hosts.values():
        wires = [done.wire for done in dones if done.wire is not None]
        if len(wires) == len(dones):
            yield from ((wire.retransmits, wire.segments_sent) for wire in wires)
            continue
        grown = [_grown(done.host_before, done.host_after) for done in dones]
        known = [packets for packets in grown if packets is not None]
        whole = max(known, key=lambda packets: packets[1]) if len(known) == len(dones) else None
        is_of_others = in_turns and whole is not None and _are_many(whole[0], sum(done.requests for done in dones))
        yield None if is_of_others else whole


def _grown(before: HostCounters | None, after: HostCounters | None) -> Packets | None:
    """What a host's counters of TCP grew by; None where it has none."""
    if before is None or after is None or before.tcp is None or after.tcp is None:
        return None
    return after.tcp.retransmits - before.tcp.retransmits, after.tcp.segments_sent - before.tcp.segments_sent


NAME = "lost packets"
CHECK = Check(name=NAME, severity="note", kinds=CALLS, judge=judge)
GOODPUT = Check(name="goodput", severity="fatal", kinds=CALLS, judge=judge_goodput)
