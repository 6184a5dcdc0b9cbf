"""manifest.json, derived from plan and journal, and held byte for byte against what it is derived from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.errors import InvalidMeasurement
from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive, sizes
from orchestrator.results.documents import json_bytes, manifest_from_dict, manifest_to_dict
from orchestrator.results.journal import Event, Journal
from orchestrator.results.manifest import Manifest
from orchestrator.results.paths import damaged, digest, inside, read_bytes
from orchestrator.results.plans import require_of_plan, require_turns_of_plan
from orchestrator.strict_json import parse_json

NAME = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """manifest.json as it lies in the folder: what it says, and its bytes."""

    manifest: Manifest
    content: bytes


def derived(
    journal: Journal, plan: Callable[[], Plan], *, upto: str | None = None, state: derive.State | None = None
) -> Manifest:
    """The manifest that plan and journal give, the journal read to its end or to a chain value of it.

    `state` counts only of a run that was cut before it could say how it ended. InvalidMeasurement names what is damaged.
    """
    events: list[Event] = []
    for event in journal.chain():
        events.append(event)
        if event.chain == upto:
            break
    try:
        journal_state = derive.read(event.content for event in events)
    except ValueError as error:
        raise damaged(journal.path, f"cannot be read: {error}") from error
    if not journal_state.begin:
        raise damaged(journal.path, "damaged: it does not say how the run began")
    planned = plan()
    try:
        require_of_plan(planned, journal_state.every_trial, journal_state.every_baseline)
        require_turns_of_plan(planned, journal_state.referee, journal_state.every_turn)
    except ValueError as error:
        raise damaged(journal.path, f"does not belong to plan.json: {error}") from error
    if journal_state.state != "running" or state == "complete":
        state = None
    return derive.manifest(journal_state, planned.to_dict(), state=state, journal=events[-1].chain)


class Holder:
    """manifest.json of a folder, held against plan and journal; once, while none of them changes by a byte."""

    def __init__(self, folder: Path, journal: Journal, plan: Callable[[], Plan]) -> None:
        self._folder, self._journal, self._plan = folder, journal, plan
        self._found: tuple[tuple[str, ...], Stored] | None = None

    def stored(self) -> Stored | None:
        """As `stored`."""
        digests = self._digests()
        if self._found is not None and self._found[0] == digests:
            return self._found[1]
        found = stored(self._folder, self._journal, self._plan)
        self._found = (digests, found) if digests and found is not None else None
        return found

    def _digests(self) -> tuple[str, ...]:
        """The SHA-256 of every file that `stored` reads; () where one cannot be read, which `stored` will say."""
        try:
            begin = next(self._journal.events(), {})
            most = dict.fromkeys(begin.get("files", {}), sizes.EXPERIMENT)
            most |= {NAME: sizes.MANIFEST, self._journal.path.name: sizes.JOURNAL, "plan.json": sizes.PLAN}
            return tuple(digest(inside(self._folder, name), limit) for name, limit in most.items())
        except (InvalidMeasurement, OSError, AttributeError, TypeError):
            return ()


def stored(folder: Path, journal: Journal, plan: Callable[[], Plan]) -> Stored | None:
    """manifest.json, once it is sure that plan and journal give the very same bytes; None where there is none.

    InvalidMeasurement when they do not; UsageError when it is of a newer schema version.
    """
    path = folder / NAME
    content = content_of(folder)
    if content is None:
        return None
    manifest = manifest_from_dict(document_in(content, path), path)
    expected = derived(journal, plan, upto=manifest.journal, state=manifest.state)
    if json_bytes(manifest_to_dict(expected)) != content:
        same = expected == manifest
        what = "the same data in other bytes" if same else "plan.json and journal.jsonl say something else"
        raise damaged(path, f"not as it was written: {what}")
    return Stored(manifest=manifest, content=content)


def content_of(folder: Path) -> bytes | None:
    """The bytes of manifest.json, no more than plan and journal can give; None where there is none."""
    most = sizes.manifest(_size(folder / "journal.jsonl"), _size(folder / "plan.json"))
    try:
        return read_bytes(folder / NAME, most)
    except FileNotFoundError:
        return None


def document_in(content: bytes, path: Path) -> Any:
    """These bytes as JSON, of whatever version; InvalidMeasurement where they are none."""
    try:
        return parse_json(content)
    except ValueError as error:
        raise damaged(path, f"not as it was written: {error}") from error


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
