"""The index of runs as pages read it: looked after at most once in a while, so that many readers cost what one does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.clock import SYSTEM, Clock
from orchestrator.history import keep
from orchestrator.history.index import Index
from orchestrator.workspace import Workspace

FRESH_S = 1.0
"""So long folders are not looked at again: a run that was just made appears that much later."""


class Runs:
    """Opens the index; `forget` where something was changed here, so that the next reader sees it."""

    def __init__(self, workspace: Workspace, *, clock: Clock = SYSTEM) -> None:
        self._workspace = workspace
        self._clock = clock
        self._lock = threading.Lock()
        self._looked = float("-inf")

    @contextmanager
    def index(self) -> Iterator[tuple[Index, tuple[str, ...]]]:
        """The index, and what could not be kept or read, a clause each."""
        with self._lock:
            is_fresh = self._clock.monotonic_s() - self._looked < FRESH_S
            with keep.history(self._workspace, look=not is_fresh) as (index, update):
                if not is_fresh:
                    self._looked = float("-inf") if index.trouble else self._clock.monotonic_s()
                yield index, (*((index.trouble,) if index.trouble else ()), *update.troubles)

    def forget(self) -> None:
        """Look at the folders again when somebody reads next."""
        self._looked = float("-inf")
