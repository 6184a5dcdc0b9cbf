"""reply: only verified replies count, they came from the responder that this run started, and few enough are missing.

Replies of a person's own service are verified by what its call expects; without that nobody knows whether they are right.

A codec alone has no responder: its replies are what it decoded, compared with what had been encoded.

Requests without a right reply are in every percentile as slower than every reply, so none of them hides. But from a
share on that moves a percentile which is shown further than chance does, what is compared is no longer how quickly the
stacks answer but how often: that cell fails.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, fails, passes, warns, worst
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import fails_that_move, is_supported
from services.python.contract.lines import EXHAUSTED_REMEDY

_PERCENTILES = {"median": 0.5, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}

_EXHAUSTED = f"The requester's host had no local port or file descriptor left: {EXHAUSTED_REMEDY}"


def observe(samples: Samples) -> int:
    """Successful measured requests."""
    return int(samples.ok.sum())


def judge(cell: CellEvidence) -> Finding | None:
    """The worst requester."""
    findings = [_finding(cell, trial, part, ok) for trial, part, ok in cell.parts(NAME)]
    missing = _missing(cell)
    if missing is None:
        return worst(findings)
    alone = all(finding.verdict != "fail" for finding in findings)
    return worst([*findings, replace(missing, evidence={**missing.evidence, MISSING_ALONE: alone})])


def percentiles_moved(failed: int, n: int) -> list[str]:
    """The percentiles of `n` requests that are shown, and are moved further than by chance if so many of them failed."""
    shown = {name: share for name, share in _PERCENTILES.items() if is_supported(n, share) or name == "median"}
    return [name for name, share in shown.items() if failed > fails_that_move(share, n)]


def _missing(cell: CellEvidence) -> Finding | None:
    """Of all trials together, as the table shows their percentiles; None where every request got its reply."""
    ok, failed = sum(t.totals.ok for t in cell.trials), sum(sum(t.errors.values()) for t in cell.trials)
    if not failed:
        return None
    n = ok + failed
    names = percentiles_moved(failed, n)
    kinds = dict(sum((Counter(trial.errors) for trial in cell.trials), Counter[str]()))
    evidence = {"requests": n, "failed": failed, "share": failed / n, "moved": names, "errors": kinds}
    why = _EXHAUSTED if "exhausted" in kinds else "Find out why requests fail: the table counts them by kind"
    text = quantities.no_reply(failed, n, cell.cell.kind)
    text = f"{text[0].upper()}{text[1:]}"
    if not ok:
        return fails(f"{text}: there is no percentile to show.", f"{why}.", evidence, weight=1.0)
    if names:
        explanation = f"{text}: enough to move {quantities.listed(names)}, which the report shows."
        return fails(explanation, f"{why}, before comparing how long they take.", evidence, weight=failed / n)
    return warns(
        f"{text}: too few to move a percentile shown; each counts as slower than every reply.",
        f"{_EXHAUSTED}." if "exhausted" in kinds else "See the errors by kind in the table.",
        evidence,
        weight=failed / n,
    )


def _finding(cell: CellEvidence, trial: TrialEvidence, part: Part, ok: int) -> Finding:
    expected, met = trial.record.ready.identity if trial.record.ready else None, part.done.identity
    verified = part.done.verified
    evidence = {
        "trial": trial.record.index,
        "counted": ok,
        "verified": verified,
        "identity_expected": expected,
        "identity_met": met,
        "errors": dict(trial.errors),
    }
    if met is not None and expected is not None and met != expected:
        return fails(
            f"Another responder answered: it identified itself as {met!r}, not {expected!r}.",
            "Find out what else listens at that address, on the responder's host or between the hosts.",
            evidence,
        )
    if verified is not None and verified < ok:
        return fails(
            f"{ok - verified:,} of {ok:,} counted replies were never verified.",
            "Verify every reply in the requester: the latency of an unread reply means nothing.",
            evidence,
        )
    if wrong := trial.errors.get("wrong-reply", 0):
        return fails(
            f"{quantities.count(wrong, 'wrong reply', 'wrong replies')}, counted as errors: the responder is faulty.",
            "See `error_examples` in journal.jsonl for one, fix the responder, and measure again.",
            evidence,
        )
    replies = quantities.count(ok, "reply", "replies")
    right = f"{replies} verified"
    if (own := cell.stack.external) is not None and verified is not None:
        if not all(step["expect"] or step.get("save") for step in own.each_call):
            text = f"{replies} succeeded; whether they are right was not checked."
            return cannot_tell(text, "Give the stack's `call` an `expect`.", evidence)
        outcomes = sorted(part.done.outcomes.items())
        counted = "".join(f"; {name}: {count:,}, warm-up included" for name, count in outcomes)
        return passes(f"{right} by what the call expects{counted}.", evidence)
    if cell.cell.kind == "codec" and verified is not None:
        return passes(f"{quantities.count(ok, 'message')}, each decoded to what had been encoded.", evidence)
    if met is None or verified is None:
        return cannot_tell(
            "The requester did not report which responder answered or how many replies it verified.",
            "Use a requester that prints `identity` and `verified` in its `done` line.",
            evidence,
        )
    return passes(f"{right}, from the responder of this run.", evidence)


NAME = "reply"
MISSING_ALONE = "missing_alone"
"""The key of evidence that says whether requests without a right reply are all that is wrong."""
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
