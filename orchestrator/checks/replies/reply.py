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
from functools import partial

from orchestrator import quantities
from orchestrator.checks.base import CALLS, CODECS, Check, Finding, worst
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
    kinds = Counter[str]()
    for trial in cell.trials:
        kinds.update(trial.errors)
    evidence = {"requests": n, "failed": failed, "share": failed / n, "moved": names, "errors": dict(kinds)}
    why = _EXHAUSTED if "exhausted" in kinds else "Find out why requests fail: the table counts them by kind"
    text = quantities.no_reply(failed, n, cell.cell.kind)
    text = f"{text[0].upper()}{text[1:]}"
    finding = partial(Finding, verdict="fail", evidence=evidence, weight=failed / n)
    if not ok:
        return finding(explanation=f"{text}: there is no percentile to show.", action=f"{why}.")
    if names:
        explanation = f"{text}: enough to move {quantities.listed(names)}, which the report shows."
        return finding(explanation=explanation, action=f"{why}, before comparing how long they take.")
    return finding(
        verdict="warn",
        explanation=f"{text}: too few to move a percentile shown; each counts as slower than every reply.",
        action=f"{_EXHAUSTED}." if "exhausted" in kinds else "See the errors by kind in the table.",
    )


def _finding(cell: CellEvidence, trial: TrialEvidence, part: Part, ok: int) -> Finding:
    expected, met = trial.record.ready.identity if trial.record.ready else None, part.done.identity
    verified = part.done.verified
    wrong = trial.errors.get("wrong-reply", 0)
    evidence = {
        "trial": trial.record.index,
        "counted": ok,
        "verified": verified,
        "verified_by_bytes": part.done.verified_by_bytes,
        "identity_expected": expected,
        "identity_met": met,
        "errors": dict(trial.errors),
    }
    finding = partial(Finding, evidence=evidence)
    if met is not None and expected is not None and met != expected:
        return finding(
            verdict="fail",
            explanation=f"Another responder answered: it identified itself as {met!r}, not {expected!r}.",
            action="Find out what else listens at that address, on the responder's host or between the hosts.",
        )
    if verified is not None and verified < ok:
        return finding(
            verdict="fail",
            explanation=f"{ok - verified:,} of {ok:,} counted replies were never verified.",
            action="Verify every reply in the requester: the latency of an unread reply means nothing.",
        )
    if wrong:
        return finding(
            verdict="fail",
            explanation=f"{quantities.count(wrong, 'wrong reply', 'wrong replies')}, counted as errors: the responder is "
            "faulty.",
            action="See `error_examples` in journal.jsonl for one, fix the responder, and measure again.",
        )
    if (own := cell.stack.external) is not None and verified is not None:
        if not all(step["expect"] or step.get("save") for step in own.each_call):
            return finding(
                verdict="cannot tell",
                explanation=f"{quantities.count(ok, 'reply', 'replies')} succeeded; whether they are right was not checked.",
                action="Give the stack's `call` an `expect`.",
            )
        return finding(
            verdict="pass",
            explanation=f"{quantities.count(ok, 'reply', 'replies')} verified{_by_bytes(part)} by what the call expects"
            f"{''.join(f'; {name}: {count:,}, warm-up included' for name, count in sorted(part.done.outcomes.items()))}.",
        )
    if cell.cell.kind == "codec" and verified is not None:
        return finding(
            verdict="pass",
            explanation=f"{quantities.count(ok, 'message')}, each decoded to what had been encoded.",
        )
    if met is None or verified is None:
        return finding(
            verdict="cannot tell",
            explanation="The requester did not report which responder answered or how many replies it verified.",
            action="Use a requester that prints `identity` and `verified` in its `done` line.",
        )
    return finding(
        verdict="pass",
        explanation=f"{quantities.count(ok, 'reply', 'replies')} verified{_by_bytes(part)}, from the responder of this run.",
    )


def _by_bytes(part: Part) -> str:
    alike = part.done.verified_by_bytes
    return f" ({alike:,} by their bytes, which equal those of one that was read)" if alike else ""


NAME = "reply"
MISSING_ALONE = "missing_alone"
"""The key of evidence that says whether requests without a right reply are all that is wrong."""
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
