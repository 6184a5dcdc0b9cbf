"""referee: an independent load generator, asked beside the trials, measures what they do (docs/referee.md).

It has no part in common with our requester but the kernel and the responder's program. A cell of which the median or
the requests per second is beyond the tolerance by their whole interval is measured wrongly by one of the two. A client
other than the protocol's default, and a requester that has no CPU left, may be slower by their own work, which is part of
what their cell measures: that is a warning.
"""

from __future__ import annotations

from statistics import median

from orchestrator.analysis import intervals, words
from orchestrator.analysis.checks.base import Check, Finding
from orchestrator.analysis.evidence import CellEvidence, RunEvidence
from orchestrator.analysis.refereed import Compared, Refereed, compare, turns_of
from orchestrator.catalogue.read import catalogue
from services.python.contract.limits import SATURATED

NAME = "referee"


def judge_run(run: RunEvidence) -> Finding | None:
    """Says once that a run has no referee."""
    if run.manifest.referee is not None:
        return None
    return Finding(
        verdict="not applicable",
        explanation="No independent load generator measured beside this run.",
        action="`orch referee FILE` makes a run beside one.",
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
    lost = f"; {words.count(found.lost, 'more turn')} gave no figures" if found.lost else ""
    told = (
        f"Ours over {tool}, in {words.count(found.rounds, 'round')}{lost}: median {_told(found.median_ms, within)}, "
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


def _told(of: Compared, within: float) -> str:
    if of.interval is None:
        return words.factor(of.ratio)
    return f"{words.factor(of.ratio)} ({' to '.join(words.bounds(of.interval, within))})"


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
