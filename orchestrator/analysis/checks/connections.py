"""connections: as many as the policy implies, by the requester's count and by the peers that the responder saw."""

from __future__ import annotations

import math

import numpy as np

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence

# A peer is an address and a port. Linux hands ports out by chance, from one parity first: half of its default range.
_PORTS = 28_232 / 2
_FEWEST = 0.8  # of the ports that chance would give: a pool that keeps connections stays far below
_CHECK_CONNECTIONS = 2
_RECONNECTS = 0.01  # of the requests: what failures may explain


def observe(samples: Samples) -> tuple[int, int]:
    """Successful measured requests, and how many connections carried them."""
    carried = samples.connection[samples.ok]
    return int(carried.size), int(np.unique(carried).size)


def judge(cell: CellEvidence) -> Finding | None:
    """Both counts of every trial."""
    check = _per_request if cell.cell.connection == "per-request" else _reuse
    findings = [check(cell, trial, part, *seen) for trial, part, seen in cell.parts(NAME)]
    return worst(findings)


def distinct_ports(connections: int) -> float:
    """How many different ports so many connections use when each is drawn by chance: ports (1 - e^(-n / ports))."""
    return _PORTS * -math.expm1(-connections / _PORTS)


def _peers(trial: TrialEvidence) -> int | None:
    before, after = trial.record.stats_before.get("peers"), trial.record.stats.get("peers")
    return None if before is None or after is None else after - before


def _per_request(_cell: CellEvidence, trial: TrialEvidence, part: Part, requests: int, carried: int) -> Finding:
    opened, peers = part.done.get("connections_opened"), _peers(trial)
    evidence = {
        "trial": trial.record.index,
        "policy": "per-request",
        "requests": requests,
        "opened": opened,
        "carried_by": carried,
        "peers": peers,
    }
    fewest = min(n for n in (opened, carried) if n is not None)
    few_peers = peers is not None and peers < _FEWEST * distinct_ports(requests) * len(trial.parts)
    if fewest < requests or few_peers:
        seen = f", the responder saw {peers:,} peers" if peers is not None else ""
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=f"{requests:,} requests went over {fewest:,} connections{seen}: not one for each.",
            action="The client keeps connections open by itself: turn its pool off, or declare `connection: reuse`.",
        )
    return _counted(evidence, f"{requests:,} requests, a connection for each", peers)


def _reuse(cell: CellEvidence, trial: TrialEvidence, part: Part, requests: int, carried: int) -> Finding:
    opened, peers = part.done.get("connections_opened"), _peers(trial)
    declared = cell.cell.load.concurrency
    evidence = {
        "trial": trial.record.index,
        "policy": "reuse",
        "requests": requests,
        "opened": opened,
        "carried_by": carried,
        "peers": peers,
        "declared": declared,
    }
    implied = (declared + _CHECK_CONNECTIONS) * len(trial.parts)
    extra = max(carried - declared, (opened or 0), (peers or 0) - implied)
    if extra > 0:
        many = extra > max(_RECONNECTS * requests, sum(trial.errors.values()))
        return Finding(
            verdict="fail" if many else "warn",
            evidence=evidence,
            explanation=(
                f"{extra:,} connections more than the {declared:,} that should have been kept open "
                f"({words.percent(extra / max(requests, 1))} of the requests)."
            ),
            action="Latencies hold handshakes: see whether the responder or something between closes connections.",
        )
    return _counted(evidence, f"{requests:,} requests over {carried:,} kept connections", peers)


def _counted(evidence: dict[str, object], told: str, peers: int | None) -> Finding:
    if peers is None:
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation=f"{told}, by the requester alone: the responder did not count its peers.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation=f"{told}; the responder saw {peers:,} peers.")


NAME = "connections"
CHECK = Check(name=NAME, severity="serious", observe=observe, judge=judge)
