"""All pictures of a run, and which of them stand in the first part of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from orchestrator.findings.grid import sweep
from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.questions.axes.find import Curves, Panel
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.report.figures.base import Figure
from orchestrator.report.figures.curves import Scales, gap_curves, panels, scales
from orchestrator.report.figures.distribution import percentile_curve
from orchestrator.report.figures.rates import found_rates
from orchestrator.report.figures.stack_rows import stack_dots
from orchestrator.report.figures.time import time_strip
from orchestrator.report.groups import Group, anchor, cell_colours, groups, kin, rate_groups
from orchestrator.report.prediction import PredictionView, prediction_view

MOST_FIRST = 6
"""Pictures in the first part, which has two pages."""
MOST_OF_A_KIND = 12
"""Of what each setting or each cell has one of: as many become files of their own."""
_STACKS = "latencies of stacks"
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


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The timings of a cell: what it is called, its number, and the picture."""

    label: str
    number: int
    figure: Figure


@dataclass(frozen=True, kw_only=True)
class GroupCharts:
    """The pictures of one group; one that has nothing to show is None."""

    stacks: Figure | None
    percentiles: Figure | None
    strips: tuple[Strip, ...]


@dataclass(frozen=True, kw_only=True)
class Multiple:
    """One setting, and the picture of its differences."""

    panel: Panel
    gap: Figure | None


@dataclass(frozen=True, kw_only=True)
class AxisView:
    """What differs along one axis; the pictures share their scales."""

    slug: str
    curves: Curves
    multiples: tuple[Multiple, ...]


@dataclass(frozen=True, kw_only=True)
class Charts:
    """Every picture of a report; `of_groups` by group."""

    of_groups: Mapping[str, GroupCharts]
    axes: tuple[AxisView, ...]
    sweep: tuple[Pictured, ...]
    rates: tuple[Pictured, ...]
    groups: Sequence[Group]
    metric: str
    prediction: PredictionView | None = None

    @cached_property
    def first(self) -> tuple[Pictured, ...]:
        """What answers at a glance: rates that were searched, else latency along the axis, or that of each stack."""
        return tuple(self._candidates)[:MOST_FIRST]

    @property
    def beyond_first(self) -> int:
        """How many of the same kind stand in the details alone."""
        return len(self._candidates) - len(self.first)

    @property
    def how_to_read(self) -> str:
        """What the marks of the first pictures are."""
        if self.rates:
            return "Diamond: the highest rate that kept the goals, with its 95 % interval; dots: single searches."
        if self.sweep:
            return _OF_A_SWEEP[self.metric]
        return (
            "Dot: median and 95 % interval; tick: p99; dotted: floor. Green: faster than the reference, amber: slower."
        )

    @cached_property
    def _stacks(self) -> tuple[Pictured, ...]:
        return tuple(
            Pictured(title=group.title, figure=drawn)
            for group in self.groups
            if (drawn := self.of_groups[group.slug].stacks)
        )

    @cached_property
    def _candidates(self) -> tuple[Pictured, ...]:
        return self.rates or self.sweep or self._stacks

    def for_files(self) -> list[Pictured]:
        """The pictures that become files, in the order of the page: of single settings the first of each kind.

        Of a run that searched rates each rate that was tried is a setting, and those have none.
        """
        pictures = [*self._of_run()]
        seen: Counter[str] = Counter()
        for kind, pictured in () if self.rates else self._of_settings():
            seen[kind] += 1
            if seen[kind] <= MOST_OF_A_KIND:
                pictures.append(pictured)
        return pictures

    def _of_run(self) -> Iterator[Pictured]:
        """Those that show many settings at once."""
        yield from self.rates
        yield from self.sweep
        if self.prediction:
            yield from (
                Pictured(title=f"Decision map: {each.title}", figure=each.figure) for each in self.prediction.maps
            )
        for axis in self.axes:
            for one in axis.multiples:
                if one.gap:
                    yield Pictured(title=f"{one.panel.title}: difference", figure=one.gap)

    def _of_settings(self) -> Iterator[tuple[str, Pictured]]:
        """Those of single settings, each with its kind."""
        for group in self.groups:
            of = self.of_groups[group.slug]
            figures = (
                (_STACKS, of.stacks),
                ("percentile curves", of.percentiles),
                *(("timings over time", strip.figure) for strip in of.strips),
            )
            for kind, figure in figures:
                if figure:
                    yield kind, Pictured(title=group.title, figure=figure)


def main_pictures(summary: RunSummary, beside: Sequence[Group] = ()) -> tuple[Pictured, ...]:
    """What answers a run at a glance, as `Charts.first`, without its other pictures; scales are those of `beside`, too."""
    found = groups(summary)
    colours = cell_colours(found, summary)
    if others := tuple(_rates(summary, colours)) or tuple(_sweep(summary, colours)):
        return others[:MOST_FIRST]
    drawn = (
        (each, stack_dots(each, [*kin(each, found), *(b for b in beside if b.unit == each.unit)])) for each in found
    )
    return tuple(Pictured(title=each.title, figure=figure) for each, figure in drawn if figure)[:MOST_FIRST]


def charts(summary: RunSummary, found: Sequence[Group], colours: dict[str, int]) -> Charts:
    """All pictures of a summary and its groups."""
    return Charts(
        of_groups={group.slug: _of_group(group, kin(group, found), colours) for group in found},
        axes=_axis_views(summary, colours),
        sweep=tuple(_sweep(summary, colours)),
        rates=tuple(_rates(summary, colours)),
        groups=found,
        metric=ranked_by(summary),
        prediction=prediction_view(summary, colours),
    )


def _sweep(summary: RunSummary, colours: dict[str, int]) -> Iterator[Pictured]:
    """A picture for each operation of a run along an axis."""
    if along := sweep(summary):
        yield from (Pictured(title=title, figure=drawn) for title, drawn in panels(along, colours, ranked_by(summary)))


def _rates(summary: RunSummary, colours: dict[str, int]) -> Iterator[Pictured]:
    """A picture for each setting in which rates were searched."""
    for number, (setting, goals, of) in enumerate(rate_groups(summary), start=1):
        rows = [row for row in CAPACITY.of(summary).comparisons if row.setting == setting]
        title = f"Highest rate while {goals}: {setting}"
        drawn = found_rates(f"rates-{number}", title, of, rows, colours, CAPACITY.of(summary).rates)
        if drawn:
            yield Pictured(title=title, figure=drawn)


def _of_group(group: Group, beside: Sequence[Group], colours: dict[str, int]) -> GroupCharts:
    strips = [(cell, time_strip(cell, group, colours, beside)) for cell in group.measured]
    return GroupCharts(
        stacks=stack_dots(group, beside),
        percentiles=percentile_curve(group, colours, beside),
        strips=tuple(
            Strip(label=cell.stack_label, number=colours[cell.stack], figure=drawn) for cell, drawn in strips if drawn
        ),
    )


def _axis_views(summary: RunSummary, colours: dict[str, int]) -> tuple[AxisView, ...]:
    """What differs along each axis of the run."""
    return tuple(_view(curves, shared, colours) for curves in AXES.of(summary) if (shared := scales(curves)))


def _view(curves: Curves, shared: Scales, colours: dict[str, int]) -> AxisView:
    slug = anchor(curves.axis)
    multiples = tuple(
        Multiple(panel=panel, gap=gap_curves(f"gap-{slug}-{number}", panel, shared, colours))
        for number, panel in enumerate(curves.panels, start=1)
    )
    return AxisView(slug=slug, curves=curves, multiples=multiples)
