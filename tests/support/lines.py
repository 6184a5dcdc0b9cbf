"""Lines as plain data, which a test may change, and as the types of the contract again."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from services.python.contract.strict import decode

T = TypeVar("T")

BOOT_NS = 5_000_000_000_000  # the monotonic clock at the start of the run


def as_line(kind: type[T], line: dict[str, Any]) -> T:
    """The line as a program prints it: numpy's numbers are those of JSON."""
    return decode(kind, json.loads(json.dumps(line, default=lambda value: value.item())))


def host_counters(
    elapsed_ns: int,
    *,
    steal: int = 0,
    throttled: int = 0,
    pressure_us: int = 0,
    busy: int = 0,
    retransmits: int = 0,
    cgroup_s: float | None = None,
) -> dict:
    """One reading of the host's counters; nothing else ran meanwhile."""
    ticks = elapsed_ns // 10_000_000 * 2
    return {
        "monotonic_ns": BOOT_NS + elapsed_ns,
        "tick_hz": 100,
        "cpu_ticks": {"total": ticks, "busy": busy, "steal": steal, "idle": ticks - busy, "iowait": 0},
        "pressure_us": {"cpu": pressure_us, "memory": 0, "io": 0},
        "throttling": {
            "periods": elapsed_ns // 100_000_000,
            "throttled": throttled,
            "throttled_us": throttled * 50_000,
        },
        "cgroup_cpu_us": None if cgroup_s is None else int(cgroup_s * 1e6),
        "tcp": {"segments_sent": elapsed_ns // 10_000, "retransmits": retransmits},
        "load_average": [0.5, 0.5, 0.5],
        "process": {"cpu_s": 0.0},
    }


def stats_lines(
    asked: int, warmed: int, peers: int, checked: int = 2, *, took_s: float, warmed_s: float, block: int
) -> dict[str, dict[str, Any]]:
    """A responder's three answers to `stats`, by their names in a trial's record: it uses 0.4 s of CPU time a second."""
    line = {"type": "stats", "memory_since": "phase"}
    return {
        "stats_before": {"type": "stats", "answered": 0, "peers": 0, "cpu_s": 0.2, "host": host_counters(0)},
        "stats_warm": line
        | {"answered": warmed + checked, "peers": checked, "cpu_s": 0.2 + 0.4 * warmed_s, "memory_bytes": 50_000_000}
        | {"host": host_counters(int(warmed_s * 1e9), cgroup_s=0.0)},
        "stats": line
        | {
            "answered": asked + checked,
            "peers": peers,
            "cpu_s": 0.2 + 0.4 * took_s,
            "memory_bytes": 48_000_000 + 1_000 * block,
        }
        | {"host": host_counters(10_000_000_000, cgroup_s=100.0)},
    }
