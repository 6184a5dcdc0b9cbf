"""The folders that orch keeps what it makes in: one `Workspace`, passed from the command line to everything below it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Workspace:
    """The folder that a user works in, the current one unless another is named, and what orch keeps below it.

    The command line makes it (`orchestrator.cli.here`). Nothing is created or read here.

    >>> str(Workspace(Path("elsewhere")).plans)
    'elsewhere/.orch/plans'
    >>> str(Workspace().results)
    'results'
    """

    root: Path = Path()

    @property
    def results(self) -> Path:
        """One folder for each run."""
        return self.root / "results"

    @property
    def reports(self) -> Path:
        """One HTML file for each run; those of runs from elsewhere lie in a folder of their own below it."""
        return self.root / "reports"

    @property
    def exports(self) -> Path:
        """What `orch export` writes, unless a place is named."""
        return self.root / "exports"

    @property
    def state(self) -> Path:
        """What orch remembers between two calls."""
        return self.root / ".orch"

    @property
    def plans(self) -> Path:
        """Plans by id, and which of them is current."""
        return self.state / "plans"

    @property
    def deployments(self) -> Path:
        """A folder for each deployment: its intent, state, keys and logs."""
        return self.state / "deployments"

    @property
    def gates(self) -> Path:
        """What gates found that were to be recorded, a line of JSON each (`orchestrator.gate.forecast`)."""
        return self.state / "gates.jsonl"

    @property
    def notes(self) -> Path:
        """What people noted on runs: a text for each run, a note a line."""
        return self.state / "notes"

    @property
    def private(self) -> Path:
        """A folder for each run with keys of its own, for as long as it needs them (`orchestrator.hosts.certificates`)."""
        return self.state / "private"

    @property
    def history(self) -> Path:
        """The index of all runs, which can be made again from their folders (`orchestrator.history.index`)."""
        return self.state / "history.sqlite3"


def private_beside(results: Path) -> Path:
    """The keys of the runs in a folder of runs, which lie beside it."""
    return Workspace(results.parent).private
