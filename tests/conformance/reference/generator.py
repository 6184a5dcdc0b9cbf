"""Payloads and arrivals, written from the prose of `protos/payloads.md`, whose table of limits is read from the page."""

from __future__ import annotations

import itertools
import json
import re
import struct
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256, shake_128
from pathlib import Path
from typing import Any

from tests.conformance.reference.contract import PROTOS

WORDS = [
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "granite",
    "harbour",
    "indigo",
    "juniper",
    "kelp",
    "lagoon",
]

Asked = tuple[str, dict[str, Any]]
"""A message's name, as its path in `protos/http.md` has it, and its fields."""


def stream(label: str, size: int) -> bytes:
    return shake_128(f"orch payload v1/{label}".encode("ascii")).digest(size)


def words(label: str, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}I", stream(label, 4 * count))


def below(word: int, n: int) -> int:
    return word * n >> 32


def pair(seed: int, sequence: int) -> dict[str, int]:
    drawn = words(f"add/{seed}", 2048)
    a, b = (drawn[2 * (sequence % 1024) + which] // 2 - 2**30 for which in (0, 1))
    return {"a": a, "b": b}


def records(seed: int, count: int) -> list[dict[str, Any]]:
    drawn = words(f"records/{seed}", 9 * count)
    made = []
    for i in range(1, count + 1):
        w = drawn[9 * (i - 1) : 9 * i]
        shuffled = list(WORDS)
        for j in range(4):
            other = j + below(w[5 + j], 12 - j)
            shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
        made.append(
            {
                "id": i,
                "name": f"{WORDS[below(w[0], 12)]} {WORDS[below(w[1], 12)]}",
                "value": (2 * below(w[2], 10_000_000) - 9_999_999) / 10_000,
                "active": below(w[3], 2) == 1,
                "tags": shuffled[: below(w[4], 5)],
            }
        )
    return made


def stamp() -> str:
    seconds, rest = divmod(time.time_ns(), 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1000:06d}+00:00"


@cache
def limits() -> list[list[int]]:
    page = (PROTOS / "payloads.md").read_text(encoding="utf-8").split("| row | limits |")[1]
    return [list(map(int, row.split())) for row in re.findall(r"^\| [0-3] \| ([0-9 ]+) \|$", page, re.MULTILINE)]


def gaps(seed: int, label: str = "arrivals") -> Iterator[int]:
    for part in itertools.count():
        drawn = words(f"{label}/{seed}/{part}", 5 * 1024)
        for g in range(1024):
            *digits, rest = drawn[5 * g : 5 * g + 5]
            x = 0
            for row, word in zip(limits(), digits, strict=True):
                x = x * 16 + bisect_right(row, word)
            yield x * 2**32 + rest


def arrivals(
    seed: int, rate_per_s: float, kind: str, requests: int | None = None, duration_s: float | None = None
) -> list[int]:
    """When the requests of an open loop are due, nanoseconds from the beginning of the phase."""
    mean = int(10**9 * 2**20 / rate_per_s)
    end_ns = None if duration_s is None else int(duration_s * 10**9)
    spaces: Iterator[int] = itertools.repeat(mean) if kind == "uniform" else (mean * x >> 43 for x in gaps(seed))
    due: list[int] = []
    for at in itertools.accumulate(spaces, initial=0):
        at_ns = at >> 20
        if (requests is not None and len(due) >= requests) or (end_ns is not None and at_ns >= end_ns):
            break
        due.append(at_ns)
    return due


@cache
def think_times(seed: int, think_s: float) -> list[int]:
    mean = int(think_s * 10**9)
    return [mean * x >> 43 for x in itertools.islice(gaps(seed, "think"), 65_536)]


def first_rest(seed: int, load: dict[str, Any], worker: int) -> int:
    """How long a worker, from 0, rests before its first request, nanoseconds."""
    if load["thinking"] == "exponential":
        return think_times(seed, load["think_s"])[worker % 65_536]
    return int(load["think_s"] * 10**9) * worker // load["concurrency"]


def rest(seed: int, load: dict[str, Any], place: int) -> int:
    """How long it rests after the measured request of that place, from 0."""
    if load["thinking"] == "exponential":
        return think_times(seed, load["think_s"])[(load["concurrency"] + place) % 65_536]
    return int(load["think_s"] * 10**9)


class NoSuchTrial(Exception):
    """The trial asks for what there is not."""


def mix_order(weights: list[int], seed: int) -> list[int]:
    """The place of each request's operation in its mix, from 0; NoSuchTrial for what is no mix."""
    if len(weights) < 2:
        raise NoSuchTrial("a mix has two operations or more")
    drawn = [below(word, sum(weights)) for word in words(f"mix/{seed}", 65_536)]
    return [sum(x >= sum(weights[: place + 1]) for place in range(len(weights))) for x in drawn]


def requests(operation: str, payload: dict[str, Any], seed: int) -> Callable[[int], Asked]:
    """What the request of a sequence number carries; NoSuchTrial where operation and payload do not fit."""
    kind = payload["kind"]
    if (operation, kind) in (("add", "none"), ("timestamp", "none")):
        return lambda sequence: (
            ("add", pair(seed, sequence)) if operation == "add" else ("timestamp", {"request_timestamp": stamp()})
        )
    if (operation, kind) == ("exchange", "exchange"):

        def exchange(sequence: int) -> Asked:
            times = payload["opening"] if sequence == 2 else 1
            return "exchange", {
                "data": stream(f"bytes/{seed}", payload["size"] * times),
                "reply_size": payload["reply_size"] * times,
            }

        return exchange
    asked: Asked
    if (operation, kind) == ("echo", "bytes"):
        asked = "echo/data", {"data": stream(f"bytes/{seed}", payload["size"])}
    elif (operation, kind) == ("transfer", "transfer"):
        asked = "transfer", {"data": stream("request", payload["size"]), "reply_size": payload["reply_size"]}
    elif (operation, kind) == ("echo", "records"):
        asked = "echo/records", {"records": records(seed, payload["count"])}
    elif (operation, kind) == ("echo", "json"):
        asked = "echo/document", {"document": json.loads(_file(payload))}
    elif (operation, kind) == ("image", "image"):
        asked = "image", {"data": _file(payload), "full_decode": payload["full_decode"]}
    else:
        raise NoSuchTrial(f"{operation} does not carry a payload of kind {kind}")
    return lambda _sequence: asked


def _file(payload: dict[str, Any]) -> bytes:
    try:
        content = Path(payload["path"] or "").read_bytes()
    except OSError as error:
        raise NoSuchTrial(f"cannot read {payload['path']}: {error}") from error
    if sha256(content).hexdigest() != payload["sha256"]:
        raise NoSuchTrial(f"{payload['path']} is not the file whose SHA-256 is {payload['sha256']}")
    return content
