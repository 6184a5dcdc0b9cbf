"""Numbers and names as the answer writes them: one unit and as many decimals as the difference needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

from orchestrator import quantities
from orchestrator.findings.summary import DROPPED, CellSummary
from orchestrator.statistics.terms import Interval

MOST_LETTERS = 240
_MOST_OF_A_NAME = 40
_MOST_DECIMALS = 3
_LEAST_MS = 5.0  # from which on latencies are said in ms
_THREEFOLD = 3.0  # from which on a ratio reads better than a change in per cent
_TENFOLD = 10.0  # likewise of a bound of an interval in per cent
_WIDE = 100.0
_NOTHING = 1e-6  # of a change
_ROUNDING = 1e-9  # 99.999999999 has as many digits as 100


@dataclass(frozen=True)
class Line:
    """A line of the result: a head of a word or two, and a sentence; `kind` says which may be merged or left out."""

    head: str
    text: str
    kind: Literal["main", "others", "undecided", "practice", "compares"] = "main"

    @property
    def sentence(self) -> str:
        """Both, as running text has them."""
        return f"{self.head}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """One unit for all latencies of a sentence; values are milliseconds."""

    name: str
    per_ms: float
    decimals: int

    def number(self, milliseconds: float) -> str:
        """The number alone; never a zero with a sign."""
        return quantities.number(round(milliseconds * self.per_ms, self.decimals) or 0.0, self.decimals)

    def text(self, milliseconds: float) -> str:
        """The number with its unit."""
        return f"{self.number(milliseconds)} {self.name}"

    def span(self, bounds: Sequence[float]) -> str:
        """`41 to 83 µs`; once, where both look alike."""
        low, high = (self.number(value) for value in bounds)
        return f"{low if low == high else f'{low} to {high}'} {self.name}"


def scale_for(medians: Iterable[float]) -> Scale:
    """µs below 5 ms, as in tables, and s from ten seconds on; three digits of each median."""
    shown = [abs(value) for value in medians if value] or [1.0]
    name, per_ms = ("µs", 1000.0) if max(shown) < _LEAST_MS else ("s", 0.001) if max(shown) >= 10_000 else ("ms", 1.0)
    needed = 2 - floor(log10(min(shown) * per_ms) + _ROUNDING)
    return Scale(name=name, per_ms=per_ms, decimals=max(0, min(_MOST_DECIMALS, needed)))


def change(ratio: float, most: float = _THREEFOLD) -> str:
    """How far a ratio is from 1: `−54 %`, `+0.3 %`; `4.2×`, `12×` from threefold on."""
    share = abs(ratio - 1)
    if ratio > most:
        return f"{_times(ratio)}×"
    sign = "" if share < _NOTHING else "+" if ratio > 1 else "−"
    text = f"{100 * share:,.0f} %" if share >= 0.1 else quantities.share(share) if share >= _NOTHING else "0 %"
    return sign + text


def change_span(interval: Interval) -> str:
    """`−58 to −48 %`; `1.7 to 13×` where its middle is more than threefold."""
    if interval[0] * interval[1] > _THREEFOLD**2:
        low, high = (_times(bound) for bound in interval)
        return f"{low} to {high}×" if low != high else f"{low}×"
    low, high = (change(bound, _TENFOLD) for bound in interval)
    return f"{low.removesuffix(' %') if high.endswith(' %') else low} to {high}" if low != high else low


def _times(ratio: float) -> str:
    return quantities.factor(ratio, 1 if ratio < 9.95 else 0)


WIDER = "wider than 10×"
"""In place of an interval that says nothing."""


def ratio_span(interval: Interval | None, missing: str = "-") -> str:
    """`−58 to −48 %` of an interval of a ratio; `missing` without one; its bounds a hundredfold apart say nothing."""
    if interval is None:
        return missing
    return WIDER if interval[1] > _WIDE * interval[0] else change_span(interval)


def named(name: str) -> str:
    """A name no longer than a sentence has room for."""
    return name if len(name) <= _MOST_OF_A_NAME else f"{name[: _MOST_OF_A_NAME - 1]}…"


def some(names: Sequence[str], most: int = 4) -> str:
    """`a, b and c`; of many the first, and how many more."""
    shown = [named(name) for name in names[:most]]
    return quantities.listed([*shown, f"{len(names) - most} more"] if len(names) > most else shown)


def fitting(*ways: str, most: int = MOST_LETTERS) -> str:
    """The first of these ways to say it that is short enough; of none, the last one, cut."""
    text = next((way for way in ways if len(way) <= most), ways[-1])
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def opened(subject: str, text: str) -> str:
    """`rest: no significant difference`; a sentence of its own without a subject."""
    return f"{subject}{text}" if subject else capital(text)


def percentile_text(cell: CellSummary, name: str) -> str:
    """A percentile in running text: `412 µs`, `> 2 s` where it falls among failed requests; empty without one."""
    distribution = cell.distribution
    if distribution is None:
        return ""
    if name in distribution.censored and cell.kind == "stream":
        return DROPPED
    if name in distribution.censored:
        return quantities.no_right_reply(distribution.limit, distribution.ended)
    value = getattr(distribution, name)
    return "" if value is None else quantities.ms(value)
