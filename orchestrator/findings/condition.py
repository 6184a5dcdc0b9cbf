"""What a run was made under that changes latencies: facts of its hosts, its placements, what was built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ConditionKind = Literal[
    "Provider",
    "CPU pinning",
    "Not started by orch:",
    "Machine",
    "Placement",
    "CPU",
    "CPUs",
    "Memory",
    "CPU governor",
    "Kernel",
    "System",
    "Virtualisation",
    "Machine type",
    "Zone",
    "Python",
    "Clock source",
    "Services",  # the digest of what answered and asked
    "Databases",
    "Programs in",  # what was built of a language, and with what
    "Turns",
    "Repeats",
    "orch",
]


@dataclass(frozen=True)
class Condition:
    """A fact of a run. `subject`: the placement, language or stack that it is of; empty where it is of the run."""

    kind: ConditionKind
    value: str
    subject: str = ""

    @property
    def title(self) -> str:
        """What it is, as lists head it: `CPU`, `Placement far`."""
        return f"{self.kind} {self.subject}".rstrip()
