"""What a run was made under that changes latencies: facts of its hosts, its placements, what was built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_OfTheRun = Literal["Provider", "CPU pinning", "Machine", "Databases", "Turns", "Repeats", "orch"]
_OfAMachine = Literal["CPU", "CPUs", "Memory", "CPU governor", "Virtualisation", "Machine type", "Zone", "Clock source"]
_OfItsPrograms = Literal["Kernel", "System", "Python", "Services"]  # the last: a digest of what answered and asked
_OfASubject = Literal["Placement", "Programs in", "Not started by orch:"]
ConditionKind = Literal[_OfTheRun, _OfAMachine, _OfItsPrograms, _OfASubject]


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
