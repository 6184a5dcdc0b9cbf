"""The cells of a run by setting, as its tables show them: what each is called, and what it is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orchestrator import quantities
from orchestrator.experiment.model.factor import Value
from orchestrator.experiment.model.factors import STACK, phrases
from orchestrator.findings import naming, validity
from orchestrator.findings.block_values import ranked
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import CellSummary, Comparison, RunSummary


@dataclass(frozen=True)
class Setting:
    """Cells of one table, the best first; `unit` is that of all their latencies.

    `title` names operation, placement, call and load; `name` leaves the load out where no other setting has that name.
    """

    title: str
    name: str
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
        """All settings, in the order of their first cells.

        Cells that are compared by how requests are made are in one table. Where every stack has a way of its own (REST
        opens a connection per call, gRPC keeps one), that is part of the stack, and the stacks are in one table, too.
        """
        calls: dict[str, set[tuple[Value, ...]]] = {}
        for cell in self.summary.cells:
            calls.setdefault(cell.stack, set()).add(cell.call)
        belongs_to_stack = all(len(ways) == 1 for ways in calls.values()) and len(set().union(*calls.values())) > 1
        apart = dict.fromkeys(factor.name for factor in naming.compared_calls(self.summary.comparisons))
        settings: dict[tuple[str, ...], list[CellSummary]] = {}
        for cell in self.summary.cells:
            call = () if belongs_to_stack else phrases({**cell.factors, **apart})
            settings.setdefault((cell.labels.operation, cell.labels.placement, *call, cell.labels.load), []).append(
                cell
            )
        names = [" · ".join(key[:-1]) for key in settings]
        return tuple(
            Setting(
                title=(title := " · ".join(key)),
                name=name if names.count(name) == 1 else title,
                cells=tuple(ranked(cells, self.invalid, self.metric)),
                unit=quantities.unit_for(c.distribution.median for c in cells if c.distribution),
                reference=self._common(cells),
            )
            for (key, cells), name in zip(settings.items(), names, strict=True)
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

    def _common(self, cells: Sequence[CellSummary]) -> str:
        firsts = [comparisons[0] for cell in cells if (comparisons := self.against(cell))]
        names = {self.reference(c) for c in firsts if not c.control} or {self.reference(c) for c in firsts}
        return names.pop() if len(names) == 1 else ""
