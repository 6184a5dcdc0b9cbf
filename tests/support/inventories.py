"""What hosts of a test get installed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from orchestrator.hosts.provision.ansible import Installed
from orchestrator.hosts.provision.wheelhouse import Bundle


def installed(hosts: Iterable[str], bundle: Bundle, programs: Bundle | None = None) -> dict[str, Installed]:
    """The same on each."""
    root, workspace = PurePosixPath("/opt/orch"), PurePosixPath("/w")
    return {name: Installed(wheels=bundle, programs=programs, root=root, workspace=workspace) for name in hosts}
