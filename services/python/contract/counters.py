"""Parts of lines that both ends print: a reading of both clocks, and one of the host's counters."""

from __future__ import annotations

from services.python.contract.strict import Part, part


@part
class Clocks(Part):
    """Both clocks of a host, read together; the monotonic one is that of the rows."""

    wall_ns: int
    monotonic_ns: int


@part
class TcpCounters(Part):
    """Segments that were sent, and of these those that were sent again, by everything in this network namespace."""

    segments_sent: int
    retransmits: int


@part
class HostCounters(Part):
    """What a host counts. A counter that this system does not have is null; all others only grow.

    `cpu_ticks`: of all CPUs, in `tick_hz` per second, `total` and `busy` (all but idle and iowait) beside the kernel's
    own columns. `pressure_us`: microseconds in which something waited for `cpu`, `memory`, `io`. `throttling`: of this
    process's own cgroup, `periods`, `throttled` ones and `throttled_us`. `cgroup_cpu_us`: CPU time that this cgroup, with
    all that is in it, has used. `process`: of this process, `cpu_s` among others.
    """

    monotonic_ns: int | None = None
    tick_hz: float | None = None
    cpu_ticks: dict[str, int] | None = None
    pressure_us: dict[str, int | None] | None = None
    throttling: dict[str, int] | None = None
    cgroup_cpu_us: int | None = None
    tcp: TcpCounters | None = None
    load_average: list[float] | None = None
    process: dict[str, float] | None = None
