"""What the index keeps of a run folder, read from journal, plan and `summary.json`; nothing is written, nothing recovered.

A folder that cannot be read is a record, too: it says why. No sample is read: figures are those that analysis left.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from orchestrator.between_runs import environments, matching, run_statistics
from orchestrator.errors import OrchError, UsageError
from orchestrator.findings.check_result import counts
from orchestrator.findings.compare import STATISTICS, Statistic
from orchestrator.findings.summary import CellSummary, RunSummary
from orchestrator.findings.validity import failed_in
from orchestrator.history.record import CellRecord, Evidence, RunRecord, Validity
from orchestrator.results.derive import JournalState
from orchestrator.results.documents import Damaged, read_sealed
from orchestrator.results.folder import RunFolder, manifest_content, stored_manifest
from orchestrator.statistics.terms import Interval
from orchestrator.strict_json import read_json
from orchestrator.summarise import summary_of
from orchestrator.wording.answer import answer

_AGAIN = "`orch report` makes it anew"
_EARLIER = f"summary.json is of an earlier state of the run: {_AGAIN}"


def read_run(folder: RunFolder) -> RunRecord:
    """The record of a run folder, whatever is in it."""
    try:
        return _read(folder)
    except OrchError as error:
        return RunRecord(id=folder.path.name, trouble=error.message)
    except (OSError, ValueError, LookupError, TypeError) as error:
        return RunRecord(id=folder.path.name, trouble=f"cannot be read: {error}")


def _read(folder: RunFolder) -> RunRecord:
    content = manifest_content(folder.path)
    digest = hashlib.sha256(content).hexdigest() if content is not None else ""
    summary, trouble = _summary(folder.path, digest)
    if summary is None or summary.run.manifest_sha256 != digest:
        stored_manifest(folder.path)  # what analysis has read, it has checked
    journal = folder.journal_state()
    begin = journal.begin
    if not begin:
        raise Damaged(folder.path / "journal.jsonl", "it does not say how the run began")
    folder.require_as_written("plan.json", begin)
    plan = read_json(folder.path / "plan.json")
    if summary is not None and summary.run.id != begin["run_id"]:
        summary, trouble = None, _EARLIER
    return RunRecord(
        id=folder.path.name,
        name=plan["name"],
        question=plan["question"],
        started=begin["at"],
        state=journal.state,
        provider=plan["provider"],
        hosts=_hosts(journal),
        trouble=trouble,
        manifest_sha256=digest,
        **(of_summary(summary) if summary is not None else {}),
    )


def of_summary(summary: RunSummary) -> dict[str, Any]:
    """The fields of a record that come from what analysis found."""
    by_verdict = counts(summary.checks)
    passed, warned, failed = (by_verdict[verdict] for verdict in ("pass", "warn", "fail"))
    validity: Validity = "invalid" if failed else "warned" if warned else "valid"
    return {
        "verdict": answer(summary).sentence,
        "passed": passed,
        "warned": warned,
        "failed": failed,
        "validity": validity,
        "conditions": summary.conditions,
        "settings": summary.settings,
        "cells": tuple(_cell(summary, cell) for cell in summary.cells),
    }


def _cell(run: RunSummary, cell: CellSummary) -> CellRecord:
    text = json.dumps(sorted(matching.factors(cell, run.plan).items()))
    latencies, times = cell.distribution, _interval(cell, "throughput")
    return CellRecord(
        cell=cell.id,
        label=f"{cell.labels.stack}, {cell.setting}",
        stack=cell.stack,
        stack_label=cell.labels.stack,
        placement=cell.labels.placement,
        measures=hashlib.sha256(text.encode()).hexdigest()[:16],
        median=latencies.median if latencies else None,
        median_interval=cell.median_interval,
        p99=latencies.p99 if latencies else None,
        p99_interval=_interval(cell, "p99"),
        throughput=cell.throughput_per_s,
        throughput_interval=times and (1 / times[1], 1 / times[0]),  # of times per request
        requests=cell.counts.requests,
        errors=cell.counts.failed,
        failed_checks=failed_in(cell.id, run.checks),
        evidence=_evidence(run, cell),
    )


def _evidence(run: RunSummary, cell: CellSummary) -> Evidence:
    means = {statistic: run_statistics.mean_of(cell, statistic) for statistic in STATISTICS}
    floors = {kind: run_statistics.floor_of(run, kind, cell) for kind in ("tcp", "ping")}
    return Evidence(
        means={statistic: mean.mean for statistic, mean in means.items() if mean and mean.se is not None},
        floors={kind: floor.medians for kind, floor in floors.items() if floor is not None},
        pressure=environments.noise_of(run, cell.id).get("pressure", 0.0),
    )


def _interval(cell: CellSummary, statistic: Statistic) -> Interval | None:
    """Of the geometric mean over trials; None where a trial has no value of its own, or there are fewer than three."""
    mean = run_statistics.mean_of(cell, statistic)
    return mean.interval() if mean else None


def _summary(folder: Path, manifest_sha256: str) -> tuple[RunSummary | None, str]:
    """What analysis left, and why it is not used where it is not."""
    try:
        summary = summary_of(*read_sealed(folder / "summary.json"))
    except FileNotFoundError:
        return None, ""
    except UsageError:
        return None, f"summary.json is of another version of orch: {_AGAIN}"
    except (ValueError, OSError):
        return None, f"summary.json was changed or damaged: {_AGAIN}"
    return (summary, "") if summary.run.manifest_sha256 in ("", manifest_sha256) else (None, _EARLIER)


def _hosts(journal: JournalState) -> tuple[str, ...]:
    facts = (getattr(host, key, None) for host in journal.hosts.values() for key in ("cpu", "machine_type"))
    return tuple(dict.fromkeys([*journal.hosts, *(str(fact) for fact in facts if fact)]))
