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

from orchestrator import quantities
from orchestrator.between_runs.environments import are_alike
from orchestrator.between_runs.run_statistics import run_mean
from orchestrator.findings.blocks import by_block, censored_blocks, missing_blocks
from orchestrator.findings.compare import STATISTICS
from orchestrator.findings.cost import COST_NAMES
from orchestrator.findings.summary import SCHEMA_VERSION, RunSummary
from orchestrator.results.documents import read_sealed
from orchestrator.results.folder import RunFolder, runs
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


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What analysis left in run folders, and how many of them were passed over though they have a summary."""

    summaries: list[dict[str, Any]]
    foreign: int = 0  # not made here: copied, moved or unpacked
    changed: int = 0  # not as it was written, or not readable
    outdated: int = 0  # of another version of orch

    def passed_over(self) -> tuple[str, ...]:
        """A clause for each reason that occurred."""
        reasons = (
            (self.foreign, "not made here (copied or moved)"),
            (self.changed, "passed over because summary.json was changed or damaged"),
            (self.outdated, "passed over because another version of orch wrote summary.json"),
        )
        return tuple(
            f"{quantities.count(n, 'run')} in the folder {'was' if n == 1 else 'were'} {why} and "
            f"{'is' if n == 1 else 'are'} "
            "not used"
            for n, why in reasons
            if n
        )


def read_summaries(folders: Iterable[RunFolder]) -> list[dict[str, Any]]:
    """The summaries of `read_stored`."""
    return read_stored(folders).summaries


def read_stored(folders: Iterable[RunFolder]) -> Stored:
    """What analysis left in run folders; those without a summary are not counted."""
    found: list[dict[str, Any]] = []
    foreign = changed = outdated = 0
    for folder in folders:
        try:
            is_ours = folder.is_ours
            summary = read_sealed(folder.path / "summary.json") if is_ours else {}
        except OSError:
            continue
        except ValueError:
            changed += 1
            continue
        if not is_ours:
            foreign += (folder.path / "summary.json").is_file()
        elif summary.get("schema_version") != SCHEMA_VERSION:
            outdated += 1
        else:
            found.append(summary)
    return Stored(summaries=found, foreign=foreign, changed=changed, outdated=outdated)


def equal_runs(to: RunSummary, summaries: Sequence[Mapping[str, Any]], *, without: Iterable[str]) -> list[EqualRun]:
    """Those of `summaries` (as plain data) that are equal to a run; `without`: ids of the runs being compared.

    One with other fields than this orch writes is equal to none.
    """
    pattern = json.loads(json.dumps({"conditions": to.conditions, "settings": to.settings}))
    left_out = {to.run_id, *without}
    wanted = fingerprint(to.plan)
    alike = [
        run
        for run in summaries
        if run["run_id"] not in left_out
        and run["state"] == "complete"
        and not any(check["verdict"] == "fail" for check in run["checks"])
        and fingerprint(run["plan"]) == wanted
        and are_alike(run, pattern)
    ]
    found = []
    for run in alike:
        with suppress(ValueError):
            found.append(EqualRun(run_id=run["run_id"], means=_means(summary_of(run))))
    return found


def beside(new: RunSummary, old: RunSummary, *folders: RunFolder) -> tuple[list[EqualRun], tuple[str, ...]]:
    """Other runs equal to `old`, from the folders that the two runs lie in, and what was passed over there, as clauses."""
    compared = {folder.path.resolve() for folder in folders}
    roots = dict.fromkeys(path.parent for path in compared)
    found = [folder for root in roots for folder in runs(root)[-_RUNS_READ:]]
    stored = read_stored(folder for folder in found if folder.path.resolve() not in compared)
    return equal_runs(old, stored.summaries, without=[new.run_id]), stored.passed_over()


def fingerprint(plan: Mapping[str, Any]) -> str:
    """SHA-256 of what of a plan changes latencies, hexadecimal; of how many trials each cell has, too."""
    kept = {key: value for key, value in plan.items() if key not in VOLATILE}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), default=list)
    return hashlib.sha256(text.encode()).hexdigest()


def _means(run: RunSummary) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for cell in run.cells:
        for statistic in (*STATISTICS, *COST_NAMES):
            mean = run_mean(list(by_block(cell.trials, statistic).values()))
            if mean and not censored_blocks(cell.trials, statistic) and not missing_blocks(cell.trials, statistic):
                found[cell.id, statistic] = mean.mean
    return found
