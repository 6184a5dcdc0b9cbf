"""Holds a report against the samples that it carries: whether its figures follow from them.

What it finds is a page that was changed and samples that were, unless both were changed so that they agree: that only a
signature finds. What was compared is part of the answer: the whole page, where this very program wrote it; its texts and
charts' data, where a browser rewrote the file; the figures of each cell, where another program wrote it; what a part of the
samples allows, where not all are inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from orchestrator import __version__
from orchestrator.analysis import words
from orchestrator.analysis.collect import last_attempts
from orchestrator.analysis.evidence import COLUMNS, Samples
from orchestrator.analysis.statistics import Nanoseconds
from orchestrator.analysis.summary import CellSummary, TrialSummary
from orchestrator.experiment.plan.plan import Cell
from orchestrator.report.dataset import program
from orchestrator.report.dataset.block import Page
from orchestrator.report.dataset.made import bare_page
from orchestrator.report.dataset.run import Dataset
from orchestrator.report.dataset.taken_apart import Difference, differences, figure_count, figures_differ, texts_differ
from orchestrator.results.manifest import TrialRecord

Compared = Literal["page", "texts and charts", "figures of cells"]
_DEVIATIONS = 5.0  # of a count of samples below a quantile: 1 in a million trials lies beyond by chance
_FEWEST = 10  # samples beyond a quantile, as in a report
_QUANTILES = (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999))
_ROUNDING = 1e-9
_OF_TRIALS = ("median", "p99")  # what is stored of each trial


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of it. `why_not_all`: why not the whole page was compared; `figures`: how many of cells were, then.

    `bounded`: how many statistics of trials and cells were held against a part of their samples.
    """

    compared: Compared
    why_not_all: str
    figures: int
    bounded: int
    is_as_written: bool
    differences: tuple[Difference, ...]


def check(page: Page) -> Checked:
    """Compute the report again from what it carries, and compare."""
    dataset = page.dataset
    expected = bare_page(dataset)
    compared, why = _comparable(page)
    figures = 0
    if compared == "page":
        found = differences(page.text, expected)
    elif compared == "texts and charts":
        found = texts_differ(page.text, expected)
    else:
        found, figures = figures_differ(page.text, expected), figure_count(page.text, expected)
        if not figures and any(cell.distribution for cell in dataset.summary().cells):
            found.append(Difference("the page", "", "figures of each cell"))
        if not page.is_as_written and not page.is_saved_by_browser:
            found.append(Difference("the page", "another text than its own digest is of", "the text that was written"))
    bounds = [] if dataset.is_whole else list(_bounds(dataset))
    found += [of for of in bounds if of is not None]
    return Checked(
        compared=compared,
        why_not_all=why,
        figures=figures,
        bounded=len(bounds),
        is_as_written=page.is_as_written,
        differences=tuple(found),
    )


def _comparable(page: Page) -> tuple[Compared, str]:
    """What of a page can be compared, and why not all of it."""
    about = page.dataset.about
    if about.program != program.digest():
        same = " of another state of its code" if about.orch == __version__ else ""
        saved = ", and a browser saved it" if page.is_saved_by_browser else ""
        return "figures of cells", f"orch {about.orch}{same} wrote it, and this is {__version__}{saved}"
    if page.is_saved_by_browser:
        return "texts and charts", "a browser saved this file, and wrote what the page had become on the screen"
    return "page", ""


def _bounds(dataset: Dataset) -> Iterator[Difference | None]:
    """For each statistic that a part of the samples bounds: None where it is within, else what it would have to be."""
    cells = {cell.id: cell for cell in dataset.plan.cells}
    records = {record.index: record for record in last_attempts(dataset.manifest().trials)}
    everywhere = {name: _Below(share) for name, share in _QUANTILES}
    for cell in dataset.summary().cells:
        planned = cells.get(cell.id)
        if planned is None or planned.find is not None or cell.kind not in ("call", "task", "codec") or planned.mixed:
            continue
        of_trials: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in _QUANTILES}
        ends: list[tuple[float, float]] = []
        below: dict[str, _Below] = {name: _Below(share) for name, share in _QUANTILES}
        for trial in cell.trials:
            taken, failed = _taken(dataset, planned, records.get(trial.index))
            for name, low, high in _of_trial(taken, failed):
                of_trials[name].append((low, high))
                if name in _OF_TRIALS:
                    below[name].count(taken, failed, getattr(trial, name))
                    yield _judged(cell, trial, name, low, high)
            if taken.size:
                ends.append((float(taken[0]) / 1e6, float(taken[-1]) / 1e6))
        yield from _of_cell(cell, of_trials)
        yield from _of_ends(cell, ends)
        for name, counted in below.items():
            if counted.trials > 1:
                where = f"{cell.stack_label}, {cell.setting}, {name} of all {counted.trials} trials together"
                yield counted.judged(where)
                everywhere[name].add(counted)
    for name, counted in everywhere.items():
        if counted.trials > 1:
            yield counted.judged(f"all cells, {name} of all {counted.trials} trials together")


@dataclass
class _Below:
    """How many samples of several trials lie below the stated quantile of each: a share of them, but for chance.

    Together they show a change that is the same in all and too small to be seen in one.
    """

    share: float
    trials: int = 0
    samples: int = 0
    surely: int = 0  # below it
    at_most: int = 0  # below it, or as large to the nanosecond

    def count(self, ordered: Nanoseconds, failed: int, stated_ms: float | None) -> None:
        """One more trial."""
        if stated_ms is not None:
            self.trials += 1
            self.samples += ordered.size + failed
            self.surely += int(np.searchsorted(ordered, stated_ms * 1e6 - 1, side="left"))
            self.at_most += int(np.searchsorted(ordered, stated_ms * 1e6 + 1, side="right"))

    def add(self, other: _Below) -> None:
        """Those of one more cell."""
        self.trials += other.trials
        self.samples += other.samples
        self.surely += other.surely
        self.at_most += other.at_most

    def judged(self, where: str) -> Difference | None:
        """None where as many lie below as chance allows."""
        wanted = self.samples * self.share
        spread = _DEVIATIONS * math.sqrt(wanted * (1 - self.share)) + self.trials
        if self.surely <= wanted + spread and self.at_most >= wanted - spread:
            return None
        found = self.surely if self.surely > wanted else self.at_most
        allowed = f"{words.percent(self.share)}, give or take {words.percent(spread / self.samples)}"
        return Difference(
            where, f"values that {words.percent(found / self.samples)} of their samples lie below", allowed
        )


def _taken(dataset: Dataset, cell: Cell, record: TrialRecord | None) -> tuple[Nanoseconds, int]:
    """A trial's samples that are inside, in order, and how many more got no right reply."""
    taken: list[Nanoseconds] = []
    failed = 0
    for part in record.requesters if record is not None else ():
        if part.samples:
            samples = Samples(dataset.samples(part.samples, COLUMNS), is_open_loop=cell.load.rate_per_s is not None)
            taken.append(samples.ordered_ns)
            failed += samples.measured - samples.ordered_ns.size
    return np.sort(np.concatenate(taken)) if taken else np.empty(0, dtype=np.int64), failed


def _of_trial(ordered: Nanoseconds, failed: int) -> Iterator[tuple[str, float, float]]:
    """The bounds of a trial's median and p99 in milliseconds, where its samples inside are enough for them."""
    count = ordered.size + failed
    for name, share in _QUANTILES:
        if count * (1 - share) >= _FEWEST:
            spread = _DEVIATIONS * math.sqrt(count * share * (1 - share)) + 1
            yield name, _at(ordered, count * share - spread), _at(ordered, count * share + spread)


def _at(ordered: Nanoseconds, place: float) -> float:
    """The sample of that place among all, in milliseconds; beyond the last right reply there is no limit."""
    number = math.floor(place)
    if number < 0:
        return 0.0
    return float(ordered[number]) / 1e6 if number < ordered.size else math.inf


def _judged(cell: CellSummary, trial: TrialSummary, name: str, low: float, high: float) -> Difference | None:
    value = getattr(trial, name)
    if value is None or low <= value <= high:
        return None
    where = f"{cell.stack_label}, {cell.setting}, {words.of_trial(trial.block, trial.index)}, {name}"
    return Difference(where, words.ms(value), _between(low, high))


def _of_cell(cell: CellSummary, bounds: dict[str, list[tuple[float, float]]]) -> Iterator[Difference | None]:
    """A cell's percentile is the geometric mean of its trials'."""
    for name, of in bounds.items():
        value = None if cell.distribution is None else getattr(cell.distribution, name)
        is_mean = cell.distribution is not None and name not in cell.distribution.pooled
        if value is None or not is_mean or len(of) != len(cell.trials) or not of or any(low <= 0 for low, _ in of):
            continue
        low, high = (math.exp(sum(math.log(each[side]) for each in of) / len(of)) for side in (0, 1))
        is_within = low <= value <= high
        where = f"{cell.stack_label}, {cell.setting}, {name}"
        yield None if is_within else Difference(where, words.ms(value), _between(low, high))


def _of_ends(cell: CellSummary, ends: list[tuple[float, float]]) -> Iterator[Difference | None]:
    """The quickest and the slowest of all are at least those of the samples inside."""
    if not ends or cell.distribution is None:
        return
    low, high = min(least for least, _ in ends), max(most for _, most in ends)
    minimum, maximum = cell.distribution.minimum, cell.distribution.maximum
    where = f"{cell.stack_label}, {cell.setting}"
    if minimum is not None:
        is_within = minimum <= low * (1 + _ROUNDING)
        yield None if is_within else Difference(f"{where}, minimum", words.ms(minimum), f"at most {words.ms(low)}")
    if maximum is not None:
        is_within = maximum >= high * (1 - _ROUNDING)
        yield None if is_within else Difference(f"{where}, maximum", words.ms(maximum), f"at least {words.ms(high)}")


def _between(low: float, high: float) -> str:
    return f"{words.ms(low)} to {words.ms(high)}" if math.isfinite(high) else f"at least {words.ms(low)}"
