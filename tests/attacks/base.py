"""What an attack is, and how its outcome is counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(kw_only=True)
class Tally:
    """How often an attack was tried, and in which words each try that got through is described."""

    tried: int = 0
    refused: int = 0
    harmless: int = 0
    broken: list[str] = field(default_factory=list)

    def note(self, outcome: str, what: str) -> None:
        """Count one try: "refused" (an error of ours named the fault), "harmless" (nothing changed), or a fault."""
        self.tried += 1
        if outcome == "refused":
            self.refused += 1
        elif outcome == "harmless":
            self.harmless += 1
        else:
            self.broken.append(f"{what}: {outcome}")


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One row of the table in docs/reliability.md.

    `run(count, seed, folder)` tries it so often, in an empty folder of its own. `few` is what a test tries.
    """

    name: str
    many: int
    few: int
    run: Callable[[int, int, Path], Tally]
    needs: str = ""  # "", "root", "lab": what a machine must have
