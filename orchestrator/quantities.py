"""Quantities and loads as people read them, for terminal, report, comparisons and checks alike.

The decimal sign is a point, and commas group digits from a thousand on. A number in running text carries its unit (`ms`,
`size`); a column of a table has one unit for all of its rows (`Unit`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from orchestrator.experiment.read.units import exact_duration, format_rate, rate_of_tasks
from services.python.contract.limits import Kind
from services.python.contract.lines import Load

OF_KIND: Mapping[Kind, tuple[str, str]] = {
    "call": ("a call", "calls"),
    "task": ("a task", "tasks"),
    "stream": ("a stream", "streams"),
    "codec": ("a codec alone", "codecs alone"),
}
"""A kind of work, as one and as several."""

OF_SAMPLE: Mapping[Kind, str] = {"call": "request", "task": "task", "stream": "event", "codec": "message"}
"""What one sample of a kind of work is."""

NOT_OURS = "a service of your own has no counters that orch reads"
"""Why a check cannot tell what the responder's own account would say."""

_OF_CODEC = ("encode", "decode")


_PER_SECOND: Mapping[Kind, str] = {"task": "Tasks/s", "stream": "Events/s", "codec": "Messages/s"}
_RIGHT: Mapping[Kind, str] = {"task": "tasks", "codec": "messages"}

GOODPUT = (
    "Goodput is verified content, of request and reply together and however encoded, over the measured windows, less the"
    " requester's own pauses: the geometric mean of the trials', and its 95 % interval."
)

PARTS_SHOWN = 8
"""Of a sample's parts, in a table; all of them are in summary.json."""


def of_part(kind: Kind, place: int) -> str:
    """What a part of a sample is called, by its place in it, from 1: `call 1`, `encode`."""
    if kind == "codec" and place <= len(_OF_CODEC):
        return _OF_CODEC[place - 1]
    return f"{'call' if kind == 'task' else 'part'} {place}"


_MOST_DECIMALS = 12  # of a bound beside 1, or beside the other bound


def percent(share: float, digits: int = 1, unit: str = " %") -> str:
    """0.034 as `3.4 %`; whole numbers from ten per cent on."""
    return f"{share * 100:.{0 if abs(share) >= 0.1 else digits}f}{unit}"


MOST_CHANGE = 9.0
"""As a share: a change beyond it is written as a multiple, as nobody reads `+17,268 %`."""


def change(share: float, digits: int = 0) -> str:
    """0.51 as `+51 %`, 172.68 as `174 times`."""
    return f"{factor(1 + share)} times" if share > MOST_CHANGE else f"{share * 100:+.{digits}f} %"


def off(share: float) -> str:
    """How far something is off, without a sign: -0.034 as `3.4 %`, 172.68 as `174 times`."""
    return f"{factor(1 + share)} times" if share > MOST_CHANGE else percent(abs(share))


def ms(value: float) -> str:
    """Milliseconds with three significant digits, in the unit that reads best: 0.9999 is `1 ms`, 123456 `123 s`."""
    value = float(f"{value:.3g}")  # rounded first: what rounds up to the next unit is shown in that
    if abs(value) >= 1000:
        return f"{value / 1000:,.6g} s"
    return f"{value:.3g} ms" if abs(value) >= 1 else f"{value * 1000:.3g} µs"


def ns(value: float) -> str:
    """Nanoseconds likewise."""
    return ms(value / 1e6) if abs(value) >= 1000 else f"{value:.0f} ns"


@dataclass(frozen=True, kw_only=True)
class Unit:
    """How one table or chart shows its latencies, which the summary holds in milliseconds."""

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


def unit_for(medians_ms: Iterable[float | None]) -> Unit:
    """The unit in which all of these are easy to compare: µs below a few milliseconds, else ms with fitting decimals."""
    largest = max((value for value in medians_ms if value and value > 0), default=1.0)
    if largest < 5.0:
        return MICROSECONDS
    return Unit(name="ms", per_ms=1.0, decimals=3 if largest < 50 else 2 if largest < 1000 else 1)


def _decimals_for(value: float, digits: int = 2) -> int:
    """The decimals that show so many significant digits; none for zero, and no more than six."""
    return 0 if value == 0 else min(6, digits - 1 - math.floor(math.log10(abs(value))))


def significant(value: float, digits: int = 5) -> float:
    """`value` rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")


_BEFORE_A_UNIT = re.compile(r"(?<=\d) (?=(?:%|ns|µs|ms|s|[kMG]?B|GiB|CPUs?|Mbit/s)(?![\w]))")


def unbroken(text: str) -> str:
    """Text in which no line may end between a number and its unit: no-break spaces stand there."""
    return _BEFORE_A_UNIT.sub("\u00a0", text)


def number(value: float, decimals: int = 0) -> str:
    """A number with grouped digits: `1,580,000`, `12,345.7`."""
    return f"{value:,.{decimals}f}"


def size(amount: float) -> str:
    """Bytes, in the decimal units in which network people count: `117 B`, `15.80 kB`, `1.58 MB`."""
    for limit, divisor, name in ((1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e4, 1e3, "kB")):
        if abs(amount) >= limit:
            return f"{number(amount / divisor, 2)} {name}"
    return f"{number(amount, 0 if float(amount).is_integer() else 1)} B"


_MOST_SPREAD = 10.0  # between the bounds of a median's interval: beyond it nobody knows how far the median is off
_MOST_APART = 100.0  # of a ratio's interval that holds 1: bounds further from 1 say nothing more
VAGUE = "95 % interval wider than a factor of ten"


def is_vague(interval: Sequence[float] | None) -> bool:
    """Whether an interval of a latency is wider than a factor of ten: then `VAGUE` takes its place."""
    return interval is not None and interval[1] > _MOST_SPREAD * interval[0]


def of_load(load: Load, kind: Kind = "call", calls: int = 1, *, at_once: bool = False) -> str:
    """A load in words, e.g. `1,000 requests, 1 in flight` or `500/s (poisson) for 10 s, at most 250 in flight`.

    With `calls` above 1 it is one of tasks: `1,000 tasks, 1 in flight, each of 3 calls, one after the other`. Of a
    stream: `10 s, 5 clients`; of a codec alone: `1,000 messages`.
    """
    if kind == "stream":
        return f"{load.duration_s:g} s, {count(load.concurrency, 'client')}"
    ends = []
    if load.requests is not None:
        ends.append(count(load.requests, "task" if calls > 1 else OF_SAMPLE[kind]))
    if load.duration_s is not None:
        ends.append(f"{load.duration_s:g} s")
    until = " or ".join(ends)
    if kind == "codec":
        return until
    in_flight = f"{load.concurrency:,} in flight"
    if load.rate_per_s is not None:
        drawn = f"{format_rate(load.rate_per_s)} ({load.arrivals})"
        if calls > 1:
            drawn = f"{rate_of_tasks(load.rate_per_s, calls)}, {load.arrivals},"
        text = f"{drawn} for {until}, at most {in_flight}"
    elif load.think_s:
        spread = "" if load.thinking == "constant" else f" ({load.thinking})"
        text = f"{until}, at most {in_flight}, think time {exact_duration(load.think_s)}{spread}"
    else:
        text = f"{until}, {in_flight}"
    return (
        f"{text}, each of {calls} calls, {'all at once' if at_once else 'one after the other'}" if calls > 1 else text
    )


RATIOS_AND_MEDIANS = (
    "The ratio is the geometric mean over blocks of each block's own ratio: that of the two medians beside it, where both"
    " have a trial in every block."
)
INTERVALS = (
    "Median and percentiles are geometric means of the trials' (of all requests pooled where a trial has too few, or too"
    " many failed); the 95 % interval is that of the median, from the same trials."
)


def sample(kinds: Iterable[Kind], plural: str = "") -> str:
    """What one sample of these kinds is called: `request`, `request or task`; with the plural's `s`, several."""
    return " or ".join(dict.fromkeys(f"{OF_SAMPLE[kind]}{plural}" for kind in kinds)) or f"request{plural}"


def per_second(kinds: Iterable[Kind]) -> str:
    """How a column of rates is headed: `Req/s`, `Tasks/s`, `Events/s`, by the kinds of its cells."""
    return " or ".join(dict.fromkeys(_PER_SECOND.get(kind, "Req/s") for kind in kinds)) or "Req/s"


def throughput(kinds: Iterable[Kind]) -> str:
    """What a rate is of, in a sentence."""
    kinds = list(kinds)
    if kinds and all(kind == "stream" for kind in kinds):
        return (
            "Events/s is events delivered over the time that the streams were to last, or took: their schedule sets it."
        )
    right = " or ".join(dict.fromkeys(_RIGHT.get(kind, "replies") for kind in kinds)) or "replies"
    return (
        f"{per_second(kinds)} is right {right} over the measured windows, less the requester's own pauses in closed loops"
        " (verifying, recording, closing)."
    )


def rate(per_s: float) -> str:
    """Events per second, with three significant digits or more: `4,000`, `12.5`, `0.25`."""
    return number(per_s, 0 if abs(per_s) >= 100 else 1 if abs(per_s) >= 10 else 2)


def digits(value: float) -> str:
    """A number with three significant digits or more: `1,234`, `12.3`, `0.0123`."""
    return number(value, max(0, _decimals_for(value, 3)))


def factor(value: float, decimals: int | None = None, more: int = 0) -> str:
    """A ratio with at least two significant digits, and so many `more`; a small one is never zero: `12.8`, `0.0038`."""
    if decimals is None:
        decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{2 + more}g}" if abs(value) < 0.1 else number(value, decimals + more)


def bounds(interval: Sequence[float], margin: float = 0.05) -> tuple[str, str]:
    """Both bounds of a ratio's interval, with the digits it takes to tell them apart: `0.93`, `0.997`.

    Neither is rounded to the other one, to 1, or across what matters (`margin`) and its inverse. One that says nothing is
    as `beyond` has it.
    """
    low, high = _apart(interval, margin)
    return beyond(interval[0], interval) or low, beyond(interval[1], interval) or high


def beyond(bound: float, interval: Sequence[float]) -> str:
    """`over 100` for a bound a hundredfold from 1 of an interval that holds 1; empty for any other, which is a number."""
    if not interval[0] <= 1 <= interval[1]:
        return ""
    if bound > _MOST_APART:
        return f"over {_MOST_APART:.0f}"
    return f"under {1 / _MOST_APART:.2f}" if bound < 1 / _MOST_APART else ""


def _apart(interval: Sequence[float], margin: float) -> tuple[str, str]:
    limits = (1.0, 1 + margin, 1 / (1 + margin))
    for more in range(_MOST_DECIMALS):
        low, high = (_beside(bound, limits, more) for bound in interval)
        if low != high or interval[0] == interval[1]:
            return low, high
    return factor(interval[0]), factor(interval[1])  # as good as one number


def _beside(bound: float, limits: Sequence[float], least: int) -> str:
    """Rounded so that it lies on the same side of each limit as the bound does, with `least` more digits at least."""
    for more in range(least, _MOST_DECIMALS):
        text = factor(bound, more=more)
        shown = float(text.replace(",", ""))
        if all((shown > limit) - (shown < limit) == (bound > limit) - (bound < limit) for limit in limits):
            return text
    return factor(bound)  # as good as the limit itself


def share(share: float) -> str:
    """A share in per cent that rounds neither to nothing nor to all."""
    if 0.99 < share < 1 or 0 < share < 0.0005:
        digits = 2
        while float(f"{share * 100:.{digits}f}") in (0.0, 100.0) and digits < 12:
            digits += 1
        return f"{share * 100:.{digits}f} %"
    return percent(share)


def ratio(value: float) -> str:
    """A factor with its sign: `1.04×`."""
    return f"{factor(value)}×"


def no_right_reply(limit_ms: float | None, ended_ms: float | None) -> str:
    """What is known of a percentile among requests without a right reply: `> 2 s`, or how soon those ended."""
    if limit_ms is not None:
        return f"> {ms(limit_ms)}"
    return "no reply" if ended_ms is None else f"no reply, ended after {ms(ended_ms)}"


def of_trial(block: int, index: int) -> str:
    """A trial as people name it, counted from one: `block 3 (trial 21)`; both arguments count from zero, as in JSON."""
    return f"block {block + 1} (trial {index + 1})"


def no_reply(failed: int, requests: int, kind: Kind = "call") -> str:
    """How much failed: `0.9 % of requests got no right reply`; a share too small for that as a count.

    Of a stream: `0.9 % of events never came right`; of a codec: `0.9 % of messages came out wrong`.
    """
    sample, none, some = "request", "no request got a right reply", "got no right reply"
    if kind == "codec":
        sample, none, some = "message", "no message came out right", "came out wrong"
    if kind == "stream":
        sample, none, some = "event", "no event came right", "never came right"
    share = failed / requests if requests else 1.0
    if failed == requests:
        return none
    if share < 0.0005:
        return f"{count(failed, sample)} of {requests:,} {some}"
    return f"{'less than 100 %' if share > 0.995 else percent(share)} of {sample}s {some}"


def count(number: int, singular: str, several: str = "") -> str:
    """`1 request`, `2 requests`; `several` where the plural is not made by an s."""
    return f"{number:,} {singular if number == 1 else several or f'{singular}s'}"


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


def each_turn(turns: Iterable[tuple[float, int | None]]) -> str:
    """How long turns are, by their length in seconds and their number of requests: `50 ms`, `20 to 50 requests`."""
    rows = set(turns)
    lengths = [exact_duration(length_s) for length_s in sorted({length_s for length_s, number in rows if not number})]
    numbers = sorted({number for _, number in rows if number})
    if numbers:
        least = "" if len(numbers) == 1 else f"{numbers[0]:,} to "
        lengths.append(f"{least}{numbers[-1]:,} requests")
    return listed(lengths)


def difference(share: float) -> str:
    """A relative difference as `3.0 %`, from twofold on as `a factor of 2.5`, of `174` from a hundredfold on."""
    return percent(share) if share < 1 else f"a factor of {number(1 + share, 1 if share < 99 else 0)}"


def margin(share: float) -> str:
    """A margin somebody chose, as they would write it: 0.05 `5 %`, 0.025 `2.5 %`."""
    return f"{share * 100:.3g} %"


COSTS = (
    "CPU time is that of the process in the measured phase, the warm-up left out; what the kernel does for it outside of it"
    " is not counted. Memory is the most that was resident in that phase, or ever, where the kernel cannot begin anew. The"
    " requester's hold the load generator's own work (verifying and recording), too. Bytes and packets are TCP's, headers"
    " left out, as the requester's connections count them: a dash where its runtime has no such counts, or nothing"
    " travels over TCP."
)


def cost(name: str, value: float) -> str:
    """A quantity of what requests cost, with its unit: `350 ms` of CPU time, `48.20 MB`, `4,012` packets."""
    if name.endswith("_cpu"):
        return ms(value * 1e3)
    return rate(value) if name.startswith("packets") else size(significant(value, 4))
