"""manifest.json, derived from plan and journal, and held byte for byte against what it is derived from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator.experiment.plan.plan import Plan
from orchestrator.results import derive, sizes
from orchestrator.results.documents import json_bytes, manifest_from_dict, manifest_to_dict
from orchestrator.results.journal import Event, Journal
from orchestrator.results.manifest import Manifest
from orchestrator.results.paths import damaged, read_bytes
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


def stored(folder: Path, journal: Journal, plan: Callable[[], Plan]) -> Stored | None:
    """manifest.json, once it is sure that plan and journal give the very same bytes; None where there is none.

    InvalidMeasurement when they do not; UsageError when it is of a newer schema version.
    """
    path = folder / NAME
    most = sizes.manifest(_size(journal.path), _size(folder / "plan.json"))
    try:
        content = read_bytes(path, most)
    except FileNotFoundError:
        return None
    try:
        raw = parse_json(content)
    except ValueError as error:
        raise damaged(path, f"not as it was written: {error}") from error
    manifest = manifest_from_dict(raw, path)
    expected = derived(journal, plan, upto=manifest.journal, state=manifest.state)
    if json_bytes(manifest_to_dict(expected)) != content:
        same = expected == manifest
        what = "the same data in other bytes" if same else "plan.json and journal.jsonl say something else"
        raise damaged(path, f"not as it was written: {what}")
    return Stored(manifest=manifest, content=content)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
