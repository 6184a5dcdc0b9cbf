"""hosts alike: whether one requester host's latencies differ from the others' by more than its own noise.

All hosts of a cell ask the same with an equal share of the load, and their samples are pooled. Where one is slow (a noisy
neighbour, another CPU, a longer way), the pool is of two kinds of latencies, and its median and its tail are nobody's. Each
trial gives each host's median over the median of the others' medians, as a logarithm. A host differs where the mean of these
over trials is a tenth or more, and too large for chance by Student's t at 5 % in all for the hosts compared.

Limits: it takes three trials. Of two to four hosts, one that is 20 % slower is found nine times in ten in five trials where
such ratios vary by up to 5 % from trial to trial (SD). Where nothing differs it warns in fewer than one cell of a hundred
there, and in about one of twenty at most however much they vary. Of two hosts nobody can tell which is the odd one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from orchestrator import quantities
from orchestrator.checks.base import CALLS, Check, Finding, cannot_tell, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, Samples
from orchestrator.experiment.model.factors import requesters_of
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import FEWEST_BLOCKS
from orchestrator.statistics.quantiles import quantile

NAME = "hosts alike"
MATTERS = log(1.1)
ALPHA = 0.05
_FEWEST = 10  # replies of a requester in a trial, for a median


@dataclass(frozen=True, kw_only=True)
class Odd:
    """By how much a host differs: `ratio` to the others, the chance `p` of that, and the SD of its trials' logs."""

    host: str
    ratio: float
    p: float
    sd: float


def observe(samples: Samples) -> float | None:
    """The median of a requester's right replies in ns; None with too few of them."""
    return quantile(samples.ordered_ns, 0.5) if samples.ordered_ns.size >= _FEWEST else None


def judge(cell: CellEvidence) -> Finding | None:
    """The host that differs most from the others; None with one."""
    if requesters_of(cell.cell.factors) < 2:
        return None
    trials = [medians for index in range(len(cell.trials)) if (medians := _medians(cell, index)) is not None]
    if len(trials) < FEWEST_BLOCKS:
        return cannot_tell(
            f"{quantities.count(len(trials), 'trial')} in which every requester host got replies"
            f" {'does' if len(trials) == 1 else 'do'} not show what is a host's and what is chance.",
            "Make five trials or more (`repeats`).",
            {"trials": len(trials)},
        )
    hosts = compared(trials)
    tests = 1 if len(hosts) == 2 else len(hosts)
    odd = [host for host in hosts if abs(log(host.ratio)) >= MATTERS and host.p * tests <= ALPHA]
    most = max(odd or hosts, key=lambda host: (abs(log(host.ratio)), host.ratio if odd else 0.0))
    evidence = {"trials": len(trials), "host": most.host, "ratio": most.ratio, "p": most.p * tests, "sd": most.sd}
    differs = f"{quantities.off(most.ratio - 1)} {'slower' if most.ratio > 1 else 'quicker'}"
    if odd:
        than = "the other host" if len(hosts) == 2 else "the other hosts"
        return warns(
            f"Requests from {most.host} were {differs} than those from {than}, in the middle of"
            f" {len(trials)} trials: the pooled latencies are of hosts that differ.",
            "Find out what that host or its way to the responder has that others have not, or leave it out.",
            evidence,
            weight=abs(log(most.ratio)),
        )
    return passes(f"No requester host differs beyond chance and a tenth (most: {most.host}, {differs}).", evidence)


def _medians(cell: CellEvidence, index: int) -> dict[str, float] | None:
    """The log of each host's median in a trial, over its processes the mean; None where a host has none."""
    by_host: dict[str, list[float]] = {}
    for trial, part, seen in cell.parts(NAME):
        if trial is cell.trials[index] and seen > 0:
            by_host.setdefault(part.host, []).append(log(seen))
    if len(by_host) < requesters_of(cell.cell.factors):
        return None
    return {host: sum(logs) / len(logs) for host, logs in by_host.items()}


def compared(trials: Sequence[Mapping[str, float]]) -> list[Odd]:
    """Each host against the others, from the logs of their medians, trial by trial; in three trials or more."""
    hosts = [host for host in trials[0] if all(host in trial for trial in trials)]
    rows = []
    for host in hosts:
        logs = [trial[host] - median(trial[other] for other in hosts if other != host) for trial in trials]
        mean = intervals.log_mean(logs)
        p = 1.0 if mean.p_value is None else mean.p_value
        rows.append(Odd(host=host, ratio=exp(mean.mean), p=p, sd=mean.sd or 0.0))
    return rows


CHECK = Check(name=NAME, severity="note", kinds=CALLS, observe=observe, judge=judge)
