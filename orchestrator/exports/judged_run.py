"""A run with what analysis says of it: what every format is made from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import get_args

from orchestrator.analysis.across import compare_within
from orchestrator.analysis.compare import Statistic
from orchestrator.analysis.summary import RunSummary
from orchestrator.errors import UsageError
from orchestrator.exports.cells import cell_rows
from orchestrator.exports.column import Value
from orchestrator.exports.findings import comparison_rows, run_row
from orchestrator.report.dataset.made import names_of
from orchestrator.report.dataset.names import Names
from orchestrator.results.folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """The folder that samples are read from, the summary that all other figures are of, and its report, if there is one.

    An export is sent around as a report is: its rows name no host, user or path, unless it `keeps_names`.
    """

    folder: RunFolder
    summary: RunSummary
    report: Path | None = None
    keeps_names: bool = False

    def about(self) -> dict[str, Value]:
        """A row of `findings.RUN_COLUMNS`."""
        return self._told(run_row(self.summary))

    def cells(self) -> list[dict[str, Value]]:
        """Rows of `cells.COLUMNS`."""
        return [self._told(row) for row in cell_rows(self.summary)]

    def comparisons(self) -> list[dict[str, Value]]:
        """Rows of `findings.COMPARISON_COLUMNS` by each statistic; none where nothing is compared."""
        rows: list[dict[str, Value]] = []
        for statistic in get_args(Statistic):
            with suppress(UsageError):
                rows += comparison_rows(compare_within(self.summary, statistic))
        return [self._told(row) for row in rows]

    @cached_property
    def _names(self) -> Names:
        return names_of(self.folder)

    def _told(self, row: dict[str, Value]) -> dict[str, Value]:
        told: dict[str, Value] = row if self.keeps_names else self._names.document(row)
        return told


def file_name(runs: list[JudgedRun]) -> str:
    """What a file of these runs is called, without its suffix: the id of the last one, and how many there are beside it."""
    last = runs[-1].folder.id
    return last if len(runs) == 1 else f"{last}-and-{len(runs) - 1}-more"
