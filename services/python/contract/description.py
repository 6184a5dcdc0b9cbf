"""What a host says of itself: the one line of `describe`."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from services.python.contract.lines import VERSION, Count
from services.python.contract.strict import Line, Part, part


@part
class HostClock(Part):
    """The monotonic clock, whether the wall clock is synchronised (null: unknown), and both read together."""

    implementation: str
    resolution_ns: float
    synchronised: bool | None
    wall_ns: int
    monotonic_ns: int


@part
class Description(Line):
    """The facts of a host that a measurement depends on; null where this system does not give one.

    `services_sha256`: digest of the programs that run there. `cgroup`: the limits that hold for what is started there.
    `cloud`: what the cloud's own metadata service says of the instance. Only `uptime_s` and `clock` differ between two
    looks at an unchanged host.
    """

    host: str | None = None
    os: str | None = None
    kernel: str | None = None
    kernel_version: str | None = None
    architecture: str | None = None
    uptime_s: float | None = None
    python: str | None = None
    cpu: str | None = None
    cpus: Count | None = None
    usable_cpus: Count | None = None
    governor: str | None = None
    turbo_off: str | None = None
    hyperthreading: str | None = None
    isolated_cpus: str | None = None
    mitigations: dict[str, str | None] = field(default_factory=dict)
    memory_bytes: Count | None = None
    swap_bytes: Count | None = None
    cgroup: dict[str, str | None] = field(default_factory=dict)
    virtualization: str | None = None
    services_sha256: str | None = None
    clock_source: str | None = None
    clock: HostClock | None = None
    sysctl: dict[str, str | None] = field(default_factory=dict)
    machine_type: str | None = None
    zone: str | None = None
    cloud: dict[str, str | None] | None = None
    contract: Literal[2] = VERSION
    type: Literal["describe"] = "describe"
