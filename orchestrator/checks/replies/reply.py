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

from orchestrator.checks.base import CALLS, CODECS, Check, Finding, cannot_tell, fails, passes, point, worst
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.statistics.quantiles import fails_that_move, is_supported

_PERCENTILES = {"median": 0.5, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}


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
    kind = "none-right" if not ok else "moves" if names else "moves-nothing"
    points = [point(kind, missing=[failed, n, cell.cell.kind])]
    if "exhausted" in kinds:
        points.append(point("exhausted", moves=kind == "moves"))
    return Finding.of("warn" if kind == "moves-nothing" else "fail", points, evidence, weight=failed / n)


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
        return fails("another-responder", evidence)
    if verified is not None and verified < ok:
        return fails("unverified", evidence, unverified=ok - verified)
    if wrong := trial.errors.get("wrong-reply", 0):
        return fails("wrong", evidence, wrong=wrong)
    if (own := cell.stack.external) is not None and verified is not None:
        if not all(step["expect"] or step.get("save") for step in own.each_call):
            return cannot_tell("not-checked", evidence)
        outcomes = [point("outcome", outcome=name, times=times) for name, times in sorted(part.done.outcomes.items())]
        return passes([point("expected"), *outcomes], evidence)
    if cell.cell.kind == "codec" and verified is not None:
        return passes("decoded", evidence)
    if met is None or verified is None:
        return cannot_tell("unreported", evidence)
    return passes("verified", evidence)


NAME = "reply"
MISSING_ALONE = "missing_alone"
"""The key of evidence that says whether requests without a right reply are all that is wrong."""
CHECK = Check(name=NAME, severity="fatal", kinds=CALLS | CODECS, observe=observe, judge=judge)
