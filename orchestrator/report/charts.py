"""All pictures of a run, and which of them are in the first part of its report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from orchestrator.findings.grid import sweep
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.capacity.words import by_setting
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.curves import panels
from orchestrator.report.figures.distribution import percentile_curve
from orchestrator.report.figures.dot_rows import found_rates, stack_dots
from orchestrator.report.figures.time import time_strip
from orchestrator.report.groups import Group, cell_colours, groups, kin
from orchestrator.report.prediction import PredictionView, prediction_view

MOST_FIRST = 6
"""Pictures in the first part, which has two pages."""
_OF_A_SWEEP = {
    "median": "Median latency with its 95 % interval, on a logarithmic scale; grey: the floor.",
    "p99": "99th percentile of latency, on a logarithmic scale; grey: that of the floor.",
    "throughput": "Replies a second, on a logarithmic scale.",
}


@dataclass(frozen=True, kw_only=True)
class Pictured:
    """A picture with the title that stands above it."""

    title: str
    figure: Figure


class Charts:
    """Every picture of a run, each drawn when it is first used."""

    def __init__(self, summary: RunSummary) -> None:
        self._summary = summary
        self.groups = groups(summary)
        self.colours = cell_colours(self.groups, summary)

    @cached_property
    def first(self) -> tuple[Pictured, ...]:
        """What answers at a glance: rates that were searched, else latency along the axis, or that of each stack."""
        return self._candidates[:MOST_FIRST]

    @property
    def beyond_first(self) -> int:
        """How many of the same kind are in the details alone."""
        return len(self._candidates) - len(self.first)

    @property
    def how_to_read(self) -> str:
        """What the marks of the first pictures are."""
        if self.rates:
            return "Dot: the highest rate that kept the goals, with its 95 % interval."
        if self.sweep:
            return _OF_A_SWEEP[ranked_by(self._summary)]
        return (
            "Dot: median and 95 % interval; tick: p99; dotted: floor. Green: faster than the reference, amber: slower."
        )

    @cached_property
    def sweep(self) -> tuple[Pictured, ...]:
        """A picture for each operation of a run along an axis."""
        along = sweep(self._summary)
        drawn = panels(along, self.colours, ranked_by(self._summary)) if along else ()
        return tuple(Pictured(title=title, figure=figure) for title, figure in drawn)

    @cached_property
    def rates(self) -> tuple[Pictured, ...]:
        """A picture for each setting in which rates were searched."""
        capacity = CAPACITY.of(self._summary)
        pictures = []
        for number, (setting, goals, rates) in enumerate(by_setting(capacity), start=1):
            rows = [row for row in capacity.comparisons if row.setting == setting]
            title = f"Highest rate while {goals}: {setting}"
            if drawn := found_rates(f"rates-{number}", title, rates, rows, self.colours, capacity.rates):
                pictures.append(Pictured(title=title, figure=drawn))
        return tuple(pictures)

    @cached_property
    def prediction(self) -> PredictionView | None:
        """The decision maps, where the run has a cost model."""
        return prediction_view(self._summary, self.colours)

    def percentiles(self, group: Group) -> Figure | None:
        """Latency by percentile; None of a group without samples."""
        return percentile_curve(group, self.colours, kin(group, self.groups))

    def strips(self, group: Group) -> tuple[tuple[str, int, Figure], ...]:
        """The timings of each cell of a group that has some: what it is called, its number, and the picture."""
        beside = kin(group, self.groups)
        return tuple(
            (cell.labels.stack, self.colours[cell.stack], drawn)
            for cell in group.measured
            if (drawn := time_strip(cell, group, self.colours, beside))
        )

    @cached_property
    def _candidates(self) -> tuple[Pictured, ...]:
        return self.rates or self.sweep or tuple(self._stacks())

    def _stacks(self) -> Iterator[Pictured]:
        for group in self.groups:
            if drawn := stack_dots(group, kin(group, self.groups)):
                yield Pictured(title=group.title, figure=drawn)
