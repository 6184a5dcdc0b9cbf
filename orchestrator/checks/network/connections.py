"""connections: as many as the policy implies, by the requester's count and by the peers that the responder saw.

Under `reuse`, connections that were opened again are counted against the requests, whatever made it necessary. Fewer than
declared are a fault, too: a library may put several channels on one connection.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.checks.base import CALLS, Check, Finding, fails, not_reported, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.findings.trial_values import COUNTED_BY
from orchestrator.statistics.quantiles import distinct

# A peer is an address and a port. Linux hands ports out by chance, from one parity first: half of its default range.
_PORTS = 28_232 / 2
_FEWEST = 0.8  # of the ports that chance would give: a pool that keeps connections stays far below
_RECONNECTS = 0.005  # of the requests
_ALWAYS_ALLOWED = 1  # one lost connection says nothing, however few requests there are
_EACH_HAS_CARRIED = 20  # requests for each connection, from which on in a closed loop each of them has had one
_FEW_UNUSED = 0.1  # of the declared ones: a worker may have got no CPU time


@dataclass(frozen=True, kw_only=True)
class Carried:
    """Requests of the measured phase, how many of them succeeded, and how many connections carried those.

    `used`: how many carried any, right reply or not.
    """

    measured: int
    ok: int
    connections: int
    used: int


def observe(samples: Samples) -> Carried:
    """By the numbers that the requester gave its connections."""
    carried = samples.connection[samples.ok]
    return Carried(
        measured=samples.measured,
        ok=int(carried.size),
        connections=distinct(carried),
        used=distinct(samples.connection[samples.connection >= 0]),
    )


def judge(cell: CellEvidence) -> Iterator[Finding]:
    """Both counts of every trial."""
    if cell.cell.connection == "per-request":
        yield from (_per_request(cell, *part) for part in cell.parts(NAME))
        return
    yield from (_reuse(cell, *part) for part in cell.parts(NAME))
    missing = [finding for trial in cell.trials if (finding := _missing_peers(cell, trial)) is not None]
    often = 2 * sum(beyond > 0 for beyond, _ in missing) > len(missing)
    yield from (finding for beyond, finding in missing if beyond > (0 if often else 1))


def _ports_of(cell: CellEvidence, trial: TrialEvidence) -> float:
    """How many different ports a trial's requests use at all hosts; the processes of one draw theirs from the same.

    Each is drawn by chance: n connections use ports (1 - e^(-n / ports)) of them.
    """
    requests: Counter[str] = Counter()
    for other, part, seen in cell.parts(NAME):
        requests[part.host] += seen.ok if other is trial else 0
    return sum(_PORTS * -math.expm1(-number / _PORTS) for number in requests.values())


def _peers(trial: TrialEvidence) -> int | None:
    before, after = trial.record.stats_before, trial.record.stats
    return None if before is None or after is None or not after.answered else after.peers - before.peers


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
        return fails("pooled" if peers is None else "pooled-by-both-counts", evidence, fewest=fewest)
    return _counted(cell, evidence, "one-for-each")


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
    implied = sum(p.connections * cell.cell.connections_each + cell.check_requests for p in trial.parts)
    of_trial = sum(carried.measured for each, _, carried in cell.parts(NAME) if each is trial)
    own, at_responder = max(carried - declared, (opened or 0)), (peers or 0) - implied
    many, share, extra, among = max(
        (count > max(_RECONNECTS * n, _ALWAYS_ALLOWED), count / max(n, 1), count, n)
        for count, n in ((own, requests), (at_responder, of_trial))
    )
    if extra > 0:
        external = cell.stack.external  # whose call may end with a number of events, and not with the stream
        leaves = external is not None and any(call.get("events") for call in external.each_call)
        finds = fails if many and not leaves else warns
        kind = "extra-at-events" if leaves else "extra"
        return finds(kind, evidence, weight=extra, extra=extra, among=among, share=share)
    unused = declared - seen.used
    is_kept = not cell.operation.mix  # an operation with a small share leaves its connection idle
    if is_kept and unused > 0 and not cell.is_open_loop and requests >= _EACH_HAS_CARRIED * declared:
        finds = fails if unused > max(_FEW_UNUSED * declared, _ALWAYS_ALLOWED) else warns
        return finds("shared", evidence | {"used": seen.used}, weight=unused)
    return _counted(cell, evidence, "kept")


def _missing_peers(cell: CellEvidence, trial: TrialEvidence) -> tuple[int, Finding] | None:
    """How many peers fewer than by chance a responder saw than the requesters used connections, the checks' among them."""
    peers, seen = _peers(trial), [part.seen[NAME] for part in trial.parts if NAME in part.seen]
    if peers is None or not seen:
        return None
    carried = cell.cell.connections_each * sum(part.connections for part in seen)
    of_the_check = cell.check_requests * len(seen)
    short = carried + of_the_check - peers
    # So many may have a port of the checks' again: one more in some trials, but not in most.
    again = cell.check_requests * len(trial.parts) * sum(part.connections for part in trial.parts) / _PORTS
    by_chance = int(again + 4 * math.sqrt(again))
    evidence = {"trial": trial.record.index, "policy": "reuse", "carried_by": carried, "peers": peers}
    finding = fails("fewer-by-responder", evidence, weight=short, of_the_check=of_the_check)
    return short - by_chance, finding


def _counted(cell: CellEvidence, evidence: dict[str, object], kind: str) -> Finding:
    return not_reported("peers", evidence, cell) if evidence["peers"] is None else passes(kind, evidence)


NAME = COUNTED_BY
CHECK = Check(name=NAME, severity="serious", kinds=CALLS, observe=observe, judge=judge)
