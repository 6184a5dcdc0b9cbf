"""How requests are offered: the experiment's load and an operation's own, and searches for a rate.

A search bisects the rates of its `Find`: its next probe follows from the verdicts before, and from nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from orchestrator.experiment.model.loader import Located, Steps
from orchestrator.experiment.model.options import MOST_PER_S, FindSpec, LoadSpec, WarmupSpec
from orchestrator.experiment.plan.cells import cell_id
from orchestrator.experiment.plan.plan import Cell, Find
from orchestrator.experiment.read.tree import Key
from orchestrator.experiment.read.units import format_duration, format_rate
from services.python.contract.limits import Kind
from services.python.contract.lines import Load, Warmup

_DEFAULT_REQUESTS = 1000
_DEFAULT_AT_MOST_S = 60.0
_DEFAULT_TIMED_S = 10.0  # of an open loop, a stream, and each trial of a search

# Requests in flight of an open loop that says nothing of them: enough at its rate for replies that take half a second,
# longer than any way around the earth and a new connection take, within what threads and file descriptors allow.
_ROOM_S = 0.5
_LEAST_ROOM, _MOST_ROOM = 8, 256

_LOWEST_PER_S, _HIGHEST_PER_S = 10.0, 10_000.0  # of a search
_WITHIN = 0.02

_UNFIT: Mapping[str, Sequence[str]] = {
    "a stream sends events to `concurrency` clients for `duration`": (
        *("requests", "rate", "arrivals", "at_most", "think", "thinking", "find"),
    ),
    "`find` offers each rate for the same `duration`": ("rate", "requests", "at_most", "think", "thinking"),
    "an open loop sends by its schedule, whatever was answered": ("think", "thinking"),
    "only an open loop, which has a `rate`, spaces its requests": ("arrivals",),
}
"""By how requests are offered: the keys of a load that say nothing of it."""
_STREAM, _SEARCH, _OPEN, _CLOSED = _UNFIT


def resolve_loads(
    located: Located, own: LoadSpec | None, path: Sequence[Key], kind: Kind = "call"
) -> tuple[tuple[Load, Find | None], ...]:
    """Every load of an operation (at `path`), each with its search if it is one: then it is that at the highest rate."""
    common, own = located.experiment.load, own or LoadSpec()
    own_path = (*path, "load") if own.model_fields_set else ("load",)
    is_open = bool(own.rate or (common.rate and own.concurrency is None))
    if kind == "stream":
        way, is_for_common = _STREAM, len(located.experiment.operations) == 1
    elif own.find or common.find:
        way, is_for_common = _SEARCH, True
    else:  # the experiment's load may be of another kind, for other operations
        way, is_for_common = (_OPEN if is_open else _CLOSED), is_open == bool(common.rate)
    for spec, place in ((own, (*path, "load")), *([(common, ("load",))] if is_for_common else [])):
        for key in _UNFIT[way]:
            if getattr(spec, key) is not None:
                located.add((*place, key), f"{way}: leave `{key}` out.")
    if way == _STREAM:
        duration = own.duration or common.duration or _DEFAULT_TIMED_S
        in_flight = own.concurrency or common.concurrency or (1,)
        return tuple((Load(concurrency=number, duration_s=duration), None) for number in in_flight)
    if way == _SEARCH:
        return _searches(located, common, own, path)
    loads = _open_loads(located, common, own, own_path) if is_open else _closed_loads(located, common, own, own_path)
    for load in loads:
        _check(located, load, own_path)
    return tuple((load, None) for load in loads)


def _open_loads(located: Located, common: LoadSpec, own: LoadSpec, path: Steps) -> list[Load]:
    requests, duration = _end(located, common, own, path, is_open=True)
    offered = partial(Load, requests=requests, duration_s=duration)
    is_bounded = own.concurrency is not None or common.rate is not None  # a closed loop's concurrency is no bound
    in_flight = (own.concurrency or common.concurrency) if is_bounded else None
    rates, spreads = own.rate or common.rate or (), own.arrivals or common.arrivals or ("poisson",)
    return [
        offered(concurrency=concurrency or room(rate, requests), rate_per_s=rate, arrivals=arrivals)
        for concurrency, rate, arrivals in product(in_flight or (None,), rates, spreads)
    ]


def _closed_loads(located: Located, common: LoadSpec, own: LoadSpec, path: Steps) -> list[Load]:
    requests, duration = _end(located, common, own, path, is_open=False)
    thinks = (own.think if own.think is not None else common.think) or (0.0,)
    if (own.thinking or common.thinking) and not any(thinks):
        located.add((*path, "thinking"), "`thinking` says how think times are spread: it needs a `think` above 0ms.")
    spreads = own.thinking or common.thinking or ("constant",)
    # No think time is one however it is spread, and is compared with the first spread.
    rests = dict.fromkeys((think_s, spread if think_s else spreads[0]) for think_s in thinks for spread in spreads)
    return [
        Load(concurrency=concurrency, requests=requests, duration_s=duration, think_s=think_s, thinking=spread)
        for concurrency, (think_s, spread) in product(own.concurrency or common.concurrency or (1,), rests)
    ]


def room(rate_per_s: float, requests: int | None = None) -> int:
    """How many requests an open loop may have in flight unless the file says: by Little's law, what half a second needs."""
    needed = min(max(math.ceil(rate_per_s * _ROOM_S), _LEAST_ROOM), _MOST_ROOM)
    return needed if requests is None else min(needed, requests)


def _end(
    located: Located, common: LoadSpec, own: LoadSpec, path: Steps, *, is_open: bool
) -> tuple[int | None, float | None]:
    ends = own if own.requests is not None or own.duration is not None else common
    requests, duration, at_most = ends.requests, ends.duration, own.at_most or common.at_most
    where = path if ends is own else ("load",)
    for key, other in (("duration", requests), ("at_most", ends.at_most)):
        if duration is not None and other is not None:
            reason = "`duration` is exact: leave it out, or end at whichever comes first, `requests` or `at_most`."
            located.add((*where, key), reason)
    if requests is None and duration is None:
        return (None, at_most or _DEFAULT_TIMED_S) if is_open else (_DEFAULT_REQUESTS, at_most or _DEFAULT_AT_MOST_S)
    return (None, duration) if duration is not None else (requests, at_most)


def _check(located: Located, load: Load, path: Steps) -> None:
    if load.requests is not None and load.concurrency > load.requests:
        reason = f"{load.concurrency:,} requests in flight, but a trial has only {load.requests:,} requests."
        located.add((*path, "concurrency"), reason)
    lasting_s = load.duration_s or math.inf
    if load.rate_per_s is not None and load.rate_per_s * lasting_s < 1:
        located.add((*path, "rate"), f"at {format_rate(load.rate_per_s)} no request is sent in a trial.")
    if load.think_s >= lasting_s:
        think = format_duration(load.think_s)
        located.add((*path, "think"), f"with a think time of {think} nobody sends a second request in a trial.")


def resolve_warmup(located: Located, own: WarmupSpec | None, path: Sequence[Key], kind: Kind = "call") -> Warmup:
    """An operation's warm-up: its own values, else the experiment's, else the defaults. A stream's is a time alone."""
    default = Warmup()
    common, own = located.experiment.warmup, own or WarmupSpec()

    def pick(name: str, otherwise: float) -> float:
        values = (getattr(own, name), getattr(common, name), otherwise)
        return float(next(value for value in values if value is not None))

    requests = 0 if kind == "stream" else int(pick("requests", default.requests))
    if kind == "stream" and own.requests is not None:
        located.add((*path, "warmup", "requests"), "a stream warms up for `at_least`, and has no number of requests.")
    at_least_s = pick("at_least", default.at_least_s)
    at_most_s = pick("at_most", max(default.at_most_s, at_least_s))
    if at_most_s < at_least_s:
        end, least = format_duration(at_most_s), format_duration(at_least_s)
        place = (*path, "warmup", "at_most") if own.model_fields_set else ("warmup", "at_most")
        located.add(place, f"the warm-up ends after {end}, before it has lasted {least}.")
    return Warmup(requests=requests, at_least_s=at_least_s, at_most_s=at_most_s)


def describe_search(find: Find, load: Load) -> str:
    """A search in words: `10 s each, poisson: the highest of 100/s to 10000/s within 2 % at which p99 < 10 ms`."""
    bound = "" if find.concurrency is None else f", at most {find.concurrency:,} in flight"
    rates = f"{format_rate(find.lowest)} to {format_rate(find.highest)} within {(find.factor - 1) * 100:.2g} %"
    each = f"{format_duration(load.duration_s or 0.0)} each, {load.arrivals}{bound}"
    return f"{each}: the highest of {rates} at which {find.text}"


# ---- how a search goes on


def search_bounds(find: Find, held: Sequence[bool]) -> tuple[int, int]:
    """The highest step that held (or -1), and the lowest that did not (or `steps + 1`), after probes with these verdicts."""
    low, high = -1, find.steps + 1
    for verdict in held:
        if high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if verdict else (low, middle)
    return low, high


def next_step(find: Find, held: Sequence[bool]) -> int | None:
    """Which step is tried next after probes with these verdicts; None when the search is over."""
    low, high = search_bounds(find, held)
    return (low + high) // 2 if high - low > 1 else None


def at_step(cell: Cell, step: int) -> Cell:
    """The cell of a search at one of its rates: an open loop like any other; ValueError for a step that it has not."""
    find = cell.find
    if find is None or not 0 <= step <= find.steps:
        raise ValueError(f"cell {cell.id} has no rate {step}")
    rate = find.rate(step)
    load = replace(cell.load, rate_per_s=rate, concurrency=find.concurrency or room(rate))
    factors = {**cell.factors, "rate": rate, "concurrency": load.concurrency}
    of_rate = cell_id(stack=cell.stack, operation=cell.operation, placement=cell.placement, values=factors, load=load)
    return replace(cell, id=of_rate, factors=factors, load=load, find=None)


# ---- searches of a file


def _searches(
    located: Located, common: LoadSpec, own: LoadSpec, path: Sequence[Key]
) -> tuple[tuple[Load, Find | None], ...]:
    where: Steps = (*path, "load", "find") if own.find is not None else ("load", "find")
    spec = own.find or common.find
    assert spec is not None  # noqa: S101 - narrows the type
    duration = own.duration if own.duration is not None else common.duration
    lowest, duration_s = _begin(located, spec, duration, where)
    highest = spec.most or min(max(_HIGHEST_PER_S, 10 * lowest), float(MOST_PER_S))
    for goal in spec.goals:
        if goal.statistic != "errors" and goal.below > located.experiment.timeout:
            timeout = format_duration(located.experiment.timeout)
            located.add((*where, "while"), f"'{goal.text}' is beyond `timeout`: a request has failed after {timeout}.")
    if highest <= lowest:
        reason = f"the rates tried go from {format_rate(lowest)} up, and {format_rate(highest)} is no higher."
        located.add((*where, "to" if spec.most is not None else "from"), reason)
        return ()
    steps = max(1, math.ceil(round(math.log(highest / lowest) / math.log1p(spec.within or _WITHIN), 9)))
    offered = partial(Load, duration_s=duration_s, rate_per_s=highest)
    find = Find(goals=spec.goals, lowest=lowest, highest=highest, steps=steps)
    in_flight: tuple[int | None, ...] = own.concurrency or common.concurrency or (None,)
    return tuple(
        (offered(concurrency=bound or room(highest), arrivals=arrivals), replace(find, concurrency=bound))
        for bound, arrivals in product(in_flight, own.arrivals or common.arrivals or ("poisson",))
    )


def refuse_mixed_searches(located: Located, finds: Iterable[Find | None]) -> None:
    """Note an experiment where some operations search for their rate, and others have one."""
    if len({find is None for find in finds}) > 1:
        specs = enumerate(located.experiment.operations)
        own = next((("operations", n, s.name) for n, s in specs if s.options.load and s.options.load.find), ())
        reason = "an experiment searches for the rates of all its operations, or of none: ask the others in another."
        located.add((*own, "load", "find"), reason)


def _begin(located: Located, spec: FindSpec, duration_s: float | None, where: Steps) -> tuple[float, float]:
    """The lowest rate tried, and for how long each is offered: so that every trial has the requests that the goals need."""
    needed = max(goal.requests for goal in spec.goals)
    if spec.lowest is None:
        offered_s = duration_s or _DEFAULT_TIMED_S
        return max(_LOWEST_PER_S, _rounded_up(needed / offered_s)), offered_s
    if duration_s is None:
        return spec.lowest, max(_DEFAULT_TIMED_S, float(math.ceil(needed / spec.lowest)))
    if spec.lowest * duration_s < needed:
        strictest = max(spec.goals, key=lambda goal: goal.requests)
        located.add(
            (*where, "from"),
            f"a trial at {format_rate(spec.lowest)} has about {spec.lowest * duration_s:,.0f} requests, and"
            f" '{strictest.text}' needs {needed:,}: give a `duration` of {math.ceil(needed / spec.lowest)}s.",
        )
    return spec.lowest, duration_s


def _rounded_up(rate: float) -> float:
    scale = 10 ** (math.floor(math.log10(rate)) - 1)
    return float(math.ceil(round(rate / scale, 9)) * scale)
