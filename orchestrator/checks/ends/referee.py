"""referee: an independent load generator, asked beside the trials, measures what they do (docs/how-to/read-and-share.md).

It has no part in common with our requester but the kernel and the responder's program. A cell whose median or
requests per second is beyond the tolerance by their whole interval is measured wrongly by one of the two. A client
other than the protocol's default, and a requester that has no CPU left, may be slower by their own work, which is part of
what their cell measures: that is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from statistics import geometric_mean, median
from typing import Any, Literal

from orchestrator import quantities
from orchestrator.catalogue.read import catalogue
from orchestrator.checks.base import Check, Finding
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence
from orchestrator.findings.summary import TrialSummary
from orchestrator.results.manifest import TurnRecord
from orchestrator.statistics import intervals
from orchestrator.statistics.terms import Interval
from services.python.contract.limits import SATURATED

NAME = "referee"


def judge_run(run: RunEvidence) -> Finding | None:
    """Says once that a run has no referee."""
    if run.manifest.referee is not None:
        return None
    return Finding(
        verdict="not applicable",
        explanation="No independent load generator measured beside this run.",
        action="`orch run FILE --referee any` makes a run beside one.",
    )


def judge(cell: CellEvidence, run: RunEvidence) -> Finding | None:
    """The cell beside its load generator; None in a run that has none."""
    settings = run.manifest.referee
    if settings is None:
        return None
    if (name := settings.cells.get(cell.cell.id)) is None or name not in settings.tools:
        why = settings.refused.get(cell.cell.id, "none was asked")
        return Finding(verdict="not applicable", explanation=f"No independent load generator can ask this: {why}.")
    tool, turns = settings.tools[name], turns_of(run.manifest.turns).get(cell.cell.id, ())
    found = compare([t.summary for t in cell.trials if t.summary], turns, tool.within)
    if found is None:
        return Finding(
            verdict="cannot tell",
            evidence={"tool": name, "rounds": 0, "lost": len(turns)},
            explanation=f"{name} gave no figures beside a trial of this cell.",
            action="The run's warnings and logs/ say why.",
        )
    return _finding(cell, found, f"{name} {tool.version}", tool.within)


def _finding(cell: CellEvidence, found: Refereed, tool: str, within: float) -> Finding:
    evidence = {**found.to_dict(), "within": within, "agreement": found.agreement}
    lost = f"; {quantities.count(found.lost, 'more turn')} gave no figures" if found.lost else ""
    told = (
        f"Ours over {tool}, in {quantities.count(found.rounds, 'round')}{lost}: median {_told(found.median_ms, within)}, "
        f"requests/s {_told(found.rate_per_s, within)}."
    )
    weight = max(abs(1 - found.median_ms.ratio), abs(1 - found.rate_per_s.ratio))
    if found.agreement == "agrees":
        return Finding(
            verdict="pass", explanation=f"{told} Both agree within {within:.0%}.", evidence=evidence, weight=weight
        )
    if found.agreement == "cannot tell":
        few = found.rounds < intervals.FEWEST_BLOCKS
        why = "Too few rounds for an interval" if few else f"The interval reaches beyond {within:.0%} and within it"
        return Finding(
            verdict="cannot tell",
            explanation=f"{told} {why}.",
            evidence=evidence,
            weight=weight,
            action="Raise `repeats`, or measure on a quieter machine.",
        )
    is_slower = found.median_ms.ratio >= 1 >= found.rate_per_s.ratio
    if is_slower and (cause := _own_work(cell)):
        return Finding(
            verdict="warn",
            explanation=f"{told} That is slower by more than {within:.0%}: {cause}.",
            evidence=evidence,
            weight=weight,
            action="Ask with a thinner client as well (`raw`, say): if that agrees, the difference is this client's work.",
        )
    return Finding(
        verdict="fail",
        explanation=f"{told} They differ by more than {within:.0%}: one of the two measures wrongly.",
        evidence=evidence,
        weight=weight,
        action="Look at the trials' other checks, and at what the program printed, under referee/; "
        "repeat on a quiet machine before you believe either.",
    )


def _told(compared: Compared, within: float) -> str:
    if compared.interval is None:
        return quantities.factor(compared.ratio)
    return f"{quantities.factor(compared.ratio)} ({' to '.join(quantities.bounds(compared.interval, within))})"


def _own_work(cell: CellEvidence) -> str:
    """Why our side may be slower without an error, as a clause; "" where it should not be."""
    protocol, client = catalogue().protocols.get(cell.stack.protocol), cell.stack.client
    if protocol is not None and protocol.default_client(cell.cell.load.concurrency).name != client:
        return f"the work of {client} is in it"
    shares = [t.summary.cpu_share for t in cell.trials if t.summary and t.summary.cpu_share is not None]
    if shares and median(shares) >= SATURATED:
        return f"the requester used {median(shares):.0%} of its core, and was the limit"
    return ""


CHECK = Check(name=NAME, severity="serious", kinds=frozenset({"call"}), judge_beside=judge, judge_run=judge_run)


Agreement = Literal["agrees", "differs", "cannot tell"]

_NS_PER_MS = 1e6


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One quantity of both: geometric means over the rounds, as tables have them, and their ratio with its 95 % interval.

    `interval` is None with fewer than three rounds. `agreement`: whether all of it, or nothing of it, lies within the
    tolerance.
    """

    ours: float
    theirs: float
    ratio: float
    interval: Interval | None
    agreement: Agreement


@dataclass(frozen=True, kw_only=True)
class Refereed:
    """A cell beside a load generator: latencies in milliseconds, requests per second. `lost`: turns without figures."""

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

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def compare(trials: Iterable[TrialSummary], turns: Sequence[TurnRecord], within: float) -> Refereed | None:
    """The trials of a cell beside the turns in the same blocks; None where no block has both."""
    ours = {t.block: (t.median, t.throughput_per_s) for t in trials if t.median and t.throughput_per_s > 0}
    theirs = {
        t.block: (t.median_ns / _NS_PER_MS, t.requests / t.window_s)
        for t in turns
        if t.median_ns and t.requests and t.window_s
    }
    blocks = sorted(ours.keys() & theirs.keys())
    if not blocks:
        return None
    figures = [
        _compared([float(ours[b][statistic] or 0.0) for b in blocks], [theirs[b][statistic] for b in blocks], within)
        for statistic in (0, 1)
    ]
    return Refereed(
        tool=turns[0].tool,
        rounds=len(blocks),
        lost=sum(t.median_ns is None for t in turns),
        median_ms=figures[0],
        rate_per_s=figures[1],
    )


def _compared(ours: Sequence[float], theirs: Sequence[float], within: float) -> Compared:
    result = intervals.paired(ours, theirs)
    interval = result.interval()
    return Compared(
        ours=geometric_mean(ours),
        theirs=geometric_mean(theirs),
        ratio=result.ratio,
        interval=interval,
        agreement=agreement(interval, within),
    )


def agreement(interval: Interval | None, within: float) -> Agreement:
    """Whether a ratio's interval lies within 1/(1 + within) and 1 + within, or beside that.

    >>> agreement((0.9, 1.1), 0.25), agreement((1.3, 1.4), 0.25), agreement(None, 0.25)
    ('agrees', 'differs', 'cannot tell')
    """
    if interval is None:
        return "cannot tell"
    low, high = (log(end) / log(1 + within) for end in interval)
    if low > 1 or high < -1:
        return "differs"
    return "agrees" if low >= -1 and high <= 1 else "cannot tell"


def turns_of(turns: Iterable[TurnRecord]) -> Mapping[str, tuple[TurnRecord, ...]]:
    """Turns by cell."""
    by_cell: dict[str, list[TurnRecord]] = {}
    for turn in turns:
        by_cell.setdefault(turn.cell, []).append(turn)
    return {cell: tuple(of) for cell, of in by_cell.items()}
