"""Published sentences held against our own figures, with intervals from the blocks that both sides of a ratio share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.published.kept import Cell, Kept
from benchmarks.published.specs import Alike, Asked, Fewer, Ours, Table
from orchestrator import quantities
from orchestrator.audit.claim_forms import (
    Compared,
    Connections,
    DeliversAll,
    Extreme,
    Figure,
    LargerEffect,
    Size,
    Times,
)
from orchestrator.statistics import intervals

Verdict = Literal["agrees", "in direction", "does not agree", "not resolved", "not asked here", "not run yet"]
# From the most to the least serious: a sentence is held as well as its worst part.
WORST: Sequence[Verdict] = (
    "not run yet",
    "not asked here",
    "does not agree",
    "not resolved",
    "in direction",
    "agrees",
)

_POINTS = 2.5  # of one percentage, as `orch audit` allows
_SHARE = 0.1  # of a factor, or a peak
_KEPT_TRIPS = 1.75  # round trips from which a call took more than one


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What our figures say of a sentence, and the arithmetic in words."""

    verdict: Verdict
    text: str


class Unasked(Exception):
    """A row has no figures of ours; the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Our rows of a table; runs that were not made are not among `kept`."""

    table: Table
    kept: Mapping[str, Kept]

    def cell(self, row: str) -> Cell:
        """The cell beside a row; Unasked where there is none."""
        of = self.table.rows.get(row)
        if not isinstance(of, Ours):
            raise Unasked(Finding(verdict="not asked here", text=of or f"{row} is not measured here"))
        if of.run not in self.kept:
            raise Unasked(Finding(verdict="not run yet", text=f"the run `{of.run}` was not made yet"))
        cell = self.kept[of.run].cell(of.asked)
        if cell is None or not cell.samples:
            raise Unasked(Finding(verdict="not asked here", text=f"{row}: no sample in the run `{of.run}`"))
        if cell.invalid:
            raise Unasked(
                Finding(
                    verdict="not resolved", text=f"{row}: {', '.join(cell.invalid)} failed, its figures are invalid"
                )
            )
        return cell

    def ratio(self, row: str, other: str, statistic: str) -> tuple[float, tuple[float, float] | None]:
        """A row over another by a statistic, block by block, with its 95 % interval; of throughput, its inverse."""
        one, two = (_by_block(self.cell(name), statistic) for name in (row, other))
        shared = sorted(one.keys() & two.keys())
        if not shared:
            raise Unasked(
                Finding(verdict="not resolved", text=f"{row} and {other} have no block with {statistic} of both")
            )
        of = intervals.paired([one[block] for block in shared], [two[block] for block in shared])
        return of.ratio, of.interval()

    def ping(self, row: str) -> float:
        """The mean ping of the row's placement, in ms."""
        of = self.table.rows[row]
        placement = str(self.cell(row).factors["placement"])
        return self.kept[of.run].pings[placement] if isinstance(of, Ours) else 0.0


def _by_block(cell: Cell, statistic: str) -> dict[int, float]:
    found = {}
    for trial in cell.trials:
        value = 1 / trial.throughput_per_s if statistic == "throughput_per_s" else getattr(trial, statistic)
        if value:
            found[trial.block] = value
    return found


def hold(figures: Figures, sentence: str, tests: Sequence[Asked]) -> Finding:
    """What our figures say of a sentence: all of its parts must hold."""
    if why := figures.table.without.get(sentence):
        return Finding(verdict="not asked here", text=why)
    asked = figures.table.asked.get(sentence) or tests
    if not asked:
        return Finding(verdict="not asked here", text="nobody has put it into figures")
    found = [finding for test in asked for finding in _findings(figures, test)]
    worst = min(found, key=lambda finding: WORST.index(finding.verdict))
    return Finding(verdict=worst.verdict, text="; ".join(dict.fromkeys(finding.text for finding in found)))


def _findings(figures: Figures, test: Asked) -> Iterator[Finding]:
    for ask in _parts(figures, test):
        try:
            yield ask()
        except Unasked as unasked:
            yield unasked.finding


def _parts(figures: Figures, test: Asked) -> list[Callable[[], Finding]]:
    """One question for each part of a test."""

    def of(function: Callable[..., Finding], *given: Any) -> Callable[[], Finding]:
        return lambda: function(figures, *given)

    match test:
        case Compared():
            pairs = test.pairs if test.kind == "faster" else [pair[::-1] for pair in test.pairs]
            return [of(_faster, pair, test) for pair in pairs]
        case Times():
            return [of(_times, test)]
        case Extreme(kind="lowest"):
            return [of(_lowest, test)]
        case Size():
            return [of(_size, test)]
        case DeliversAll():
            return [of(_delivered, row) for row in test.rows]
        case Figure(statistic="throughput_per_s", factor=1.0):
            return [of(_peak, group, test.equals) for group in test.groups]
        case LargerEffect():
            return [of(_larger, test)]
        case Connections():
            return [of(_connections, row, test.policy) for row in test.rows]
        case Alike():
            return [of(_alike, pair, test.within) for pair in test.pairs]
        case Fewer():
            return [of(_fewer, test)]
        case _:
            return [lambda: Finding(verdict="not asked here", text="a figure of another machine")]


def _faster(figures: Figures, pair: tuple[str, str], test: Compared) -> Finding:
    """The left row of a pair takes less time; `percent` may be time saved or speed gained."""
    ratio, interval = figures.ratio(*pair, test.statistic)
    text = f"{pair[0]} {_takes(ratio)}{' as' if ratio >= 2 else ' than'} {pair[1]}{_shown(interval)}"
    if interval is None or interval[0] <= 1 <= interval[1]:
        return Finding(verdict="not resolved", text=text)
    if interval[0] > 1:
        return Finding(verdict="does not agree", text=text)
    if test.percent is None:
        return Finding(verdict="agrees", text=text)
    low, high = interval
    saved, gained = (100 * (1 - high), 100 * (1 - low)), (100 * (1 / high - 1), 100 * (1 / low - 1))
    least, most = test.percent
    rounded = _POINTS if least == most else 0.0  # a range allows as much as its author meant
    fits = any(of[0] - rounded <= most and least <= of[1] + rounded for of in (saved, gained))
    return Finding(verdict="agrees" if fits else "in direction", text=text)


def _times(figures: Figures, test: Times) -> Finding:
    ratio, interval = figures.ratio(test.row, test.of, test.statistic)
    text = f"{test.row} takes {quantities.factor(ratio)} times as long as {test.of}{_shown(interval)}"
    low, high = interval or (ratio, ratio)
    if low / (1 + _SHARE) <= test.factor <= high * (1 + _SHARE):
        return Finding(verdict="agrees" if interval else "not resolved", text=text)
    if interval is None or low <= 1 <= high:
        return Finding(verdict="not resolved" if interval is None else "does not agree", text=text)
    return Finding(verdict="in direction" if (low > 1) == (test.factor > 1) else "does not agree", text=text)


def _lowest(figures: Figures, test: Extreme) -> Finding:
    """Of what pools all trials there is no interval: the figures alone decide."""
    rows = test.among or tuple(row for row in figures.table.rows if "-" not in row)
    found = {row: getattr(figures.cell(row), test.statistic) for row in rows}
    known = {row: value for row, value in found.items() if value is not None}
    least = min(known, key=lambda row: known[row])
    lead = f"lowest of {least} {_ms(known[least])}, without an interval"
    text = f"{test.statistic.upper()} of {test.row} {_ms(found[test.row])}, {lead}"
    return Finding(verdict="agrees" if least == test.row else "does not agree", text=text)


def _size(_figures: Figures, test: Size) -> Finding:
    """Encoded here and now: no run is needed."""
    import cbor2
    import msgpack

    message = dict(test.message)
    encoded = {
        "json": lambda: json.dumps(message, separators=(",", ":")).encode(),
        "cbor": lambda: cbor2.dumps(message),
        "msgpack": lambda: msgpack.packb(message),
    }[test.codec]()
    text = f"{len(encoded)} B in {test.codec.upper()}"
    return Finding(verdict="agrees" if abs(len(encoded) - test.bytes) <= 1 else "does not agree", text=text)


def _delivered(figures: Figures, row: str) -> Finding:
    events = figures.cell(row).events
    if events is None:
        return Finding(verdict="not asked here", text=f"{row} is no stream")
    text = f"{row}: {events.delivered:,} of {events.offered:,} events, {events.dropped:,} dropped"
    return Finding(verdict="does not agree" if events.dropped else "agrees", text=text)


def _peak(figures: Figures, group: Sequence[str], published: float) -> Finding:
    rates = {row: figures.cell(row).throughput_per_s or 0.0 for row in group}
    highest = max(rates, key=lambda row: rates[row])
    text = f"highest of {highest}: {quantities.rate(rates[highest])}/s"
    fits = abs(rates[highest] / published - 1) <= _SHARE
    return Finding(verdict="agrees" if fits else "does not agree", text=text)


def _larger(figures: Figures, test: LargerEffect) -> Finding:
    first, second = (figures.ratio(*pair, test.statistic) for pair in (test.first, test.second))
    text = (
        f"{test.first[0]} over {test.first[1]} {quantities.ratio(first[0])}, {test.second[0]} over {test.second[1]} "
        f"{quantities.ratio(second[0])}"
    )
    (one, two) = (_sizes(*of) for of in (first, second))
    if one is None or two is None or (one[0] <= two[1] and two[0] <= one[1]):
        return Finding(verdict="not resolved", text=text)
    return Finding(verdict="agrees" if one[0] > two[1] else "does not agree", text=text)


def _takes(ratio: float) -> str:
    """Return a ratio of latencies in words: `takes 20 % less time`, `takes 3.00 times as long`."""
    if ratio >= 2:
        return f"takes {quantities.factor(ratio)} times as long"
    return f"takes {quantities.percent(abs(ratio - 1))} {'more' if ratio > 1 else 'less'} time"


def _sizes(_ratio: float, interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """How large an effect is, whatever its sign: bounds of a factor from 1 on."""
    if interval is None:
        return None
    low, high = interval
    if low <= 1 <= high:
        return 1.0, max(1 / low, high)
    return (low, high) if low > 1 else (1 / high, 1 / low)


def _connections(figures: Figures, row: str, policy: str) -> Finding:
    cell, ping = figures.cell(row), figures.ping(row)
    trips = (cell.median or 0.0) / ping
    text = f"{row}: median of {quantities.factor(trips)} pings of {_ms(ping)}"
    fits = (trips >= _KEPT_TRIPS) == (policy == "per-request")
    return Finding(verdict="agrees" if fits else "does not agree", text=text)


def _alike(figures: Figures, pair: tuple[str, str], within: float) -> Finding:
    ratio, interval = figures.ratio(*pair, "mean")
    text = f"{pair[0]} {_takes(ratio)}{' as' if ratio >= 2 else ' than'} {pair[1]}{_shown(interval)}"
    if interval is None:
        return Finding(verdict="not resolved", text=text)
    low, high = interval
    if 1 / (1 + within) <= low and high <= 1 + within:
        return Finding(verdict="agrees", text=text)
    apart = low > 1 + within or high < 1 / (1 + within)
    return Finding(verdict="does not agree" if apart else "not resolved", text=text)


def _fewer(figures: Figures, test: Fewer) -> Finding:
    ratio, interval = figures.ratio(test.row, test.than, "mean")
    text = (
        f"one call of {test.row} takes {quantities.factor(ratio)} times as long as one of {test.than}{_shown(interval)}"
    )
    if interval is None or interval[0] <= test.times <= interval[1]:
        return Finding(verdict="not resolved", text=text)
    return Finding(verdict="agrees" if interval[1] < test.times else "does not agree", text=text)


def _shown(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return " (no interval: fewer than three blocks)"
    return " (ratio {} to {})".format(*quantities.bounds(interval))


def _ms(value: float | None) -> str:
    return "not known" if value is None else quantities.ms(value)
