"""Readings of the floor that stand beside the trials of a synthetic run."""

from __future__ import annotations

import numpy as np

from orchestrator.results.manifest import BaselineRecord
from tests.support.lines import BOOT_NS

START_NS = 1_700_000_000_000_000_000
US, MS, S = 1_000, 1_000_000, 1_000_000_000


def look(
    rng: np.random.Generator, kind: str, placement: str, block: int, moment: str, rtt_ns: float, cells: tuple[str, ...]
) -> tuple[BaselineRecord, dict[str, np.ndarray]]:
    """A reading of ping or tcp, and its samples."""
    n, extra_us = (20, 20) if kind == "ping" else (200, 60)
    latency = (rtt_ns + extra_us * US * (0.9 + rng.gamma(2.0, 0.1, size=n))).astype(np.int64)
    sent = BOOT_NS + np.arange(n) * 50 * MS
    ones = np.ones(n, dtype=np.int64)
    columns = {
        "sequence": np.arange(1, n + 1),
        "phase": ones,
        "connection": ones * 0,
        "intended_ns": sent,
        "sent_ns": sent,
        "received_ns": sent + latency,
        "service_ns": -ones,
        "bytes_sent": ones * 56,
        "bytes_received": ones * 56,
        "status": ones * 0,
    }
    record = BaselineRecord(
        kind=kind,
        placement=placement,
        block=block,
        moment=moment,
        requester="localhost",
        method="icmp-datagram" if kind == "ping" else "tcp",
        samples=f"baselines/{kind}/{placement}-{block}-{moment}.parquet",
        started_wall_ns=START_NS + block * 300 * S + (moment == "after") * 200 * S,
        cells=cells if kind == "tcp" else (),
    )
    return record, columns
