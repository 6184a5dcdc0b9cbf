"""wrk (HTTP/1.1, kept connections): a script in Lua holds the requests and prints every latency that it counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain, repeat

from orchestrator.referee.exchange import Exchange, Figures, Turn, Unreadable, of_latencies, reader, require_succeeded

SCRIPT = "wrk.lua"
_MARK = "\norch "

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


def files(exchange: Exchange) -> dict[str, bytes]:
    """Return what lies in its folder, by name: the script."""
    bodies = ",\n".join(f'"{_lua(body)}"' for body in exchange.bodies)
    fields = "".join(f'wrk.headers["{_lua(name)}"] = "{_lua(value)}"\n' for name, value in exchange.fields.items())
    how = _ONE if len(exchange.bodies) == 1 else _IN_TURN
    text = f'wrk.method = "{_lua(exchange.method)}"\nlocal bodies = {{\n{bodies}}}\n{fields}{how}{_DONE}'
    return {SCRIPT: text.encode()}


def argv(program: str, exchange: Exchange, turn: Turn) -> list[str]:
    """Return the command: one thread, a connection for each request in flight."""
    url = f"http://{turn.host}:{turn.port}{exchange.path}"
    how = [f"-c{turn.in_flight}", f"-d{turn.window_s}s", "--timeout", f"{turn.timeout_s:g}s"]
    return [program, "-t1", *how, "-s", str(turn.folder / SCRIPT), url]


@reader
def read(text: str, in_flight: int) -> Figures:
    """Return the figures in what it printed."""
    first, *rows = text.partition(_MARK)[2].splitlines()
    summary = json.loads(first)
    requests, duration_us = summary["requests"], summary["duration_us"]
    require_succeeded({"OK": requests}, summary["errors"], "OK")
    if requests < in_flight or duration_us <= 0:
        raise Unreadable(f"{requests} requests with {in_flight} in flight are too few to be read")
    counted = {int(value): int(count) for value, count in map(str.split, rows)}
    latencies_us = as_measured(counted, duration_us // (requests // in_flight))
    if sum(latencies_us.values()) != requests or any(count < 0 for count in latencies_us.values()):
        raise Unreadable(f"{sum(latencies_us.values())} latencies of {requests} requests")
    every_ns = chain.from_iterable(repeat(value * 1e3, count) for value, count in latencies_us.items())
    return of_latencies(every_ns, duration_us / 1e6)


def as_measured(counted: Mapping[int, int], expected: int) -> dict[int, int]:
    """Return how often each latency (us) was measured, out of what wrk gives.

    To every latency of at least twice `expected` (the mean, us) wrk adds those that requests would have had which it did
    not send meanwhile: right for an open loop, which this is not. From the longest on, what it added is taken away again.

    >>> as_measured({10: 5, 15: 1, 25: 1}, 10)
    {10: 5, 25: 1}
    """
    left, longer = dict(counted), dict[int, int]()  # `longer`: how many were above, by their remainder when divided
    for value in sorted(counted, reverse=True):
        if value <= expected or expected <= 0:
            break
        left[value] -= longer.get(value % expected, 0)  # not below the shortest, where wrk adds, and does not show it
        if value >= 2 * expected:
            longer[value % expected] = longer.get(value % expected, 0) + left[value]
    return {value: count for value, count in left.items() if count}


def _lua(text: str | bytes) -> str:
    """Return the inside of a string in Lua, each byte as a number."""
    return "".join(f"\\{byte:03d}" for byte in (text.encode("latin-1") if isinstance(text, str) else text))
