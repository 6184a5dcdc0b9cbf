"""A run with what analysis says of it: what every format is made from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from orchestrator.analysis.across import compare_within
from orchestrator.analysis.compare import Statistic
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import UsageError
from orchestrator.exports.cells import cell_rows
from orchestrator.exports.column import Value
from orchestrator.exports.findings import comparison_rows, run_row
from orchestrator.results.folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The folder that samples are read from, the summary that all other figures are of, and its report, if there is one."""

    folder: RunFolder
    summary: RunSummary
    report: Path | None = None

    def about(self) -> dict[str, Value]:
        """A row of `findings.RUN_COLUMNS`."""
        return run_row(self.summary)

    def cells(self) -> list[dict[str, Value]]:
        """Rows of `cells.COLUMNS`."""
        return cell_rows(self.summary)

    def comparisons(self) -> list[dict[str, Value]]:
        """Rows of `findings.COMPARISON_COLUMNS` by each statistic; none where nothing is compared."""
        rows: list[dict[str, Value]] = []
        for statistic in get_args(Statistic):
            with suppress(UsageError):
                rows += comparison_rows(compare_within(self.summary, statistic))
        return rows


def file_name(runs: list[JudgedRun]) -> str:
    """What a file of these runs is called, without its suffix: the id of the last one, and how many there are beside it."""
    last = runs[-1].folder.id
    return last if len(runs) == 1 else f"{last}-and-{len(runs) - 1}-more"
