"""Sizes, durations, rates and money as people write them: with a unit, without ambiguity."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from orchestrator.experiment.read.problems import shown

_QUANTITY = re.compile(r"(-?[0-9]{1,30}(?:\.[0-9]{1,30})?) ?([^0-9\s.].*)")


@dataclass(frozen=True)
class Quantity:
    """A kind of quantity: what messages call it, what it looks like, and how much each of its units is."""

    what: str
    like: str
    units: Mapping[str, int | Fraction]

    @property
    def pattern(self) -> str:
        """A regular expression of what `read` takes, for JSON Schema."""
        return rf"^[0-9]+(\.[0-9]+)? ?({'|'.join(self.units)})$"

    def read(self, text: object) -> Fraction:
        """Return how much a text is; ValueError says what to write instead."""
        match = _QUANTITY.fullmatch(text.strip()) if isinstance(text, str) else None
        quoted = f"'{shown(text)}'" if isinstance(text, str | int | float) else "this"
        if match is None:
            raise ValueError(f"{quoted} is not {self.what}: write it with its unit, like {self.like}")
        number, unit = Fraction(match[1]), match[2]
        if unit not in self.units:
            known = f"{self.what.split(' ', 1)[1]}: known are {', '.join(self.units)}"
            raise ValueError(f"{quoted} has no unit of {known}, as in {self.like}")
        if number < 0:
            raise ValueError(f"'{text}' is negative")
        return number * self.units[unit]

    def number(self, text: object) -> float:
        """Return the same in its base unit: seconds, requests a second, megabits a second, US dollars."""
        return float(self.read(text))


_MICRO, _MILLI = Fraction(1, 10**6), Fraction(1, 1000)
_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SECONDS: Mapping[str, int | Fraction] = {
    "us": _MICRO,
    "µs": _MICRO,
    "ms": _MILLI,
    "s": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
}
SIZE = Quantity("a size", "1.58 MB, 117 B or 64 KiB", _BYTES)
DURATION = Quantity("a duration", "60s, 45m, 2h or 500ms", _SECONDS)
RATE = Quantity("a rate", "500/s or 30/min", {"/s": 1, "/min": Fraction(1, 60), "/h": Fraction(1, 3600)})
BIT_RATE = Quantity("a link rate", "100 Mbit/s or 1 Gbit/s", {"kbit/s": _MILLI, "Mbit/s": 1, "Gbit/s": 1000})
MONEY = Quantity("an amount", "1.00 USD", {"USD": 1})
SHARE = Quantity("a share", "5 %", {"%": Fraction(1, 100)})
_MARGIN = Quantity("a margin", "5 %", SHARE.units)


def parse_size(text: object) -> int:
    """Bytes in `1.58 MB`, `117 B`, `5 MiB`. ValueError says what to write instead, as of all that read quantities."""
    size = SIZE.read(text)
    if size != int(size):
        raise ValueError(f"'{text}' is not a whole number of bytes")
    return int(size)


def parse_share(text: object) -> float:
    """The share (0 to 1) in `0.1 %`."""
    share = SHARE.read(text)
    if share > 1:
        raise ValueError(f"'{text}' is over 100 %: write at most 100 %")
    return float(share)


def parse_margin(text: object) -> float:
    """The relative difference in `5 %`. ValueError outside 0.1 % to 100 %."""
    share = float(_MARGIN.read(text))
    if not 0.001 <= share <= 1:
        raise ValueError(f"'{text}' is not a margin that a measurement can resolve: write 0.1 % to 100 %, like 5 %")
    return share


def format_size(size: int) -> str:
    """Bytes in the largest unit that needs at most two decimals, `1.58 MB`; `parse_size` reads it back exactly."""
    for unit in ("GB", "MB", "kB", "GiB", "MiB", "KiB"):
        factor = _BYTES[unit]
        if size >= factor and size * 100 % factor == 0:
            return f"{_trim(Decimal(size) / factor)} {unit}"
    return f"{size} B"


def format_duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `12 min 30 s`, `2 h 5 min`."""
    if seconds == 0:
        return "0 s"
    if float(f"{seconds:.3g}") < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    whole, large, small = (seconds, "min", "s") if seconds < 3599.5 else (seconds / 60, "h", "min")
    count, rest = divmod(round(whole), 60)
    return f"{count} {large} {rest} {small}" if rest else f"{count} {large}"


def exact_duration(seconds: float) -> str:
    """Seconds to the last digit, as `DURATION` reads it: `12.5 ms`, `1.25 s`."""
    exact = Decimal(repr(seconds))
    return f"{_trim(exact)} s" if seconds >= 1 else f"{_trim(exact * 1000)} ms"


def format_rate(per_s: float) -> str:
    """Requests per second as `RATE` reads it."""
    return f"{_trim(Decimal(repr(per_s)))}/s"


def rate_of_tasks(per_s: float, calls: int) -> str:
    """A rate of tasks, each of so many calls: `60 tasks/s (180 calls/s)`."""
    return f"{_trim(Decimal(repr(per_s)))} tasks/s ({_trim(Decimal(repr(per_s)) * calls)} calls/s)"


def _trim(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
