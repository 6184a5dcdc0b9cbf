"""Numbers as readers see them: one unit and one number of decimals per table, a point, and narrow spaces.

A group of digits is set off by a narrow no-break space (ISO 80000-1), since a comma is a decimal sign to half of the
readers; nothing here depends on a locale, neither the writer's nor the reader's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from orchestrator.analysis.summary import Distribution, Interval
from orchestrator.analysis.words import bounds as bounds_in_words
from orchestrator.analysis.words import factor, ms

DASH = "—"
THIN = "\u202f"


@dataclass(frozen=True, kw_only=True)
class Unit:
    """How a table or chart shows latencies, which the summary holds in milliseconds."""

    name: str
    per_ms: float
    decimals: int

    def text(self, milliseconds: float) -> str:
        """The number alone, without the unit's name; more decimals where it would show less than two digits."""
        value = milliseconds * self.per_ms
        return number(value, max(self.decimals, _decimals_for(value)))

    def scaled(self, milliseconds: Iterable[float], digits: int = 5) -> list[float]:
        """Values for a chart's axis, to five significant digits: finer than any pixel, and a third of the bytes."""
        return [significant(value * self.per_ms, digits) for value in milliseconds]


MICROSECONDS = Unit(name="µs", per_ms=1000.0, decimals=1)


def unit_for(medians_ms: Iterable[float]) -> Unit:
    """The unit in which all of these are easy to compare: µs below a few milliseconds, else ms with fitting decimals."""
    values = [value for value in medians_ms if value > 0]
    largest = max(values, default=1.0)
    if largest < 5.0:
        return MICROSECONDS
    return Unit(name="ms", per_ms=1.0, decimals=3 if largest < 50 else 2 if largest < 1000 else 1)


def _decimals_for(value: float, digits: int = 2) -> int:
    """The decimals that show so many significant digits; none for zero, and no more than six."""
    return 0 if value == 0 else min(6, digits - 1 - math.floor(math.log10(abs(value))))


def significant(value: float, digits: int = 5) -> float:
    """`value` rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")


def number(value: float, decimals: int = 0) -> str:
    """A number with grouped digits from 10 000 on."""
    text = f"{value:,.{decimals}f}"
    return text.replace(",", "" if abs(value) < 10_000 else THIN)


def rate(value: float) -> str:
    """Events per second: three significant digits or more."""
    return number(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2)


def size(count: float) -> str:
    """Bytes, in the decimal units in which network people count."""
    for limit, name in ((1e9, "GB"), (1e6, "MB"), (1e4, "kB")):
        if abs(count) >= limit:
            return f"{number(count / (1e3 if name == 'kB' else limit), 2)} {name}"
    return f"{number(count, 0 if float(count).is_integer() else 1)} B"


def ratio(value: float) -> str:
    """A factor, to two significant digits or more: `1.04×`, `0.0038×`."""
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{number(value, _decimals_for(value) if abs(value) < 0.1 else decimals)}×"


def ratio_bounds(bounds: Interval) -> tuple[str, str]:
    """Both bounds of a ratio's interval; one that excludes 1 is not shown as 1: `0.92×`, `0.997×`."""
    low, high = (
        exact_one if float(factor(bound)) == 1 and bound != 1 else ratio(bound)
        for bound, exact_one in zip(bounds, (f"{text}×" for text in bounds_in_words(bounds)), strict=True)
    )
    return low, high


def percent(share: float) -> str:
    """A share of one as percent."""
    return f"{number(share * 100, 1 if abs(share) < 0.1 else 0)} %"


def exact(value: float | None, text: str) -> Markup:
    """The text that a reader sees with the summary's own value in the markup; a dash where there is none."""
    if value is None:
        return Markup('<span class="none" title="not enough data to say">{}</span>').format(DASH)
    return Markup('<data value="{}">{}</data>').format(repr(value), text)


def moment(stamp: str) -> str:
    """An ISO 8601 stamp as people read it: `2026-11-21 02:55:00 UTC`."""
    return re.sub(r"(\+00:00|Z)$", " UTC", stamp.replace("T", " "))


_QUOTED = re.compile("`([^`\\n]+)`")


def prose(text: str) -> Markup:
    """A sentence with what stands in backticks set as code; everything else is escaped."""
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped, but for our own tags


def words(value: Any) -> str:
    """A piece of evidence or a setting as text: floats to five significant digits, nothing nested in brackets."""
    match value:
        case None:
            return DASH
        case dict() | list() | tuple() if not value:
            return DASH
        case bool():
            return "yes" if value else "no"
        case float() if math.isfinite(value):
            return f"{significant(value):,.10g}".replace(",", THIN if abs(value) >= 10_000 else "")
        case dict():
            return ", ".join(f"{key} {words(each)}" for key, each in value.items())
        case list() | tuple():
            return ", ".join(words(each) for each in value)
        case _:
            return str(value)


def beyond(limit_ms: float | None) -> Markup:
    """What stands where a percentile falls among requests without a right reply: `> 2 s`, never a number."""
    text = "no reply" if limit_ms is None else f"> {ms(limit_ms)}"
    return Markup('<span class="beyond" title="falls among requests without a right reply">{}</span>').format(text)


def statistic(of: Distribution, name: str, unit: Unit) -> Markup:
    """A statistic of a distribution in the table's unit, or beyond what it is known to lie."""
    return beyond(of.limit) if name in of.censored else latency(getattr(of, name), unit)


def latency(value: float | None, unit: Unit) -> Markup:
    """A latency in the table's unit; its `<data value>` is in milliseconds, unrounded."""
    return exact(value, "" if value is None else unit.text(value))
