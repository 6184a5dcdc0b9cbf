"""What a trial's names stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from services.python.contract.lines import Target
from services.python.contract.offers import Client, Protocol
from services.python.contract.strict import Line, Part, part
from services.python.load.client import Reply, Request
from services.python.load.loop import Loops, Work
from services.python.load.openings import Openings
from services.python.load.tls import ClientTls
from services.python.operations import Operation
from services.python.operations.base import Make
from services.python.probes.clock import resolution_ns
from services.python.probes.versions import versions
from services.python.programs.mixing import Mix

Print = Callable[[Line], None]
Ask = Callable[[Any, Request], tuple[Reply, tuple[int, int]]]


@part
class Parts(Part):
    """What a trial's names stand for, loaded."""

    target: Target | None  # None: nobody is asked
    protocol: Protocol
    client: Client
    operation: Operation
    make: Make
    verify: Callable[[Request, Reply], str | None]
    dialer: Callable[[str, Request], Any]  # of an operation and an example request
    ask: Ask
    loops: Callable[[Any, Work], Loops]
    event_loop: Any = None  # of an awaiting client
    tls: ClientTls | None = None  # None: connections are plain
    openings: Openings = field(default_factory=Openings)
    mix: Mix | None = None  # in place of the operation, where requests ask several

    def who(self) -> dict[str, Any]:
        """The fields of `Done` that name the client, and what its handshakes came to."""
        return {
            "tls": None if self.tls is None else self.tls.negotiated(),
            "client": self.client.name,
            "versions": versions(self.client.packages),
            "settings": {**self.protocol.settings, **self.client.settings},
            "clock_resolution_ns": resolution_ns(),
        }
