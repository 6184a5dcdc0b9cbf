"""connections: as many as the policy implies, by the requester's count and by the peers that the responder saw.

Under `reuse`, connections that were opened again are counted against the requests, whatever made it necessary: that each
follows an error explains them and does not make the requests on fresh connections those of kept ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import CALLS, Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence

# A peer is an address and a port. Linux hands ports out by chance, from one parity first: half of its default range.
_PORTS = 28_232 / 2
_FEWEST = 0.8  # of the ports that chance would give: a pool that keeps connections stays far below
_CHECK_CONNECTIONS = 2
_RECONNECTS = 0.005  # of the requests
_ALWAYS_ALLOWED = 1  # one lost connection says nothing, however few requests there are


@dataclass(frozen=True, kw_only=True)
class Carried:
    """Requests of the measured phase, how many of them succeeded, and how many connections carried those."""

    measured: int
    ok: int
    connections: int


def observe(samples: Samples) -> Carried:
    """By the numbers that the requester gave its connections."""
    carried = samples.connection[samples.ok]
    return Carried(measured=samples.measured, ok=int(carried.size), connections=int(np.unique(carried).size))


def judge(cell: CellEvidence) -> Finding | None:
    """Both counts of every trial."""
    check = _per_request if cell.cell.connection == "per-request" else _reuse
    findings = [check(cell, trial, part, seen) for trial, part, seen in cell.parts(NAME)]
    return worst(findings)


def distinct_ports(connections: int) -> float:
    """How many different ports so many connections use when each is drawn by chance: ports (1 - e^(-n / ports))."""
    return _PORTS * -math.expm1(-connections / _PORTS)


def _ports_of(cell: CellEvidence, trial: TrialEvidence) -> float:
    """How many different ports a trial's requests use at all hosts; the processes of one draw theirs from the same."""
    requests: dict[str, int] = {}
    for of, part, seen in cell.parts(NAME):
        if of is trial:
            requests[part.host] = requests.get(part.host, 0) + seen.ok
    return sum(distinct_ports(number) for number in requests.values())


def _peers(trial: TrialEvidence) -> int | None:
    before, after = trial.record.stats_before, trial.record.stats
    return None if before is None or after is None else after.peers - before.peers


def _per_request(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Carried) -> Finding:
    requests, carried = seen.ok, seen.connections
    opened, peers = part.done.connections_opened, _peers(trial)
    evidence = {
        "trial": trial.record.index,
        "policy": "per-request",
        "requests": requests,
        "opened": opened,
        "carried_by": carried,
        "peers": peers,
    }
    fewest = min(n for n in (opened, carried) if n is not None)
    few_peers = peers is not None and peers < _FEWEST * _ports_of(cell, trial)
    if fewest < requests or few_peers:
        met = f", the responder saw {words.count(peers, 'peer')}" if peers is not None else ""
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=(
                f"{words.count(requests, 'request')} used {words.count(fewest, 'connection')}{met}: not one for each."
            ),
            action="Turn off the client's connection pool, or declare `connection: reuse`.",
        )
    return _counted(cell, evidence, f"{words.count(requests, 'request')}, a connection for each", peers)


def _reuse(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Carried) -> Finding:
    requests, carried = seen.measured, seen.connections
    opened, peers = part.done.connections_opened, _peers(trial)
    declared = part.connections
    evidence = {
        "trial": trial.record.index,
        "policy": "reuse",
        "requests": requests,
        "opened": opened,
        "carried_by": carried,
        "peers": peers,
        "declared": declared,
        "errors": sum(trial.errors.values()),
    }
    implied = sum(of.connections + _CHECK_CONNECTIONS for of in trial.parts)
    of_trial = sum(other.measured for of, _, other in cell.parts(NAME) if of is trial)
    own, at_responder = max(carried - declared, (opened or 0)), (peers or 0) - implied
    many, _, extra, among = max(_reopened(own, requests), _reopened(at_responder, of_trial))
    if extra > 0:
        return Finding(
            verdict="fail" if many else "warn",
            evidence=evidence,
            explanation=(
                f"{words.count(extra, 'extra connection')} in {words.count(among, 'request')} "
                f"({words.percent(extra / max(among, 1))}), beyond the declared "
                f"{words.count(declared, 'connection')} kept open."
            ),
            action="Find out whether the responder or a device on the path closes connections, or the client opens "
            "its own: these are not latencies of kept connections.",
        )
    if (
        peers is not None
        and declared < part.load.concurrency
        and peers < sum(other.connections for of, _, other in cell.parts(NAME) if of is trial) + len(trial.parts)
    ):
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=(
                f"{words.count(carried, 'shared connection')} by the requester's count, and the responder saw no more than "
                f"{words.count(peers, 'peer')}, those of the check among them: the library used fewer."
            ),
            action="Find out whether the client's library puts several channels on one connection.",
        )
    return _counted(
        cell, evidence, f"{words.count(requests, 'request')} over {words.count(carried, 'kept connection')}", peers
    )


def _reopened(extra: int, requests: int) -> tuple[bool, float, int, int]:
    """Whether so many extra connections among so many requests are many, then their share, and both numbers."""
    return extra > max(_RECONNECTS * requests, _ALWAYS_ALLOWED), extra / max(requests, 1), extra, requests


def _counted(cell: CellEvidence, evidence: dict[str, object], measured: str, peers: int | None) -> Finding:
    if peers is None:
        why = words.NOT_OURS if cell.is_external else "the responder did not count its peers"
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"{measured}, by the requester's count alone: {why}.",
            action="Use a responder that orch starts, and that prints `peers` in its `stats` line.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{measured}; the responder saw {peers:,} peers.")


NAME = "connections"
CHECK = Check(name=NAME, severity="serious", kinds=CALLS, observe=observe, judge=judge)
