"""wrk (Debian: package `wrk`), asked to send one request over and over: its rate, and the latencies that it measured."""

from __future__ import annotations

import json
import math
import resource
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MISSING = (
    "wrk is not on this machine's PATH. What to do: install it (Debian and Ubuntu: `apt-get install wrk`; macOS: "
    "`brew install wrk`), or build it from https://github.com/wg/wrk"
)

_SCRIPT = """\
wrk.method = "POST"
wrk.body = "{body}"
{fields}
function done(summary, latency, requests)
   local e = summary.errors
   io.write(string.format('\\norch {{"duration_us": %d, "requests": %d, "bytes": %d, "errors": {{"connect": %d, "read": %d, '
      .. '"write": %d, "status": %d, "timeout": %d}}}}\\n', summary.duration, summary.requests, summary.bytes,
      e.connect, e.read, e.write, e.status, e.timeout))
   for place = 1, #latency do
      local value, count = latency(place)
      io.write(string.format("%d %d\\n", value, count))
   end
end
"""
_MARK = "\norch "


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The request that is sent."""

    port: int
    path: str
    fields: Mapping[str, str]
    body: bytes


def script(asked: Asked) -> str:
    """The script in Lua: the request, and what is printed when it is done."""
    fields = "\n".join(f'wrk.headers["{_lua(name)}"] = "{_lua(value)}"' for name, value in asked.fields.items())
    return _SCRIPT.format(body=_lua(asked.body), fields=fields)


def _lua(text: str | bytes) -> str:
    """As the inside of a string in Lua, each byte as a number."""
    return "".join(f"\\{byte:03d}" for byte in (text.encode() if isinstance(text, str) else text))


def run_wrk(asked: Asked, *, in_flight: int, window_s: int, folder: Path) -> dict[str, Any]:
    """One thread with a connection for each request in flight, on the CPU of this process. SystemExit when it fails.

    Latencies are those that were measured: see `as_measured`.
    """
    if (program := shutil.which("wrk")) is None:
        raise SystemExit(MISSING)
    path = folder / "request.lua"
    path.write_text(script(asked))
    argv = [program, "-t1", f"-c{in_flight}", f"-d{window_s}s", "-s", str(path)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [*argv, f"http://127.0.0.1:{asked.port}{asked.path}"], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode or _MARK not in ended.stdout:
        raise SystemExit(f"wrk ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**read_output(ended.stdout, in_flight), "cpu_s": cpu_s}


def read_output(printed: str, in_flight: int) -> dict[str, Any]:
    """What wrk and the script printed, as figures; SystemExit for a request without a right status."""
    text, _, told = printed.partition(_MARK)
    first, *rows = told.splitlines()
    summary = json.loads(first)
    requests, duration_us = summary["requests"], summary["duration_us"]
    if any(summary["errors"].values()) or requests < in_flight:
        raise SystemExit(f"wrk: {requests} requests, errors: {summary['errors']}\n{text}")
    counts = {int(value): int(count) for value, count in (row.split() for row in rows)}
    latencies_us = as_measured(counts, duration_us // (requests // in_flight))
    if sum(latencies_us.values()) != requests:
        raise SystemExit(f"wrk: {sum(latencies_us.values())} latencies of {requests} requests: another version of it?")
    return {
        "requests": requests,
        "window_s": duration_us / 1e6,
        "p50_ms": at_share(latencies_us, 0.5) / 1000,
        "p99_ms": at_share(latencies_us, 0.99) / 1000,
        "printed": text,
    }


def as_measured(counts: Mapping[int, int], expected: int) -> dict[int, int]:
    """How often each latency was measured, out of what wrk gives.

    wrk adds to every latency of at least twice the mean those that requests would have had which it did not send meanwhile
    (`stats_correct` in its stats.c): right for an open loop, which this is not. From the longest on, what it added is
    taken away again.
    """
    left = dict(counts)
    for value in sorted(counts, reverse=True):
        if value < 2 * expected:
            break
        added = value - expected
        while added > expected:
            if added in left:  # not below the shortest, where wrk adds, and does not show it
                left[added] -= left[value]
            added -= expected
    return {value: count for value, count in left.items() if count}


def at_share(counts: Mapping[int, int], share: float) -> int:
    """The smallest value that so large a share does not exceed."""
    rank, below = math.ceil(share * sum(counts.values())), 0
    for value in sorted(counts):
        below += counts[value]
        if below >= rank:
            return value
    raise ValueError("no values")


def counted(values: Iterable[int]) -> dict[int, int]:
    """Values as how often each is there."""
    counts: dict[int, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts
