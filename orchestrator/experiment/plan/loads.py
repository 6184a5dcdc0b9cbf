"""How requests are offered: the experiment's load and an operation's own, merged and checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.model.options import LoadSpec, WarmupSpec
from orchestrator.experiment.read.tree import Key
from orchestrator.experiment.read.units import format_duration, format_rate, rate_of_tasks
from services.python.contract.limits import Kind
from services.python.contract.lines import Load, Warmup

_DEFAULT_REQUESTS = 1000
_DEFAULT_AT_MOST_S = 60.0
_DEFAULT_OPEN_S = 10.0
_DEFAULT_STREAM_S = 10.0
_NO_REQUESTS = "a stream warms up for `at_least`, and has no number of requests."

# Requests in flight of an open loop that says nothing of them: enough at its rate for replies that take half a second,
# longer than any way around the earth and a new connection take, within what threads and file descriptors allow.
_ROOM_S = 0.5
_LEAST_ROOM, _MOST_ROOM = 8, 256


def resolve_loads(located: Located, own: LoadSpec | None, path: Sequence[Key], kind: Kind = "call") -> tuple[Load, ...]:
    """Every load of an operation; `path` is where its own stands. What cannot be is noted in `located`."""
    if kind == "stream":
        return _of_stream(located, own or LoadSpec(), path)
    common = located.experiment.load
    own = own or LoadSpec()
    own_path = (*path, "load") if own.model_fields_set else ("load",)
    is_open = bool(own.rate or (common.rate and own.concurrency is None))
    rates = (own.rate or common.rate) if is_open else None
    arrivals = own.arrivals or common.arrivals
    if arrivals and not is_open:
        located.add((*own_path, "arrivals"), "`arrivals` spaces the requests of an open loop: it needs a `rate`.")
    requests, duration = _end(located, common, own, own_path, is_open=is_open)
    given = own.concurrency or (
        None if own.rate and not common.rate else common.concurrency
    )  # a closed loop's is no bound
    loads = [
        Load(
            concurrency=concurrency or (1 if rate is None else room(rate, requests)),
            requests=requests,
            duration_s=duration,
            rate_per_s=rate,
            arrivals=arrivals or "poisson",
        )
        for concurrency, rate in product(given or (None,), rates or (None,))
    ]
    for load in loads:
        _check(located, load, own_path)
    return tuple(loads)


def _of_stream(located: Located, own: LoadSpec, path: Sequence[Key]) -> tuple[Load, ...]:
    """So many clients for so long. What else the experiment says of its load is for its other operations, if it has any."""
    common = located.experiment.load
    all_are_streams = all(spec.name == "events" for spec in located.experiment.operations)
    for spec, where in ((own, (*path, "load")), *([(common, ("load",))] if all_are_streams else [])):
        for key in ("requests", "rate", "arrivals", "at_most"):
            if getattr(spec, key) is not None:
                located.add(
                    (*where, key),
                    f"a stream has no `{key}`: `concurrency` clients are sent events for `duration`, and"
                    " `events: {per_second: ...}` says how many a second.",
                )
    duration = own.duration or common.duration or _DEFAULT_STREAM_S
    clients = own.concurrency or common.concurrency or (1,)
    return tuple(Load(concurrency=number, duration_s=duration) for number in clients)


def room(rate_per_s: float, requests: int | None = None) -> int:
    """How many requests an open loop may have in flight unless the file says: by Little's law, what half a second needs.

    At least 8 and at most 256, and never more than there are requests.

    >>> room(500.0), room(5.0), room(10_000.0), room(500.0, requests=20)
    (250, 8, 256, 20)
    """
    needed = min(max(math.ceil(rate_per_s * _ROOM_S), _LEAST_ROOM), _MOST_ROOM)
    return needed if requests is None else min(needed, requests)


def _end(
    located: Located, common: LoadSpec, own: LoadSpec, path: tuple[Key, ...], *, is_open: bool
) -> tuple[int | None, float | None]:
    """When a trial ends: after so many requests, after so many seconds, or whichever comes first."""
    ends = own if own.requests is not None or own.duration is not None else common
    requests, duration, at_most = ends.requests, ends.duration, own.at_most or common.at_most
    where = path if ends is own else ("load",)
    if requests is not None and duration is not None:
        located.add(
            (*where, "duration"),
            "`requests` and `duration` both end a trial; to stop at whichever comes first, write `requests` and `at_most`.",
        )
    if duration is not None and ends.at_most is not None:
        located.add((*where, "at_most"), "`duration` is exact; `at_most` goes with `requests`. Leave one out.")
    if duration is not None:
        return None, duration
    if requests is None and is_open:
        return None, at_most or _DEFAULT_OPEN_S
    if requests is None:
        return _DEFAULT_REQUESTS, at_most or _DEFAULT_AT_MOST_S
    return requests, at_most


def _check(located: Located, load: Load, path: tuple[Key, ...]) -> None:
    if load.requests is not None and load.concurrency > load.requests:
        located.add(
            (*path, "concurrency"),
            f"{load.concurrency:,} requests in flight, but a trial has only {load.requests:,} requests.",
        )
    if load.rate_per_s is not None and load.duration_s is not None and load.rate_per_s * load.duration_s < 1:
        located.add(
            (*path, "rate"),
            f"at {format_rate(load.rate_per_s)} no request is sent in {format_duration(load.duration_s)}.",
        )


def resolve_warmup(located: Located, own: WarmupSpec | None, path: Sequence[Key], kind: Kind = "call") -> Warmup:
    """An operation's warm-up: its own values, else the experiment's, else the defaults. A stream's is a time alone."""
    default = Warmup()
    common = located.experiment.warmup
    own = own or WarmupSpec()
    if kind == "stream":
        if own.requests is not None:
            located.add((*path, "warmup", "requests"), _NO_REQUESTS)
        elif common.requests is not None and all(spec.name == "events" for spec in located.experiment.operations):
            located.add(("warmup", "requests"), _NO_REQUESTS)
        own = own.model_copy(update={"requests": 0})

    def pick(name: str) -> float | int | None:
        value: float | int | None = getattr(own, name)
        return value if value is not None else getattr(common, name)

    requests, at_least, at_most = pick("requests"), pick("at_least"), pick("at_most")
    warmup = Warmup(
        requests=default.requests if requests is None else int(requests),
        at_least_s=default.at_least_s if at_least is None else float(at_least),
        at_most_s=max(default.at_most_s, at_least or 0.0) if at_most is None else float(at_most),
    )
    if warmup.at_most_s < warmup.at_least_s:
        where = (*path, "warmup") if own.model_fields_set else ("warmup",)
        located.add(
            (*where, "at_most"),
            f"the warm-up ends after {format_duration(warmup.at_most_s)}, before it has lasted"
            f" {format_duration(warmup.at_least_s)}.",
        )
    return warmup


def describe_load(load: Load, kind: Kind = "call", calls: int = 1) -> str:
    """A load in words: `1,000 requests, 1 in flight`, `10 s, 500/s poisson, at most 250 in flight`.

    With `calls` above 1 it is one of tasks: `1,000 tasks`, `60 tasks/s (180 calls/s)`. Of a stream: `10 s, 5 clients`.
    """
    if kind == "stream":
        return f"{format_duration(load.duration_s or 0.0)}, {clients(load.concurrency)}"
    how = f"{load.concurrency:,} in flight"
    if load.rate_per_s is not None:
        rate = format_rate(load.rate_per_s) if calls == 1 else rate_of_tasks(load.rate_per_s, calls)
        how = f"{rate} {load.arrivals}, at most {how}"
    ends = [f"{load.requests:,} {'tasks' if calls > 1 else 'requests'}"] if load.requests is not None else []
    if load.duration_s is not None:
        ends.append(f"{'at most ' if ends else ''}{format_duration(load.duration_s)}")
    return ", ".join([*ends, how])


def clients(number: int) -> str:
    """`1 client`, `5 clients`: how many a stream has."""
    return f"{number:,} client{'' if number == 1 else 's'}"
