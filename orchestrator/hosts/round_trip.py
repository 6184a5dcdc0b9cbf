"""The round trip from this machine to a host that the user names: pinged there, and nowhere else."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from orchestrator.errors import MissingError, UsageError
from orchestrator.experiment.model.address import resolve
from orchestrator.hosts.local.host import LocalHost
from orchestrator.hosts.ping import ping
from services.python.contract.ping_lines import Ping

_PINGS, _APART_S = 10, 0.1
_PATIENCE_S = 60.0


def round_trip_to(name: str) -> float:
    """The mean of ten pings, ms. UsageError for a name without an address, or where none is answered.

    MissingError where this machine cannot ping.
    """
    try:
        address = resolve(name)
    except ValueError as error:
        raise UsageError(f"--to: {error}", hint="give the round trip itself: --rtt 80ms") from error

    def note(_: dict[str, Any]) -> None:
        """Nothing is left behind: the process ends with this call."""

    with tempfile.TemporaryDirectory(prefix="orch-ping-") as folder:
        host = LocalHost(Path(folder), note=note)
        request = Ping(address=address, record=str(Path(folder) / "ping.bin"), count=_PINGS, interval_s=_APART_S)
        try:
            done = ping(host, request, patience_s=_PATIENCE_S)
        except (ValueError, TimeoutError) as error:
            raise MissingError(f"{name} cannot be pinged: {error}", hint="orch doctor") from error
    if not done.received or done.avg_ms is None:
        raise UsageError(
            f"{name} ({address}) answered none of {_PINGS} pings", hint="give the round trip itself: --rtt 80ms"
        )
    return done.avg_ms
