"""What several requesters of a trial have together: one account of their progress, and one clock for what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.results.manifest import Heard
from services.python.contract.requester_lines import Progress

OnProgress = Callable[[Progress], None]


@dataclass
class Times:
    """When a requester was heard to be warm, told to measure, and heard to be done; None as long as it was not."""

    warm_ns: int | None = None
    told_ns: int | None = None
    done_ns: int | None = None

    def heard(self) -> Heard | None:
        """All three; None where it was not held."""
        if self.warm_ns is None or self.told_ns is None or self.done_ns is None:
            return None
        return Heard(warm_ns=self.warm_ns, told_ns=self.told_ns, done_ns=self.done_ns)


@dataclass
class TogetherProgress:
    """Several requesters' progress as that of one: what all have done in the first one's phase, whenever that one tells."""

    on_progress: OnProgress
    newest: list[Progress | None]

    def heard(self, number: int, line: Progress) -> None:
        """Take in a line of requester `number`."""
        self.newest[number] = line
        if number == 0:
            alike = [of.requests for of in self.newest if of is not None and of.phase == line.phase]
            self.on_progress(replace(line, requests=sum(alike)))
