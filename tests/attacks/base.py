"""What an attack is, and how its outcome is counted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import TimeoutExpired

AT_ONCE = 3  # runs beside each other


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


def side_by_side(count: int, attempt: Callable[[int], str]) -> Tally:
    """`attempt(number)` so often, a few at once; it says what was tried, or raises AssertionError or TimeoutExpired
    with what went wrong.

    A fault while others run beside it is one all the same: what is attacked has to hold on a busy machine.
    """
    tally = Tally()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for tried in [pool.submit(attempt, number) for number in range(count)]:
            try:
                tally.note("harmless", tried.result())
            except (AssertionError, TimeoutExpired) as error:
                tally.note(str(error), f"try {tally.tried}")
    return tally


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
    is_slow: bool = False  # also a few tries take long
