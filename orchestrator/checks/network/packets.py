"""lost packets: what TCP had to send again, for which no protocol is to blame.

The requester's connections count their own (TCP_INFO); where that is not known, and for the replies, all TCP of the host
counts (/proc/net/snmp), which is never less than the connections of one process on it. On one host both directions are in
one count, and TCP_INFO's alone is read. Of an external responder's way back nothing is known; of HTTP/3 nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator import quantities
from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, passes, warns, worst
from orchestrator.evidence.run_evidence import CellEvidence, TrialEvidence
from services.python.contract.counters import HostCounters
from services.python.contract.requester_lines import Done

_SHARE = 0.001  # of the requests
_ALWAYS_ALLOWED = 2  # so many are no rate yet
_TOO_MANY, _SLACK = 1.05, 50  # packets that a requester may count beyond its host, which is read at another moment
_ACTION = "Find out what drops or delays packets on the way; one that is missed by a time-out costs its request 200 ms."

Packets = tuple[int, int]  # sent again, sent


def judge(cell: CellEvidence) -> Finding | None:
    """Both directions of every trial."""
    if cell.cell.is_over_quic:
        return cannot_tell(
            "HTTP/3 is carried by QUIC, whose packets the ends' own library sends again: no kernel counts them, "
            "and what it counts of TCP is of others.",
            "Look for requests that take far longer than the median.",
        )
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
        return cannot_tell(
            "Neither the connections nor the hosts count the packets sent again for this cell alone.",
            "Measure on Linux, which counts them, or look for requests that take 200 ms longer than the median.",
            evidence,
        )
    if (wrong := _more_than_the_host(trial)) is not None:
        return replace(wrong, evidence=evidence | wrong.evidence)
    measured = f"{again:,} of {sent:,} packets ({quantities.percent(again / sent if sent else 0.0, 2)}) were sent again"
    if cell.is_external and answered is None and not _are_many(again, requests):
        return cannot_tell(
            f"{measured} by the requester; of the way back nothing is known: {quantities.NOT_OURS}.",
            "Use a responder that orch starts to count both ways.",
            evidence,
        )
    if _are_many(again, requests):
        return warns(
            f"{measured}, in {trial.called} of {quantities.count(requests, 'request')}.",
            _ACTION,
            evidence,
            weight=again / max(requests, 1),
        )
    return passes(f"{measured}.", evidence)


def _more_than_the_host(trial: TrialEvidence) -> Finding | None:
    """Find a requester whose connections report more packets than all TCP of its host."""
    for part in trial.parts:
        host, wire = _grown(part.done.host_before, part.done.host_after), part.done.wire
        if host is None or wire is None:
            continue
        counted = sum(host)  # the host counts what is sent again apart, TCP_INFO with the others
        if counted and wire.segments_sent > counted * _TOO_MANY + _SLACK:
            return warns(
                f"The requester says that its connections sent {wire.segments_sent:,} packets in {trial.called}, "
                f"and its host, in which they should be, counted {counted:,}: one of the two is wrong.",
                "Do not rely on packets and bytes per request here; latencies are not affected.",
                {"host_sent": counted, "said_to_be_sent": wire.segments_sent},
                weight=wire.segments_sent / max(counted, 1),
            )
    return None


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
