"""Earlier runs that are equal to a given one: what they differ by is chance, and shows how far equal runs lie apart.

Equal means: the same plan but for what does not change a latency (order and seeds of trials, limits, texts), complete,
no failed check, and no condition, version or setting that differs. What analysis left beside the samples is read
(`summary.json`), not the samples.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from orchestrator.between_runs.environments import are_alike
from orchestrator.between_runs.run_statistics import mean_of
from orchestrator.experiment.plan.plan import Plan
from orchestrator.findings.compare import STATISTICS
from orchestrator.findings.summary import SCHEMA_VERSION, RunSummary
from orchestrator.results.documents import read_sealed
from orchestrator.results.folder import RunFolder, runs
from orchestrator.shapes import decode
from orchestrator.summarise import summary_of

_RUNS_READ = 100  # the newest of a folder: a summary may be a megabyte

# Parts of a plan that may differ between equal runs.
VOLATILE = frozenset(
    {"name", "question", "trials", "seed", "limits", "experiment_path", "experiment_sha256", "overrides", "resolved"}
)


@dataclass(frozen=True, kw_only=True)
class EqualRun:
    """One earlier run: the mean log of its trials' values by cell id and statistic."""

    run_id: str
    means: Mapping[tuple[str, str], float]


def read_summaries(folders: Iterable[RunFolder]) -> list[dict[str, Any]]:
    """Return what analysis by this version of orch left undamaged in run folders; a copied run counts once."""
    summaries: dict[str, dict[str, Any]] = {}
    for folder in folders:
        with suppress(OSError, ValueError):
            summary, _ = read_sealed(folder.path / "summary.json")
            if summary.get("schema_version") == SCHEMA_VERSION:
                summaries.setdefault(summary["run"]["id"], summary)
    return list(summaries.values())


def equal_runs(to: RunSummary, summaries: Sequence[Mapping[str, Any]], *, without: Iterable[str]) -> list[EqualRun]:
    """Those of `summaries` (as plain data) that are equal to a run; `without`: ids of the runs being compared.

    One with other fields than this orch writes is equal to none.
    """
    pattern = json.loads(json.dumps({"conditions": to.conditions, "settings": to.settings}, default=vars))
    left_out = {to.run.id, *without}
    wanted = fingerprint(to.plan)
    alike = (
        run
        for run in summaries
        if run["run"]["id"] not in left_out
        and run["run"]["state"] == "complete"
        and not any(check["verdict"] == "fail" for check in run["checks"])
        and are_alike(run, pattern)
    )
    equal = []
    for run in alike:
        with suppress(ValueError):
            if fingerprint(decode(Plan, run["plan"])) == wanted:
                equal.append(EqualRun(run_id=run["run"]["id"], means=_means(summary_of(run))))
    return equal


def beside(new: RunSummary, old: RunSummary, *folders: RunFolder) -> list[EqualRun]:
    """Return other runs equal to `old`, from the folders that the two runs lie in."""
    compared = {folder.path.resolve() for folder in folders}
    roots = dict.fromkeys(path.parent for path in compared)
    folders_beside = [folder for root in roots for folder in runs(root)[-_RUNS_READ:]]
    summaries = read_summaries(folder for folder in folders_beside if folder.path.resolve() not in compared)
    return equal_runs(old, summaries, without=[new.run.id])


def fingerprint(plan: Plan) -> str:
    """SHA-256 of what of a plan changes latencies, hexadecimal; of how many trials each cell has, too."""
    kept = {key: value for key, value in vars(plan).items() if key not in VOLATILE}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), default=vars)
    return hashlib.sha256(text.encode()).hexdigest()


def _means(run: RunSummary) -> dict[tuple[str, str], float]:
    means = {(cell.id, name): mean_of(cell, name) for cell in run.cells for name in STATISTICS}
    return {key: mean.mean for key, mean in means.items() if mean is not None and mean.se is not None}
