"""The figures of a summary as flat data, which a page states as one JSON block, and how two sets of them differ."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any, TypeAlias

from orchestrator.findings.summary import Comparison, RunSummary
from orchestrator.questions.capacity.find import QUESTION as CAPACITY
from orchestrator.questions.stability.find import QUESTION as STABILITY
from orchestrator.statistics.quantiles import Distribution
from orchestrator.strict_json import parse_json

Figure: TypeAlias = float | str
Path: TypeAlias = tuple[str, ...]
Figures: TypeAlias = dict[Path, Figure]
"""Numbers, and verdicts of checks, by a path such as `cells`, the cell's id, `median`. Latencies are milliseconds."""

_BLOCK = re.compile(r'<script type="application/json" id="figures-data">([^<]*)</script>')
_SAME = 1e-9  # relative: processors differ in the last digit of a logarithm
_OF_A_CELL = (
    "requests",
    "failed",
    "not_sent",
    "failed_trials",
    "median_interval",
    "throughput_per_s",
    "floors.tcp",
    "floors.ping",
)
_NOT_STATED = ("curve", "censored", "pooled")  # of a distribution


@dataclass(frozen=True)
class Difference:
    """A figure that does not follow from the samples; `recomputed` is None where nothing does."""

    figure: Path
    stated: Figure
    recomputed: Figure | None

    def __str__(self) -> str:
        return f"{', '.join(self.figure)}: stated {self.stated}, recomputed {self.recomputed}"


def figures(summary: RunSummary) -> Figures:
    """The figures of cells, floors, comparisons and rates, and the verdict of each check."""
    return dict(_all(summary))


def block(summary: RunSummary) -> str:
    """The figures as a page carries them: inert JSON, an object in an object for each step of a path."""
    document: dict[str, Any] = {}
    for path, figure in _all(summary):
        place = document
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = figure
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="figures-data">{text}</script>\n'


def stated(page: str) -> Figures:
    """The figures that a page states; ValueError where it states none, or in another form."""
    found = _BLOCK.search(page)
    if found is None:
        raise ValueError("it states no figures as data")
    return dict(_flat(parse_json(found[1]), ()))


def differences(shown: Mapping[Path, Figure], recomputed: Mapping[Path, Figure]) -> tuple[Difference, ...]:
    """Every stated figure that is another one when it is recomputed."""
    return tuple(
        Difference(name, figure, recomputed.get(name))
        for name, figure in shown.items()
        if not _is_same(figure, recomputed.get(name))
    )


def _all(summary: RunSummary) -> Iterator[tuple[Path, Figure]]:
    for cell in summary.cells:
        where = ("cells", cell.id)
        yield from _numbers(where, {name: attrgetter(name)(cell) for name in _OF_A_CELL})
        yield from _of_distribution(where, cell.distribution)
        for trial in cell.trials:
            yield from _numbers((*where, "trials", str(trial.index)), {"median": trial.median, "p99": trial.p99})
    for place, floor in enumerate(summary.floors):
        yield from _of_distribution(("floors", str(place)), floor.distribution)
    compared = {"comparisons": summary.comparisons, "costs": summary.costs, "spreads": STABILITY.of(summary)}
    for kind, comparisons in compared.items():
        for comparison in comparisons:
            yield from _of_comparison(kind, comparison)
    for rate in CAPACITY.of(summary).rates:
        yield from _numbers(("rates", rate.cell), {"rate_per_s": rate.rate_per_s, "interval": rate.interval})
    for check in summary.checks:
        yield ("checks", check.name, check.cell or "run"), check.verdict


def _of_distribution(where: Path, distribution: Distribution | None) -> Iterator[tuple[Path, Figure]]:
    if distribution is not None:
        parts = asdict(distribution)
        yield from _numbers(where, {name: value for name, value in parts.items() if name not in _NOT_STATED})


def _of_comparison(kind: str, comparison: Comparison) -> Iterator[tuple[Path, Figure]]:
    pair = comparison.factor, comparison.cell, comparison.reference_cell, comparison.statistic
    parts = {"ratio": comparison.ratio, "interval": comparison.interval, "p_value": comparison.p_value}
    yield from _numbers((kind, *pair), parts)


def _numbers(where: Path, parts: Mapping[str, Any]) -> Iterator[tuple[Path, Figure]]:
    """Each number by its path; an interval is two, and what is not known is left out."""
    for name, value in parts.items():
        if isinstance(value, tuple):
            yield from _numbers((*where, name), dict(zip(("low", "high"), value, strict=True)))
        elif value is not None:
            yield (*where, name), value


def _flat(document: Any, path: Path) -> Iterator[tuple[Path, Figure]]:
    """The inverse of `block`; ValueError for what is neither a number, a text nor an object of these."""
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _flat(value, (*path, name))
    elif isinstance(document, int | float | str):
        yield path, document
    else:
        raise ValueError(f"{', '.join(path)} is no figure")


def _is_same(one: Figure, other: Figure | None) -> bool:
    if isinstance(one, str) or isinstance(other, str | None):
        return one == other
    return math.isclose(one, other, rel_tol=_SAME, abs_tol=1e-12)
