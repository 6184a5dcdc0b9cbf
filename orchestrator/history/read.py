"""What the index keeps of a run folder, read from journal, plan and `summary.json`; nothing is written, nothing recovered.

A folder that cannot be read is a record, too: it says why. No sample is read: figures are those that analysis left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orchestrator.analysis import across, environments, floors_of_runs, intervals, matching
from orchestrator.analysis.between_runs import run_mean
from orchestrator.analysis.cells import by_block, censored_blocks, missing_blocks
from orchestrator.analysis.compare import STATISTICS, Statistic
from orchestrator.analysis.counts import counts
from orchestrator.analysis.summary import CellSummary, RunSummary
from orchestrator.analysis.terms import Interval
from orchestrator.analysis.validity import failed_in
from orchestrator.errors import OrchError, UsageError
from orchestrator.history.record import NEWER, CellRecord, Evidence, RunRecord, Validity
from orchestrator.results.derive import JournalState
from orchestrator.results.documents import read_sealed_text
from orchestrator.results.folder import RunFolder
from orchestrator.results.manifest import SCHEMA_VERSION
from orchestrator.results.paths import damaged
from orchestrator.results.stored_manifest import NAME, content_of, document_in
from orchestrator.strict_json import read_own_json
from orchestrator.wording.answer import answer

MOST_TEXT = 2_000  # characters of a sentence or a name that are kept


class _Newer(Exception):
    """A run that a later orch wrote."""


def read_run(folder: RunFolder) -> RunRecord:
    """The record of a run folder, whatever is in it."""
    try:
        return _read(folder)
    except _Newer as error:
        return RunRecord(id=folder.path.name, state=NEWER, trouble=str(error))
    except OrchError as error:
        return RunRecord(id=folder.path.name, trouble=error.message[:MOST_TEXT])
    except (OSError, ValueError) as error:
        return RunRecord(id=folder.path.name, trouble=f"cannot be read: {error}"[:MOST_TEXT])


def _read(folder: RunFolder) -> RunRecord:
    content = content_of(folder.path)
    digest = hashlib.sha256(content).hexdigest() if content is not None else ""
    summary, trouble = _summary(folder.path, digest)
    if content is not None and (summary is None or summary.manifest_sha256 != digest):
        _require_known(content, folder.path / NAME)  # what analysis has read, it has looked at
    journal = folder.journal_in_brief() if summary is not None else folder.journal_state()  # analysis has read the rest
    begin = journal.begin
    if not begin:
        raise damaged(folder.path / "journal.jsonl", "it does not say how the run began")
    folder.require_as_written("plan.json", begin)
    plan = read_own_json(folder.path / "plan.json")
    if not isinstance(plan, dict):
        raise ValueError("plan.json is no plan")
    if summary is not None and summary.run_id != begin["run_id"]:
        summary, trouble, journal = None, _EARLIER, folder.journal_state()
    tried = tuple(t for t in journal.trials if t.outcome == "ok")
    found = of_summary(summary) if summary is not None else {}
    about: dict[str, Any] = {"samples": sum(part.done.requests for trial in tried for part in trial.requesters)}
    return RunRecord(
        id=folder.path.name,
        run_id=_text(begin["run_id"]),
        name=_text(plan.get("name")),
        question=_text(plan.get("question")),
        started=moment(begin["at"]),
        ended=moment(journal.ended_at),
        state=journal.state,
        plan_id=_text(begin["plan_id"]),
        orch_version=_text(begin["orch_version"]),
        provider=_text(plan.get("provider")),
        hosts=_hosts(journal),
        trials=len(tried),
        is_ours=folder.is_ours,
        trouble=trouble,
        manifest_sha256=digest,
        **{**about, **found},
    )


def of_summary(summary: RunSummary) -> dict[str, Any]:
    """The fields of a record that come from what analysis found."""
    by_verdict = counts(summary.checks)
    passed, warned, failed = (by_verdict[verdict] for verdict in ("pass", "warn", "fail"))
    validity: Validity = "invalid" if failed else "warned" if warned else "valid"
    return {
        "verdict": _text(answer(summary).sentence),
        "passed": passed,
        "warned": warned,
        "failed": failed,
        "validity": validity,
        "samples": sum(cell.requests for cell in summary.cells),
        "matters": summary.matters,
        "conditions": summary.conditions,
        "settings": summary.settings,
        "cells": tuple(_cell(summary, cell) for cell in summary.cells),
    }


def _cell(run: RunSummary, cell: CellSummary) -> CellRecord:
    text = json.dumps(sorted(matching.factors(cell, run.plan).items()))
    of = cell.distribution
    return CellRecord(
        cell=cell.id,
        label=f"{cell.stack_label}, {cell.setting}",
        stack=cell.stack,
        stack_label=cell.stack_label,
        operation=cell.operation,
        placement=cell.placement,
        connection=cell.connection,
        concurrency=_whole(cell.factors.get("concurrency")),
        rate=_number(cell.factors.get("rate")),
        factors=dict(cell.factors),
        measures=hashlib.sha256(text.encode()).hexdigest()[:16],
        median=of.median if of else None,
        median_interval=cell.median_interval,
        p99=of.p99 if of else None,
        p99_interval=_interval(cell, "p99"),
        throughput=cell.throughput_per_s,
        throughput_interval=_turned(_interval(cell, "throughput")),
        requests=cell.requests,
        errors=cell.failed,
        trials=len(cell.trials),
        failed_checks=failed_in(cell.id, run.checks),
        evidence=_evidence(run, cell),
    )


def _evidence(run: RunSummary, cell: CellSummary) -> Evidence:
    means: dict[str, tuple[int, float, float]] = {}
    above: dict[str, float] = {}
    for statistic in STATISTICS:
        mean = across.mean_of(cell, statistic)
        if mean is not None:
            means[statistic] = (mean.n, mean.mean, mean.se)
            above[statistic] = across.share_above_ping(run, cell, statistic)
    floors = {kind: floors_of_runs.floor_of(run, kind, cell) for kind in ("tcp", "ping")}
    return Evidence(
        means=means,
        above_ping=above,
        floors={kind: floor.medians for kind, floor in floors.items() if floor is not None},
        noise=environments.noise_of(run, cell.id),
    )


def _interval(cell: CellSummary, statistic: Statistic) -> Interval | None:
    """Of the geometric mean over trials; None where a trial has no value of its own, or there are fewer than three."""
    if censored_blocks(cell.trials, statistic) or missing_blocks(cell.trials, statistic):
        return None
    values = list(by_block(cell.trials, statistic).values())
    return intervals.of_trials(values).interval() if run_mean(values) else None


def _turned(interval: Interval | None) -> Interval | None:
    """Times per request as requests per second."""
    return None if interval is None else (1 / interval[1], 1 / interval[0])


def _require_known(content: bytes, path: Path) -> None:
    """_Newer for a manifest of a later version."""
    document = document_in(content, path)
    version = document.get("schema_version") if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise damaged(path, "not a manifest: it has no schema_version")
    if version > SCHEMA_VERSION:
        raise _Newer(f"written by a newer orch (manifest version {version}; this one reads up to {SCHEMA_VERSION})")


_AGAIN = "`orch report` makes it anew"
_EARLIER = f"summary.json is of an earlier state of the run: {_AGAIN}"


def _summary(folder: Path, manifest_sha256: str) -> tuple[RunSummary | None, str]:
    """What analysis left, and why it is not used where it is not."""
    try:
        summary = RunSummary.from_dict(*read_sealed_text(folder / "summary.json"))
    except FileNotFoundError:
        return None, ""
    except UsageError:
        return None, f"summary.json is of another version of orch: {_AGAIN}"
    except (ValueError, OSError):
        return None, f"summary.json was changed or damaged: {_AGAIN}"
    return (summary, "") if summary.manifest_sha256 in ("", manifest_sha256) else (None, _EARLIER)


def _hosts(journal: JournalState) -> tuple[str, ...]:
    """Names, CPUs and machine types of the hosts, each once."""
    told: Iterable[Mapping[str, Any]] = (vars(host) for host in journal.hosts.values())
    words = [*journal.hosts, *(str(host[key]) for host in told for key in ("cpu", "machine_type") if host.get(key))]
    return tuple(dict.fromkeys(_text(word) for word in words))


def moment(text: object) -> str:
    """A time as ISO 8601 in UTC, to the second, so that such texts sort by time; "" for what is none.

    >>> moment("2026-11-21T03:57:00.5+01:00"), moment("2026-11-21T02:57:00Z"), moment("yesterday"), moment(None)
    (2026-11-21T02:57:00+00:00, 2026-11-21T02:57:00+00:00, , )
    """
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return ""
    if found is None:
        return ""
    try:
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError):
        return ""


def _text(value: object) -> str:
    return value[:MOST_TEXT] if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
