"""Sizes, durations, rates and money as people write them: with a unit, without ambiguity."""

from __future__ import annotations

import re
from decimal import Decimal

from orchestrator.experiment.read.problems import shown

_SIZE_UNITS = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_TIME_UNITS = {"us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
_RATE_UNITS = {"/s": 1, "/min": 60, "/h": 3600}
_BIT_UNITS = {"kbit/s": Decimal("0.001"), "Mbit/s": Decimal(1), "Gbit/s": Decimal(1000)}

SIZE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?(B|[kK]B|MB|GB|KiB|MiB|GiB)$"
DURATION_PATTERN = r"^[0-9]+(\.[0-9]+)? ?(us|µs|ms|s|m|min|h)$"
RATE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?/(s|min|h)$"
BIT_RATE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?(k|M|G)bit/s$"
MONEY_PATTERN = r"^[0-9]+(\.[0-9]+)? ?USD$"
SHARE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?%$"

_MOST_DIGITS = 30  # of a quantity: more than any needs, few enough for exact arithmetic

_QUANTITY = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?) ?([^0-9\s.].*)")


def parse_size(text: object) -> int:
    """Bytes in `1.58 MB`, `117 B`, `5 MiB`. ValueError says what to write instead."""
    number, unit = _split(text, "a size", "1.58 MB, 117 B or 64 KiB", _SIZE_UNITS)
    size = number * _SIZE_UNITS[unit]
    if size != int(size):
        raise ValueError(f"'{text}' is not a whole number of bytes")
    return int(size)


def parse_duration(text: object) -> float:
    """Seconds in `60s`, `45m`, `2h`, `500ms`."""
    number, unit = _split(text, "a duration", "60s, 45m, 2h or 500ms", _TIME_UNITS)
    return float(number * _TIME_UNITS[unit] / 10**9)


def parse_rate(text: object) -> float:
    """Requests per second in `500/s` or `30/min`."""
    number, unit = _split(text, "a rate", "500/s or 30/min", _RATE_UNITS)
    return float(number / _RATE_UNITS[unit])


def parse_bit_rate(text: object) -> float:
    """Megabits per second in `1 Gbit/s` or `100 Mbit/s`."""
    number, unit = _split(text, "a link rate", "100 Mbit/s or 1 Gbit/s", _BIT_UNITS)
    return float(number * _BIT_UNITS[unit])


def parse_money(text: object) -> float:
    """US dollars in `1.00 USD`."""
    number, _ = _split(text, "an amount", "1.00 USD", {"USD": 1})
    return float(number)


def parse_share(text: object) -> float:
    """The share (0 to 1) in `0.1 %`."""
    number, _ = _split(text, "a share", "5 %", {"%": 1})
    if number > 100:
        raise ValueError(f"'{text}' is over 100 %: write at most 100 %")
    return float(number / 100)


def parse_margin(value: object) -> float:
    """A relative difference: `5 %`, or the share 0.05. ValueError outside 0.1 % to 100 %."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value)
        if share > 1:
            raise ValueError(f"'{value}' is over 100 %: write {value:g} % with its sign, or a share like 0.05")
    else:
        number, _ = _split(value, "a margin", "5 %", {"%": 1})
        share = float(number / 100)
    if not 0.001 <= share <= 1:
        raise ValueError(f"'{value}' is not a margin that a measurement can resolve: write 0.1 % to 100 %, like 5 %")
    return share


def _split(text: object, what: str, like: str, units: object) -> tuple[Decimal, str]:
    assert isinstance(units, dict)  # noqa: S101 - narrows the type
    match = _QUANTITY.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{_quote(text)} is not {what}: write it with its unit, like {like}")
    if len(match[1]) > _MOST_DIGITS:
        raise ValueError(f"{_quote(text)} has more than {_MOST_DIGITS} digits, which is the limit")
    number, unit = Decimal(match[1]), match[2]
    if unit not in units:
        raise ValueError(
            f"{_quote(text)} has no unit of {what.split(' ', 1)[1]}: known are {', '.join(units)}, as in {like}"
        )
    if number < 0:
        raise ValueError(f"'{text}' is negative")
    return number, unit


def _quote(value: object) -> str:
    return f"'{shown(value)}'" if isinstance(value, str | int | float) else "this"


def format_size(size: int) -> str:
    """Bytes in the largest unit that needs at most two decimals; `parse_size` reads it back exactly.

    >>> format_size(1_580_000), format_size(5 * 2**20), format_size(1234567)
    ('1.58 MB', '5 MiB', '1234567 B')
    """
    for unit in ("GB", "MB", "kB", "GiB", "MiB", "KiB"):
        factor = _SIZE_UNITS[unit]
        if size >= factor and size * 100 % factor == 0:
            return f"{_trim(Decimal(size) / factor)} {unit}"
    return f"{size} B"


def format_duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `12 min 30 s`, `2 h 5 min`.

    >>> format_duration(0.25), format_duration(0.9996), format_duration(750), format_duration(7500)
    ('250 ms', '1 s', '12 min 30 s', '2 h 5 min')
    """
    if seconds == 0:
        return "0 s"
    if float(f"{seconds:.3g}") < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    if seconds < 3599.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def exact_duration(seconds: float) -> str:
    """Seconds to the last digit, as `parse_duration` reads it: `12.5 ms`, `1.25 s`."""
    exact = Decimal(repr(seconds))
    return f"{_trim(exact)} s" if seconds >= 1 else f"{_trim(exact * 1000)} ms"


def format_rate(per_s: float) -> str:
    """Requests per second as `parse_rate` reads it."""
    return f"{_trim(Decimal(repr(per_s)))}/s"


def rate_of_tasks(per_s: float, calls: int) -> str:
    """A rate of tasks, each of so many calls: `60 tasks/s (180 calls/s)`."""
    return f"{_trim(Decimal(repr(per_s)))} tasks/s ({_trim(Decimal(repr(per_s)) * calls)} calls/s)"


def _trim(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
