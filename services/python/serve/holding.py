"""What operations hold while a responder answers: opened before it is ready, closed once at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from services.python.operations import OPERATIONS
from services.python.serve.responder import CannotServe


class Holding:
    """What the operations that will be asked hold. `close` may be called from any thread, also while one is opened."""

    def __init__(self, operations: Iterable[str], settings: Mapping[str, str]) -> None:
        """CannotServe for an operation that is not known, and for settings that none of them takes."""
        names = tuple(dict.fromkeys(operations))
        if unknown := [name for name in names if name not in OPERATIONS]:
            raise CannotServe(f"unknown operation {unknown[0]!r}; `orch services` lists what there is")
        parts = (part for name in names for part in OPERATIONS[name].made_of)
        self._operations = [OPERATIONS[name] for name in dict.fromkeys((*names, *parts))]
        taken = {resource for operation in self._operations for resource in operation.resources}
        if strange := [name for name in settings if name not in taken]:
            raise CannotServe(f"resources that no operation asked here takes: {', '.join(strange)}")
        self._settings = settings
        self._opened = ExitStack()
        self._lock = threading.Lock()
        self.complaint = ""  # what went wrong when it was closed

    def open(self) -> Mapping[str, Any]:
        """What is held, by the operation's name; CannotServe when something cannot be had."""
        held: dict[str, Any] = {}
        shared: dict[Any, Any] = {}
        for operation in self._operations:
            key = operation.open, operation.resources
            if key in shared:
                held[operation.name] = shared[key]
            elif operation.open is not None:
                settings = {name: self._settings[name] for name in operation.resources if name in self._settings}
                try:
                    opening = operation.open(settings)
                    held[operation.name] = shared[key] = opening.__enter__()
                except Exception as error:
                    reason = f"{type(error).__name__}: {error}"
                    raise CannotServe(f"{operation.name}: what it holds cannot be opened: {reason}") from error
                self._opened.push(opening)
        return held

    def close(self) -> None:
        """Close all that is open, once; whoever comes later waits for that. Whoever ends a responder kills it in the end."""
        with self._lock:
            try:
                self._opened.close()
            except Exception as error:  # noqa: BLE001 - whatever a library raises; the process ends all the same
                self.complaint = f"closing what the operations hold: {type(error).__name__}: {error}"
