"""wrk (HTTP/1.1, kept connections): a script in Lua holds the requests and prints every latency that it counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from typing import Any

from orchestrator.referee.asked import Asked, Turn
from orchestrator.referee.readings import Figures, Unreadable, counts, document, number

SCRIPT = "wrk.lua"
_MARK = "\norch "
_ROW = re.compile(r"(\d{1,18}) (\d{1,18})")

_DONE = """\
function done(summary, latency, requests)
   local e = summary.errors
   io.write(string.format('\\norch {"duration_us": %d, "requests": %d, "errors": {"connect": %d, "read": %d, '
      .. '"write": %d, "status": %d, "timeout": %d}}\\n', summary.duration, summary.requests,
      e.connect, e.read, e.write, e.status, e.timeout))
   for place = 1, #latency do
      local value, count = latency(place)
      io.write(string.format("%d %d\\n", value, count))
   end
end
"""
_ONE = "wrk.body = bodies[1]\n"
_IN_TURN = """\
local requests, place = {}, 0
function init(args)
   for number, body in ipairs(bodies) do requests[number] = wrk.format(nil, nil, nil, body) end
end
function request()
   place = place % #requests + 1
   return requests[place]
end
"""


def files(asked: Asked) -> dict[str, bytes]:
    """What lies in its folder, by name: the script."""
    bodies = ",\n".join(f'"{_lua(body)}"' for body in asked.bodies)
    fields = "".join(f'wrk.headers["{_lua(name)}"] = "{_lua(value)}"\n' for name, value in asked.fields.items())
    how = _ONE if len(asked.bodies) == 1 else _IN_TURN
    text = f'wrk.method = "{_lua(asked.method)}"\nlocal bodies = {{\n{bodies}}}\n{fields}{how}{_DONE}'
    return {SCRIPT: text.encode()}


def argv(program: str, asked: Asked, turn: Turn) -> list[str]:
    """The command: one thread, a connection for each request in flight."""
    url = f"http://{turn.host}:{turn.port}{asked.path}"
    how = [f"-c{turn.in_flight}", f"-d{turn.window_s}s", "--timeout", f"{turn.timeout_s:g}s"]
    return [program, "-t1", *how, "-s", str(turn.folder / SCRIPT), url]


def read(text: str, in_flight: int) -> Figures:
    """Its figures out of what it printed; Unreadable says what is wrong with that."""
    _, mark, told = text.partition(_MARK)
    if not mark:
        raise Unreadable("it printed no report")
    first, *rows = told.splitlines()
    summary: Mapping[str, Any] = document(first)
    if failed := {what: count for what, count in counts(summary, "errors").items() if count}:
        raise Unreadable(f"requests failed: {failed}")
    requests, duration_us = int(number(summary, "requests")), int(number(summary, "duration_us"))
    if requests < in_flight or duration_us <= 0:
        raise Unreadable(f"{requests} requests with {in_flight} in flight are too few to be read")
    seen: dict[int, int] = {}
    for row in rows:
        if (found := _ROW.fullmatch(row)) is None:
            raise Unreadable(f"a row of its latencies is none: {row[:80]!r}")
        seen[int(found[1])] = int(found[2])
    latencies_us = as_measured(seen, duration_us // (requests // in_flight))
    if sum(latencies_us.values()) != requests or any(count < 0 for count in latencies_us.values()):
        raise Unreadable(f"{sum(latencies_us.values())} latencies of {requests} requests")
    median_ns, p99_ns = median_of(latencies_us) * 1e3, value_at(latencies_us, 0.99) * 1e3
    return Figures(requests=requests, window_s=duration_us / 1e6, median_ns=median_ns, p99_ns=p99_ns)


def as_measured(seen: Mapping[int, int], expected: int) -> dict[int, int]:
    """How often each latency (us) was measured, out of what wrk gives.

    To every latency of at least twice `expected` (the mean, us) wrk adds those that requests would have had which it did
    not send meanwhile: right for an open loop, which this is not. From the longest on, what it added is taken away again.

    >>> as_measured({10: 5, 15: 1, 25: 1}, 10)
    {10: 5, 25: 1}
    """
    left, longer = dict(seen), dict[int, int]()  # `longer`: how many were above, by what is left of them when divided
    for value in sorted(seen, reverse=True):
        if value <= expected or expected <= 0:
            break
        left[value] -= longer.get(value % expected, 0)  # not below the shortest, where wrk adds, and does not show it
        if value >= 2 * expected:
            longer[value % expected] = longer.get(value % expected, 0) + left[value]
    return {value: count for value, count in left.items() if count}


def median_of(seen: Mapping[int, int]) -> float:
    """The median of counted values, the mean of the middle two of an even number; ValueError without any."""
    total = sum(seen.values())
    return sum(_at_rank(seen, rank) for rank in ((total + 1) // 2, total // 2 + 1)) / 2


def value_at(seen: Mapping[int, int], share: float) -> int:
    """The smallest of counted values that so large a share of them does not exceed; ValueError without any."""
    return _at_rank(seen, ceil(share * sum(seen.values())))


def _at_rank(seen: Mapping[int, int], rank: int) -> int:
    """The value of that rank, from 1."""
    below = 0
    for value in sorted(seen):
        below += seen[value]
        if below >= rank > 0:
            return value
    raise ValueError("no values")


def _lua(text: str | bytes) -> str:
    """As the inside of a string in Lua, each byte as a number."""
    return "".join(f"\\{byte:03d}" for byte in (text.encode("latin-1") if isinstance(text, str) else text))
