"""What one trial asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.experiment.model.factors import DATABASE, POSTGRESQL, SQLITE, STORE
from orchestrator.experiment.plan.plan import External
from orchestrator.hosts.base import Host
from orchestrator.measure.certificates import Certificates
from services.python.contract.limits import Kind, Policy
from services.python.contract.lines import Authority, Load, Mixed, Payload, Schema, Warmup
from services.python.contract.responder_lines import Tls

_FILE = "store.sqlite3"


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is asked, of whom, how; everything of a trial but its hosts."""

    protocol: str
    responder: str
    client: str
    operation: str
    payload: Payload = field(default_factory=Payload)
    connection: Policy = "reuse"
    load: Load = field(default_factory=Load)
    warmup: Warmup = field(default_factory=Warmup)
    timeout_s: float = 30.0
    seed: int = 0
    calls: int = 1
    knobs: dict[str, str] = field(default_factory=dict)
    schemas: Mapping[str, Schema] | None = None  # of its typed document, by the host that it lies on
    kind: Kind = "call"
    external: External | None = None  # who answers; a responder is started where it is None
    certificates: Certificates | None = None  # of a trial over TLS
    mix: tuple[Mixed, ...] = ()  # the operations of a mix; `operation` and `payload` are those of its first
    processes: int = 1  # requester processes on each requester's host, which share the load
    requesters: int = 1  # hosts that share it; of more hosts than these each has the whole
    store: dict[str, str] = field(default_factory=dict)  # what its responder is told of the store; empty: in memory
    postgresql: str = ""  # the DSN of the server of this session, where cells need one

    def resources_on(self, host: Host, database: str = "") -> dict[str, str] | None:
        """What that host's responder is told of what it holds; a file of SQLite lies in the workspace of the run there.

        `database`: the DSN of the server that stands with it, instead of the session's.
        """
        places = {SQLITE: str(host.workspace / _FILE), POSTGRESQL: database or self.postgresql}
        place = places.get(self.store.get(STORE, ""))
        return ({**self.store, DATABASE: place} if place else self.store) or None

    def schema_on(self, host: Host) -> Schema | None:
        """What that host's end is told of the document's message; None where no document travels typed."""
        return None if self.schemas is None else self.schemas[host.name]

    def tls_on(self, host: Host) -> Tls | None:
        """What that host's responder proves itself with; None where connections are plain."""
        return None if self.certificates is None else self.certificates.serving[host.name]

    def authority_on(self, host: Host) -> Authority | None:
        """By whom that host's requester verifies the responder; None where connections are plain."""
        return None if self.certificates is None else self.certificates.trusted[host.name]
