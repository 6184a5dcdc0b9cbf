"""Refuses a cost model that no run has: one that travels in a summary is not computed here, and is drawn as it stands.

What is refused would not end (millions of requests in flight), or has no place on a map (a round trip of nothing).
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from itertools import pairwise

from orchestrator.analysis.intervals import FEWEST_BLOCKS
from orchestrator.analysis.model.rivals import RIVALS
from orchestrator.analysis.model.shapes import MODEL, Fit, Interval, Judged, Modelled
from orchestrator.experiment.model.options import MAX_CONCURRENCY
from orchestrator.experiment.plan.series import FEWEST_SIZES

_LEAST, _MOST = 1e-30, 1e30  # of any quantity: products of a few stay numbers
_MOST_OPENING = 100  # round trips


def require_possible(modelled: Modelled, stacks: Container[str]) -> None:
    """ValueError names what of a model is not as a fit to cells of these stacks leaves it."""
    by_id = {series.id: series for series in modelled.series}
    _require(len(by_id) == len(modelled.series), "series")
    for series in modelled.series:
        _require(series.stack in stacks, f"series {series.id}: stack")
    _require(set(modelled.not_fitted) <= set(by_id), "not_fitted")
    fitted = {fit.series.id for fit in modelled.fits}
    _require(len(fitted) == len(modelled.fits), "fits")
    for fit in modelled.fits:
        _require(by_id.get(fit.series.id) == fit.series, "fits: series")
        _require_fit(f"fit of {fit.series.id}", fit)
    if modelled.judged is not None:
        _require_judged(modelled.judged, fitted)


def _require_fit(place: str, fit: Fit) -> None:
    sizes = len(fit.sizes)
    _require(sizes >= FEWEST_SIZES and _ascend(fit.sizes), f"{place}: sizes")
    for name in ("up", "down", "hosts"):
        _require(len(getattr(fit, name)) == sizes and _are(getattr(fit, name)), f"{place}: {name}")
    for name in ("requester_cpu", "responder_cpu"):
        values = getattr(fit, name)
        _require(len(values) in (0, sizes) and _are(values, least=0.0), f"{place}: {name}")
    rows = [len(row) == sizes and _are(map(abs, row), least=0.0) for row in fit.by_block]
    _require(len(rows) >= FEWEST_BLOCKS and all(rows), f"{place}: by_block")
    unsure = [_are((each.hosts, each.trips, each.middle), least=0.0) and each.hosts > 0 for each in fit.unsure]
    _require(len(unsure) == sizes and all(unsure), f"{place}: unsure")
    _require(0 <= fit.opening <= _MOST_OPENING, f"{place}: opening")
    _require_windows(place, fit)
    _require(_are((fit.scatter_hosts, fit.scatter_network), least=0.0) and _are((fit.freedom,)), f"{place}: scatter")
    for name, least in (("rtt_range", _LEAST), ("size_range", 0.0), ("rate_range", _LEAST)):
        _require(_is_range(getattr(fit, name), least), f"{place}: {name}")
    _require(fit.in_flight_range[0] == 1 <= fit.in_flight_range[1] <= MAX_CONCURRENCY, f"{place}: in_flight_range")
    _require(fit.off_in_flight is None or _are((fit.off_in_flight,), least=0.0), f"{place}: off_in_flight")
    _require(bool(fit.cells), f"{place}: cells")
    for cell in fit.cells:
        is_whole = 0 < len(cell.blocks) == len(cell.rtt) == len(cell.median) and _are((cell.size,), least=0.0)
        _require(is_whole and _are(cell.rtt) and _are(cell.median), f"{place}: cell {cell.cell}")


def _require_windows(place: str, fit: Fit) -> None:
    windows = fit.windows
    limits = [value for value in (windows.first, windows.steady) if value is not None]
    _require(_are((*limits, windows.growth)), f"{place}: windows")
    sizes, trips = ([part[which] for part in windows.rounds] for which in (0, 1))
    _require(_ascend(sizes) and _are(sizes) and _are(trips, least=0.0), f"{place}: rounds")


def _require_judged(judged: Judged, fitted: Collection[str]) -> None:
    methods = {MODEL, *RIVALS}
    _require(bool(judged.cells) and set(judged.by_series) <= set(fitted), "sealed cells")
    _require(set(judged.widened) <= set(fitted) and _are(judged.widened.values(), least=1.0), "sealed cells: widened")
    _require({score.method for score in judged.scores} == methods, "sealed cells: scores")
    for cell in judged.cells:
        is_known = cell.series in fitted and cell.errors.keys() == methods
        rate = () if cell.rate_mbit is None else (cell.rate_mbit,)
        is_number = _are((cell.rtt, cell.measured, cell.predicted, *cell.interval, *rate)) and cell.size >= 0
        is_error = _are(map(abs, cell.errors.values()), least=0.0)
        is_so = is_known and is_number and is_error and 1 <= cell.in_flight <= MAX_CONCURRENCY
        _require(is_so, f"sealed cell {cell.cell}")


def _is_range(of: Interval | None, least: float) -> bool:
    return of is None or (_are(of, least) and of[0] <= of[1])


def _are(values: Iterable[float], least: float = _LEAST) -> bool:
    return all(least <= value <= _MOST for value in values)


def _ascend(values: Iterable[float]) -> bool:
    found = list(values)
    return _are(found, least=0.0) and all(one < other for one, other in pairwise(found))


def _require(is_so: bool, place: str) -> None:
    if not is_so:
        raise ValueError(f"prediction: {place:.120}: not as orch writes it")
