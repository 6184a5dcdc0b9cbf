"""referee: an independent load generator measures beside the trials what they do (docs/how-to/read-and-share.md).

It has no part in common with our requester but the kernel and the responder's program. A cell whose median or
requests per second is beyond the tolerance by their whole interval is measured wrongly by one of the two. A client
other than the protocol's default, and a requester that has no CPU left, may be slower by their own work, which is part of
what their cell measures: that is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import log
from statistics import median
from typing import Literal

from orchestrator.catalogue.read import catalogue
from orchestrator.checks.base import Check, Finding, cannot_tell, not_applicable, point
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence
from orchestrator.findings.check_result import CheckVerdict, Point
from orchestrator.findings.summary import TrialSummary
from orchestrator.results.manifest import TurnRecord
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval
from services.python.contract.limits import SATURATED

NAME = "referee"
Agreement = Literal["agrees", "differs", "cannot tell"]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One quantity, ours over theirs, with its 95 % interval over the rounds; None with fewer than three.

    `agreement`: whether all of the interval, or nothing of it, lies within the tolerance.
    """

    ratio: float
    interval: Interval | None
    agreement: Agreement


@dataclass(frozen=True, kw_only=True)
class Refereed:
    """A cell beside a load generator. `lost`: turns without figures."""

    tool: str
    rounds: int
    lost: int
    median_ms: Compared
    rate_per_s: Compared

    @property
    def agreement(self) -> Agreement:
        """That of both quantities: they differ where one does, and agree where both do."""
        agreements = {self.median_ms.agreement, self.rate_per_s.agreement}
        return "differs" if "differs" in agreements else "agrees" if agreements == {"agrees"} else "cannot tell"


def judge(cell: CellEvidence, run: RunEvidence) -> Finding | None:
    """Return the verdict on a cell beside its load generator; None in a run that has none."""
    settings = run.manifest.referee
    if settings is None:
        return None
    if (name := settings.cells.get(cell.cell.id)) is None or name not in settings.tools:
        why = settings.refused.get(cell.cell.id)
        return not_applicable("refused", why=why) if why else not_applicable("none-chosen")
    tool, turns = settings.tools[name], [turn for turn in run.manifest.turns if turn.cell == cell.cell.id]
    refereed = compare([t.summary for t in cell.trials if t.summary], turns, tool.within)
    if refereed is None:
        return cannot_tell("no-figures", {"tool": name, "rounds": 0, "lost": len(turns)})
    return _finding(cell, refereed, tool.version, tool.within)


def _finding(cell: CellEvidence, refereed: Refereed, version: str, within: float) -> Finding:
    ours, rate, agreement = refereed.median_ms, refereed.rate_per_s, refereed.agreement
    slower = _own_work(cell) if agreement == "differs" and ours.ratio >= 1 >= rate.ratio else None
    verdict: CheckVerdict = "warn" if slower else "fail"
    judgement = slower or point("differ")
    if agreement == "agrees":
        verdict, judgement = "pass", point("agree")
    elif agreement == "cannot tell":
        verdict = "cannot tell"
        judgement = point("too-few" if refereed.rounds < intervals.FEWEST_BLOCKS else "across")
    median_bounds, rate_bounds = (each.interval and (*each.interval, within) for each in (ours, rate))
    bounds = {"median_bounds": median_bounds, "rate_bounds": rate_bounds}
    return Finding.of(
        verdict,
        (point("ours-over-theirs", version=version, median=ours.ratio, rate=rate.ratio, **bounds), judgement),
        {**asdict(refereed), "within": within, "agreement": agreement},
        weight=max(abs(1 - ours.ratio), abs(1 - rate.ratio)),
    )


def _own_work(cell: CellEvidence) -> Point | None:
    """Why our side may be slower without an error; None where it should not be."""
    protocol, client = catalogue().protocols.get(cell.stack.protocol), cell.stack.client
    if protocol is not None and protocol.default_client(cell.cell.load.concurrency).name != client:
        return point("slower-by-client", client=client)
    shares = [t.summary.cpu_share for t in cell.trials if t.summary and t.summary.cpu_share is not None]
    if shares and median(shares) >= SATURATED:
        return point("slower-by-core", cpu_share=median(shares))
    return None


CHECK = Check(name=NAME, severity="serious", kinds=frozenset({"call"}), judge_beside=judge)


def compare(trials: Iterable[TrialSummary], turns: Sequence[TurnRecord], within: float) -> Refereed | None:
    """Return the trials of a cell beside the turns in the same blocks; None where no block has both."""
    ours = {t.block: (t.median, t.throughput_per_s) for t in trials if t.median and t.throughput_per_s > 0}
    theirs = {
        t.block: (t.median_ns / 1e6, t.requests / t.window_s)
        for t in turns
        if t.median_ns and t.requests and t.window_s
    }
    blocks = sorted(ours.keys() & theirs.keys())
    if not blocks:
        return None
    both = []
    for place in (0, 1):
        result = intervals.paired([ours[block][place] for block in blocks], [theirs[block][place] for block in blocks])
        interval = result.interval()
        both.append(Compared(ratio=result.ratio, interval=interval, agreement=agreement(interval, within)))
    return Refereed(
        tool=turns[0].tool,
        rounds=len(blocks),
        lost=sum(t.median_ns is None for t in turns),
        median_ms=both[0],
        rate_per_s=both[1],
    )


def agreement(interval: Interval | None, within: float) -> Agreement:
    """Return whether a ratio's interval lies within 1/(1 + within) and 1 + within, or beside that.

    >>> agreement((0.9, 1.1), 0.25), agreement((1.3, 1.4), 0.25), agreement(None, 0.25)
    ('agrees', 'differs', 'cannot tell')
    """
    if interval is None:
        return "cannot tell"
    low, high = (log(end) / log(1 + within) for end in interval)
    if low > 1 or high < -1:
        return "differs"
    return "agrees" if low >= -1 and high <= 1 else "cannot tell"
