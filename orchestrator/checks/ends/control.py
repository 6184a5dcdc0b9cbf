"""control: the reference stack, entered a second time, must not differ from itself.

A control that another check found invalid, or whose original is invalid, says nothing and widens no comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp

from orchestrator.checks.base import CALLS, CODECS, STREAMS, Check, Finding, cannot_tell, passes, warns
from orchestrator.evidence.run_evidence import CellEvidence, RunEvidence
from orchestrator.findings.check_result import CheckResult
from orchestrator.findings.validity import failed_in
from orchestrator.statistics import intervals


def judge(run: RunEvidence, results: Sequence[CheckResult]) -> Iterator[Finding]:
    """Each control beside what it repeats; `results` are what the other checks found."""
    by_setting = {(cell.stack.id, cell.cell.setting): cell for cell in run.cells}
    for control in run.cells:
        if twin := by_setting.get((control.stack.control_of or "", control.cell.setting)):
            yield _finding(control, twin, results)


def _finding(control: CellEvidence, twin: CellEvidence, results: Sequence[CheckResult]) -> Finding:
    if troubles := {c.stack.label: names for c in (control, twin) if (names := failed_in(c.cell.id, results))}:
        failed = sorted({name for names in troubles.values() for name in names})
        return cannot_tell("invalid", {"cell": control.cell.id, "failed": failed}, failed_of=troubles)
    mine, other = (
        {t.record.block: t.summary.median for t in cell.trials if t.summary and t.summary.median}
        for cell in (control, twin)
    )
    blocks = sorted(mine.keys() & other.keys())
    if len(blocks) < intervals.FEWEST_BLOCKS:
        return cannot_tell("too-few", {"cell": control.cell.id, "blocks": len(blocks)})
    result = intervals.paired([mine[b] for b in blocks], [other[b] for b in blocks])
    low, high = result.interval() or (0.0, 0.0)
    evidence = {"cell": control.cell.id, "ratio": result.ratio, "interval": [low, high], "blocks": len(blocks)}
    differs = exp(abs(result.mean)) - 1  # as comparisons put it that it widens
    judged, kind = (passes, "within-chance") if low <= 1 <= high else (warns, "beyond-chance")
    return judged(kind, evidence, weight=abs(result.mean), differs=differs)


CHECK = Check(name="control", severity="note", kinds=CALLS | CODECS | STREAMS, judge_last=judge)
