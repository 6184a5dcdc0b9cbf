"""The cells of a run by setting, as its tables show them: what each is called, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orchestrator import quantities
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.findings import naming, validity
from orchestrator.findings.block_values import ranked
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary


@dataclass(frozen=True)
class Setting:
    """Cells that stand in one table, the best first; `unit` is that of all their latencies."""

    title: str
    cells: tuple[CellSummary, ...]
    unit: quantities.Unit
    reference: str  # what all of them are compared with; empty where that differs


class Settings:
    """The settings of a run."""

    def __init__(self, summary: RunSummary) -> None:
        self.summary = summary
        self.metric = ranked_by(summary)
        self.labels: Mapping[str, str] = naming.in_tables(summary)
        self.invalid = validity.invalid_cells(summary.cells, summary.checks)
        self._against: dict[tuple[str, str], list[Comparison]] = {}
        for comparison in (*summary.comparisons, *summary.costs):
            self._against.setdefault((comparison.cell, comparison.statistic), []).append(comparison)
        self._references = {c.reference_cell for c in summary.comparisons}

    @cached_property
    def every(self) -> tuple[Setting, ...]:
        """All settings, in the order of their first cells."""
        apart = dict.fromkeys(factor.name for factor in naming.compared_calls(self.summary.comparisons))
        settings: dict[str, list[CellSummary]] = {}
        for cell in self.summary.cells:
            title = " · ".join((cell.operation, cell.placement, *phrases({**cell.factors, **apart}), cell.load))
            settings.setdefault(title, []).append(cell)
        return tuple(
            Setting(
                title,
                tuple(ranked(cells, self.invalid, self.metric)),
                quantities.unit_for(c.distribution.median or 0.0 for c in cells if c.distribution),
                self._common(cells),
            )
            for title, cells in settings.items()
        )

    def against(self, cell: CellSummary, statistic: str = "") -> Sequence[Comparison]:
        """The comparisons of a cell by what the result is about, the first by the stack where there is one."""
        return self._against.get((cell.id, statistic or self.metric), ())

    def is_reference(self, cell: CellSummary) -> bool:
        """Whether other cells are compared with this one."""
        return cell.id in self._references

    def reference(self, comparison: Comparison) -> str:
        """What a cell is compared with: what a table calls the stack, or the factor's value."""
        if comparison.factor == STACK:
            return self.labels.get(comparison.reference_cell, comparison.reference_label)
        return comparison.compared_with

    def warned(self, cell: CellSummary) -> tuple[str, ...]:
        """The names of the checks that warn of a cell, or of the whole run."""
        return tuple(
            dict.fromkeys(c.name for c in self.summary.checks if c.verdict == "warn" and c.cell in (None, cell.id))
        )

    def _common(self, cells: Sequence[CellSummary]) -> str:
        firsts = [comparisons[0] for cell in cells if (comparisons := self.against(cell))]
        names = {self.reference(c) for c in firsts if not c.control} or {self.reference(c) for c in firsts}
        return names.pop() if len(names) == 1 else ""
