"""The values of a factor that somebody chooses: a few levels with names, and whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from orchestrator.experiment.read.units import format_duration, format_rate, format_size


@dataclass(frozen=True, kw_only=True)
class Level:
    """One value of a factor that has few, and what it is called.

    `words` follow "with" in a sentence ("connections kept open"), and so do `compared`, which are of one request ("a kept
    connection") and stand where two levels are compared; `shown` stands in a column of the plan, `said` in ids and names
    (the value itself, unless that says too little there).
    """

    value: str
    words: str
    compared: str
    shown: str
    said: str = ""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Whole numbers that a factor takes beside its levels, from `least` to `most`; `why` says what these bounds are.

    `measure`: a plain `count`, a `size` in bytes, a `time` in milliseconds or a `rate` a second, which a file writes with
    their units. `words` and `compared` are as in `Level`, with `{}` for the number; `one` stands for both where the number
    is 1.
    """

    least: int
    most: int
    words: str
    compared: str
    measure: Literal["count", "size", "time", "rate"] = "count"
    one: str = ""
    why: str = ""

    def text(self, value: int) -> str:
        """A number as a file writes it: `64 KiB`, `10s`, `4`."""
        if self.measure == "count":
            return f"{value:,}"
        if self.measure == "rate":
            return format_rate(float(value))
        return format_size(value) if self.measure == "size" else format_duration(value / 1000)

    def level(self, value: int) -> Level:
        """The number as a level."""
        shown = self.text(value)
        words, compared = (self.one,) * 2 if value == 1 and self.one else (self.words, self.compared)
        return Level(value=str(value), words=words.format(shown), compared=compared.format(shown), shown=shown)
