"""reply: only verified replies count, and they came from the responder that this run started."""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, Part, Samples, TrialEvidence


def observe(samples: Samples) -> int:
    """Successful measured requests."""
    return int(samples.ok.sum())


def judge(cell: CellEvidence) -> Finding | None:
    """The worst requester."""
    findings = [_finding(trial, part, ok) for trial, part, ok in cell.parts(NAME)]
    return worst(findings)


def _finding(trial: TrialEvidence, part: Part, ok: int) -> Finding:
    expected, met = trial.record.ready.get("identity"), part.done.get("identity")
    verified = part.done.get("verified")
    failed = sum(trial.errors.values())
    wrong = trial.errors.get("wrong-reply", 0)
    evidence = {
        "trial": trial.record.index,
        "counted": ok,
        "verified": verified,
        "identity_expected": expected,
        "identity_met": met,
        "errors": dict(trial.errors),
    }
    if met is not None and expected is not None and met != expected:
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=f"Another responder answered: it called itself {met!r}, not {expected!r}.",
            action="Something else listens at that address: see what runs on the responder's host and what stands between.",
        )
    if verified is not None and verified < ok:
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=f"{ok - verified:,} of {ok:,} counted replies were never compared with what they should be.",
            action="A latency of an unread reply is no latency: verify every reply in the requester.",
        )
    if wrong:
        return Finding(
            verdict="fail",
            evidence=evidence,
            explanation=f"{wrong:,} replies were wrong; they are errors and in no latency, but the responder is not right.",
            action="`error_examples` in the manifest shows one; mend the responder and measure again.",
        )
    if failed > 0.01 * (failed + ok):
        return Finding(
            verdict="warn",
            evidence=evidence,
            explanation=f"{words.percent(failed / (failed + ok))} of the requests failed and are in no latency.",
            action="Read the errors by kind: latencies of what is left may be those of the lucky ones.",
        )
    if met is None or verified is None:
        return Finding(
            verdict="cannot tell",
            evidence=evidence,
            explanation="The requester did not say whom it met and how many replies it verified.",
            action="Use a requester that prints `identity` and `verified` in its `done` line.",
        )
    return Finding(
        verdict="pass", evidence=evidence, explanation=f"All {ok:,} replies verified, from the responder of this run."
    )


NAME = "reply"
CHECK = Check(name=NAME, severity="fatal", observe=observe, judge=judge)
