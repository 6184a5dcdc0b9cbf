"""The index of runs as pages read it: looked after at most once in a while, so that many readers cost what one does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from orchestrator.clock import SYSTEM, Clock
from orchestrator.history import keep
from orchestrator.history.index import Index
from orchestrator.workspace import Workspace

T = TypeVar("T")
FRESH_S = 1.0
"""So long folders are not looked at again: a run that was just made appears that much later."""
_MOST_KEPT = 100
_NEVER = float("-inf")


class Runs:
    """Reads the index; `forget` where something was changed here, so that the next reader sees it."""

    def __init__(self, workspace: Workspace, *, clock: Clock = SYSTEM) -> None:
        self._workspace = workspace
        self._clock = clock
        self._lock = threading.Lock()
        self._looked = _NEVER
        self._troubles: tuple[str, ...] = ()
        self._kept: dict[Hashable, Any] = {}

    def read(self, key: Hashable, make: Callable[[Index, tuple[str, ...]], T]) -> T:
        """What `make` finds in the index; it is told what could not be kept or read, a clause each.

        What was found under an equal `key` is given again until folders are looked at anew; None as a key keeps nothing.
        """
        with self._lock:
            is_fresh = self._clock.monotonic_s() - self._looked < FRESH_S
            if is_fresh and key in self._kept:
                kept: T = self._kept[key]
                return kept
            with keep.history(self._workspace, look=not is_fresh) as (index, update):
                if not is_fresh:
                    self._kept.clear()
                    self._troubles = (*((index.trouble,) if index.trouble else ()), *update.troubles)
                    self._looked = _NEVER if index.trouble else self._clock.monotonic_s()
                found = make(index, self._troubles)
            if key is not None and len(self._kept) < _MOST_KEPT:
                self._kept[key] = found
            return found

    def forget(self) -> None:
        """Look at the folders again when somebody reads next."""
        self._looked = _NEVER
