"""One /24 of 198.18.0.0/15 (RFC 2544: set aside for benchmarks) per deployment.

Addresses exist inside the namespaces only, so two deployments with the same /24 would still not meet; different ones
keep a person who reads two runs side by side from being misled.
"""

from __future__ import annotations

import zlib

from orchlab import layout
from orchlab.errors import LabError

_NETWORKS = 512


def prefix(index: int) -> str:
    """The first three octets of one of the 512 networks.

    >>> prefix(0), prefix(511)
    ('198.18.0', '198.19.255')
    """
    return f"198.{18 + index // 256}.{index % 256}"


def choose(run_id: str, taken: set[str]) -> str:
    """The prefix for a run: the one its id falls on, or the next that is free. LabError when none is."""
    start = zlib.crc32(run_id.encode()) % _NETWORKS
    for step in range(_NETWORKS):
        candidate = prefix((start + step) % _NETWORKS)
        if candidate not in taken:
            return candidate
    raise LabError("all 512 networks of the lab are taken", hint="end what is not needed: provider.py list, then sweep")


def claim(run_id: str) -> str:
    """Take a network that no other deployment on this machine has; the same again when asked again."""
    with layout.locked_root():
        records = {run: layout.read_record(layout.run_dir(run) / "network.json") for run in layout.runs_on_record()}
        own = records.pop(run_id, None)
        taken = {record["prefix"] for record in records.values() if record}
        chosen: str = own["prefix"] if own else choose(run_id, taken)
        layout.write_record(layout.run_dir(run_id) / "network.json", {"prefix": chosen})
    return chosen


def release(run_id: str) -> None:
    """Give the network back. Idempotent."""
    (layout.run_dir(run_id) / "network.json").unlink(missing_ok=True)
    layout.remove_empty(run_id)
